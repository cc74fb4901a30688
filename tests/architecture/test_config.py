"""What a `config.json` may not be: each wrong file gets one line that names file and field."""

import json

import pytest

from rlmkb.architecture import active_parameters, from_config, parameters
from rlmkb.errors import InputError

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "intermediate_size": 96,
    "vocab_size": 100,
    "rope_theta": 10000.0,
    "torch_dtype": "bfloat16",
    "bos_token_id": 1,
    "attention_dropout": 0.0,
}
MIXTRAL = LLAMA | {"model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 2}
DEEPSEEK = {
    **{name: value for name, value in LLAMA.items() if name != "num_key_value_heads"},
    **{"model_type": "deepseek_v3", "kv_lora_rank": 16, "q_lora_rank": None, "qk_nope_head_dim": 8},
    **{"qk_rope_head_dim": 4, "v_head_dim": 8, "n_routed_experts": 8, "num_experts_per_tok": 2},
    **{"n_shared_experts": 1, "moe_intermediate_size": 24, "first_k_dense_replace": 1},
}


def message(config, tmp_path, text=None):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config) if text is None else text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        from_config(path)
    found = str(caught.value)
    assert found.startswith(str(path))
    assert "\n" not in found
    return found.removeprefix(str(path))


@pytest.mark.parametrize(
    "field", ["hidden_size", "num_attention_heads", "num_key_value_heads", "intermediate_size", "vocab_size"]
)
@pytest.mark.parametrize("value", [0, -1, 1.5, 64.0, float("nan"), float("inf"), "64", True, [64], 10**12, 10**400])
def test_a_size_is_a_positive_whole_number(field, value, tmp_path):
    found = message(LLAMA | {field: value}, tmp_path)
    assert f"{field} is " in found
    assert "allowed: " in found
    assert len(found) < 200


@pytest.mark.parametrize("field", ["model_type", "hidden_size", "num_hidden_layers", "vocab_size", "intermediate_size"])
@pytest.mark.parametrize("how", ["absent", "null"])
def test_a_missing_field_is_named(field, how, tmp_path):
    config = LLAMA | {field: None}
    if how == "absent":
        del config[field]
    assert f": {field} is missing" in message(config, tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ":1: not JSON"),
        ("{\n'a': 1}", ":2: not JSON"),
        ("[]", "holds []; allowed: a JSON object"),
        ("3", "holds 3"),
        ("null", "holds null"),
        ('{"hidden_size": 1, "hidden_size": 2}', "hidden_size appears twice"),
        ("[" * 10**5, "nested too deep"),
    ],
)
def test_a_file_that_is_no_configuration(text, words, tmp_path):
    assert words in message(None, tmp_path, text)


def test_a_file_that_cannot_be_read(tmp_path):
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(InputError, match="cannot be read"):
            from_config(path)
    (tmp_path / "latin.json").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(InputError, match="UTF-8"):
        from_config(tmp_path / "latin.json")


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (
            LLAMA | {"num_attention_heads": 7, "num_key_value_heads": 7},
            "num_attention_heads is 7; allowed: a divisor of hidden_size (64)",
        ),
        (LLAMA | {"num_key_value_heads": 3}, "num_key_value_heads is 3; allowed: a divisor of num_attention_heads (8)"),
        (LLAMA | {"head_dim": 0}, "head_dim is 0"),
        (LLAMA | {"tie_word_embeddings": "no"}, 'tie_word_embeddings is "no"; allowed: true or false'),
        (LLAMA | {"attention_bias": 1}, "attention_bias is 1; allowed: true or false"),
        (LLAMA | {"model_type": "lama"}, '"lama", which is not understood; known: llama, '),
        (LLAMA | {"model_type": 3}, "model_type is 3, which is not understood"),
        (
            LLAMA | {"architectures": ["LlamaForSequenceClassification"]},
            'is ["LlamaForSequenceClassification"]; allowed',
        ),
        (LLAMA | {"num_hidden_layers": 10**6}, "num_hidden_layers is 1000000; allowed: a whole number from 1 to 10"),
        (MIXTRAL | {"num_experts_per_tok": 5}, "num_experts_per_tok is 5; allowed: at most num_experts (4)"),
        (MIXTRAL | {"num_experts": 8}, "num_local_experts is 4; allowed: the same as num_experts (8)"),
        (DEEPSEEK | {"moe_layer_freq": 2}, "moe_layer_freq is 2"),
        (DEEPSEEK | {"q_lora_rank": -1}, "q_lora_rank is -1"),
        (LLAMA | {"model_type": "mistral", "attention_bias": True}, "attention_bias is true; allowed: false"),
        (LLAMA | {"model_type": "qwen2", "attention_bias": False}, "attention_bias is false; allowed: true"),
    ],
)
def test_values_that_do_not_fit(config, words, tmp_path):
    assert words in message(config, tmp_path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("vision_config", {"hidden_size": 8}),
        ("text_config", {"hidden_size": 8}),
        ("layer_types", ["full_attention", "linear_attention"]),
        ("layer_types", ["full_attention"]),
        ("num_local_experts", 8),
        ("kv_lora_rank", 512),
        ("mamba_d_state", 16),
        ("ssm_state_size", 128),
        ("cross_attention_layers", [1]),
        ("add_cross_attention", True),
        ("is_encoder_decoder", True),
        ("adapter_config", {"r": 8}),
        ("block_configs", []),
        ("altup_num_inputs", 4),
        ("per_layer_config", {}),
        ("num_attention_heads_per_layer", [4, 8]),
        ("lm_head_bias", True),
        ("use_qk_norm", True),
        ("shared_intermediate_size", 32),
        ("colour", "red"),
    ],
)
def test_a_field_that_is_not_understood_is_refused_by_name(field, value, tmp_path):
    assert field in message(LLAMA | {field: value}, tmp_path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("quantization_config", {"bits": 4}),
        ("rope_scaling", {"factor": 8.0}),
        ("layer_types", ["sliding_attention", "full_attention"]),
        ("sliding_window", 128),
        ("vision_config", None),
        ("add_cross_attention", False),
        ("num_nextn_predict_layers", 1),
        ("time_step_limit", [0.0, float("inf")]),
    ],
)
def test_fields_that_change_no_count(field, value):
    assert parameters(from_config(LLAMA | {field: value})) == parameters(from_config(LLAMA))


def test_what_is_named_but_not_counted_is_remarked():
    assert from_config(LLAMA).remarks == ()
    remarks = from_config(LLAMA | {"num_nextn_predict_layers": 2, "quantization_config": {"bits": 4}}).remarks
    assert remarks[0].startswith("num_nextn_predict_layers: 2")
    assert remarks[1].startswith("quantization")


def test_a_wrapped_decoder_is_named_and_counted_alone(tmp_path):
    found = message({"model_type": "llava", "text_config": LLAMA, "vision_config": {}}, tmp_path)
    assert "save its text_config as a config.json of its own" in found


def test_explicit_fields_win():
    plain = sum(parameters(from_config(LLAMA)).values())
    assert sum(parameters(from_config(LLAMA | {"tie_word_embeddings": True})).values()) == plain - 100 * 64
    # two layers of q (64), k, v (32 each) and output (64) biases
    assert sum(parameters(from_config(LLAMA | {"attention_bias": True})).values()) == plain + 2 * (64 + 32 + 32 + 64)
    assert from_config(LLAMA | {"head_dim": 10}).layers[0].mixer.head_dim == 10


def test_falcon_reads_its_key_heads_in_the_newer_layout_only():
    """Saved files of the older layout carry the field, but the code does not obey it."""
    falcon = {"model_type": "falcon", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 8}
    falcon |= {"vocab_size": 100, "num_kv_heads": 8}
    assert from_config(falcon).layers[0].mixer.kv_heads == 1
    assert from_config(falcon | {"multi_query": False}).layers[0].mixer.kv_heads == 8
    newer = falcon | {"new_decoder_architecture": True, "num_kv_heads": 4}
    assert from_config(newer).layers[0].mixer.kv_heads == 4


def test_only_routed_experts_are_idle():
    decoder = from_config(DEEPSEEK)
    whole, active = parameters(decoder), active_parameters(decoder)
    assert {name for name in whole if whole[name] != active[name]} == {"experts"}
    assert active["experts"] * 4 == whole["experts"] == 8 * 3 * 64 * 24  # one of the two layers has experts
