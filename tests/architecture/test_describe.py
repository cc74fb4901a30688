"""The report of one architecture, and its mapping to the canonical model."""

import json
import subprocess
import sys

import pytest

import rlmkb.architecture
from rlmkb.architecture import CONVENTIONS, canonical, canonical_notes, describe, from_config, load
from rlmkb.catalogue import entries
from rlmkb.errors import InputError

CONFIG = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
}


def test_the_report_has_the_promised_form():
    report = describe("llama-3.1-8b", length=4096).as_dict()
    assert json.loads(json.dumps(report)) == report
    assert report == {
        "id": "llama-3.1-8b",
        "params": {
            "total": 8030261248,
            "active": 8030261248,
            "input_embedding": 525336576,
            "lm_head": 525336576,
            "checkpoint_total": 8030261248,
        },
        "kv_bytes_per_token": 131072,
        "forward_flops_per_token": {"length": 4096, "causal_half": 16083058816, "full_square": 17156800640},
        "conventions": list(CONVENTIONS),
    }


def test_router_biases_and_prediction_layers_are_in_the_checkpoint_only():
    report = describe("deepseek-v3")
    assert report.params.total == 671_026_404_352
    assert report.params.checkpoint_total == 684_531_386_000
    assert report.kv_bytes_per_token == 61 * (512 + 64) * 2
    assert "multi-token-prediction" in report.conventions[-1]


def test_an_id_and_its_configuration_agree(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG), encoding="utf-8")
    by_id, by_path, by_fields = describe("llama-3.1-8b"), describe(path), describe(CONFIG)
    assert by_path.id == str(path)
    for found in (by_path, by_fields):
        assert found.as_dict() | {"id": by_id.id} == by_id.as_dict()


def test_the_package_can_be_called():
    assert rlmkb.architecture("llama-3.1-8b", length=128) == describe("llama-3.1-8b", 128)
    assert rlmkb.architecture.describe is describe


def test_an_unknown_id_gets_the_nearest_ones():
    with pytest.raises(
        InputError, match=r"'llama-3.1-8' is not in data/architectures; .*: llama-3.1-8b, .*config\.json"
    ):
        describe("llama-3.1-8")
    with pytest.raises(InputError, match="architecture is 3; allowed"):
        describe(3)
    with pytest.raises(InputError, match=r"none\.json: cannot be read"):
        describe("none.json")


@pytest.mark.parametrize("length", [0, -1, 1.0, True, "8", None, 10**13])
def test_a_length_is_a_positive_whole_number(length):
    with pytest.raises(InputError, match=r"length is .*; allowed: a whole number"):
        describe("llama-3.1-8b", length)


@pytest.mark.parametrize(
    ("id", "d_ff"),
    [
        ("llama-3.1-8b", 14336),
        ("qwen3-30b-a3b", 8 * 768),
        ("deepseek-v3", 8 * 2048 + 2048),
        ("deepseek-v2-lite", 6 * 1408 + 2 * 1408),
        ("llama-4-maverick-17b-128e", 8192 + 8192),
    ],
)
def test_canonical_width_is_the_published_one(id, d_ff):
    entry = entries("architectures")[id]
    expected = {"L": entry.layers, "d": entry.d_model, "d_ff": d_ff, "h": entry.attention.heads, "V": entry.vocab_size}
    assert canonical(load(id)) == expected


def test_gpt_3_is_canonical():
    assert canonical_notes(load("gpt-3-175b")) == ()
    assert "dense layers 10944 wide, counted with the experts' width" in canonical_notes(load("deepseek-v2-lite"))


@pytest.mark.parametrize(
    ("id", "reason"),
    [
        ("nemotron-nano-9b-v2", "layer 1 has a Mamba-2 block"),
        ("qwen3-next-80b-a3b-instruct", "layer 1 has gated DeltaNet"),
        ("llama-3.3-nemotron-super-49b-v1", "has no attention"),
    ],
)
def test_what_cannot_be_mapped_is_refused_with_the_reason(id, reason):
    with pytest.raises(InputError, match=reason):
        canonical(load(id))


def test_widths_that_vary_are_refused():
    blocks = [{"attention": {"n_heads_in_group": 4}, "ffn": {"ffn_mult": size}} for size in (1.0, 2.0)]
    config = {
        "model_type": "nemotron-nas",
        "hidden_size": 768,
        "num_hidden_layers": 2,
        "num_attention_heads": 8,
        "vocab_size": 10,
        "block_configs": blocks,
    }
    with pytest.raises(InputError, match=r"the feed-forward width varies by layer \(512, 1024 ...\)"):
        canonical(from_config(config))


def test_importing_the_package_reads_no_catalogue():
    code = (
        "import sys, rlmkb.architecture; sys.exit(any(name in sys.modules for name in ('pydantic', 'yaml', 'numpy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
