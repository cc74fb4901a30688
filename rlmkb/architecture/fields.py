"""A Hugging Face `config.json` read field by field, so that no field goes unnoticed.

`Fields` hands out checked values and remembers what was asked for. What nobody asked for must be on the list
of fields that change no count; anything else is refused by name.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rlmkb.errors import InputError

LARGEST = 10**9
_REQUIRED = object()

# Neither weights nor products depend on these.
HARMLESS = frozenset(
    """
    _attn_implementation _attn_implementation_autoset _attn_implementation_internal _commit_hash
    _flash_attn_2_enabled _name_or_path _sliding_window_pattern activation activation_function alibi
    apply_residual_connection_post_layernorm architectures attention_multiplier attention_softmax_in_fp32
    attn_implementation attn_logit_softcapping attn_pdrop attn_scale attn_temperature_tuning auto_map
    aux_loss_alpha aux_loss_coef bad_words_ids begin_suppress_tokens bias_dropout_fusion bos_token
    cache_implementation chunk_size chunk_size_feed_forward clip_qkv custom_pipelines diversity_penalty do_sample
    dropout dtype early_stopping embd_pdrop embedding_multiplier encoder_no_repeat_ngram_size eos_token ep_size
    expand experts_implementation exponential_decay_length_penalty final_logit_softcapping finetuning_task
    floor_scale full_attn_mod gradient_checkpointing hidden_act hidden_activation id2label indexer_rope_interleave
    init_device init_std initial_context_length initializer_range interpolate_factor is_decoder label2id layerdrop
    length_penalty logit_scale logits_scaling mamba_hidden_act mamba_ssm_cache_dtype mamba_ssm_dtype
    masked_softmax_fusion max_length max_position_embeddings max_sequence_length max_window_layers min_length
    mlp_hidden_act model_max_length moe_router_dtype moe_shared_expert_overlap n_ctx n_group no_repeat_ngram_size
    no_rope_layer_interval no_rope_layers norm_topk_prob num_beam_groups num_beams num_labels num_logits_to_keep
    num_return_sequences offset_alibi order_of_interleaved_layers original_max_position_embeddings
    original_rope_theta output_attentions output_hidden_states output_router_logits output_scores
    partial_rotary_factor position_embedding_type prefix pretraining_tp problem_type quantization quantization_config
    query_pre_attn_scalar remove_invalid_values reorder_and_upcast_attn repetition_penalty
    rescale_prenorm_residual resid_pdrop residual_in_fp32 residual_multiplier return_dict return_dict_in_generate
    rope_interleave rope_local_base_freq rope_parameters rope_pct rope_ratio rope_scaling rope_theta rope_type
    rotary rotary_dim rotary_emb_base rotary_pct routed_scaling_factor router_aux_loss_coef router_jitter_noise
    input_jitter_noise router_z_loss_coef scale_attention_softmax_in_fp32 scale_attn_by_inverse_layer_idx
    scale_attn_weights scoring_func seq_aux seq_length skip_bias_add skip_bias_add_qkv sliding_window
    sliding_window_pattern sliding_window_size slow_but_exact summary_activation summary_proj_to_labels
    summary_type summary_use_proj suppress_tokens swiglu_alpha swiglu_limit task_specific_params temperature
    tf_legacy_loss time_step_floor time_step_limit time_step_max time_step_min time_step_rank tokenizer_class
    top_k top_p topk_group topk_method torch_dtype torchscript transformers_version typical_p unsloth_fixed
    unsloth_version use_bfloat16 use_cache use_mamba_kernels use_parallel_embedding use_parallel_residual
    use_sliding_window
    """.split()  # noqa: SIM905 (as a list, 200 lines)
)
_HARMLESS_ENDS = ("_token_id", "_token_ids", "_token_index", "_dropout", "_dropout_prob", "_eps", "_epsilon")

# Fields that change no count as long as they have this value, which switches their feature off.
_OFF = {
    "add_cross_attention": False,
    "is_encoder_decoder": False,
    "lm_head_bias": False,
    "pruned_heads": {},
    "tie_encoder_decoder": False,
    "use_bidirectional_attention": False,
    "use_mrope": False,
}
_MEND = {
    "text_config": "save the text_config as a config.json of its own to count the decoder alone",
    "vision_config": "save the text_config as a config.json of its own to count the decoder alone",
}


class Fields:
    """The fields of one configuration.

    Parameters
    ----------
    values : mapping
        What the file holds; `null` counts as absent.
    where : str
        Name of the file, for error messages.
    names : mapping, optional
        For each usual name, the names under which this family of models stores it.

    Examples
    --------
    >>> fields = Fields({"n_embd": 768, "colour": "red"}, "config.json", {"hidden_size": ("n_embd",)})
    >>> fields.size("hidden_size")
    768
    >>> fields.refuse_the_rest()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    rlmkb.errors.InputError: config.json: colour is not understood and could change the counts; ...
    """

    def __init__(self, values: Mapping[str, Any], where: str, names: Mapping[str, tuple[str, ...]] | None = None):
        self._values = {name: value for name, value in values.items() if value is not None}
        self._where = where
        self._names = names or {}
        self._read: set[str] = set()

    def stored(self, name: str) -> str:
        """The name under which the file stores a field."""
        options = self._names.get(name, (name,))
        present = [option for option in options if option in self._values]
        self._read.update(present)
        for other in present[1:]:
            if self._values[other] != self._values[present[0]]:
                raise self.error(other, f"the same as {present[0]} ({show(self._values[present[0]])})")
        return present[0] if present else options[0]

    def raw(self, name: str, default: Any = None) -> Any:
        """A value as it is."""
        return self._values.get(self.stored(name), default)

    def size(self, name: str, default: Any = _REQUIRED, *, least: int = 1, most: int = LARGEST) -> Any:
        """A whole number between `least` and `most`."""
        value = self.raw(name, default)
        if value is _REQUIRED:
            raise InputError(f"{self._where}: {self.stored(name)} is missing; it must be a whole number")
        if value is default:
            return value
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self.error(name, f"a whole number from {least} to {most:,}".replace(",", " "))
        return value

    def flag(self, name: str, default: bool) -> bool:
        """A truth value."""
        value = self.raw(name, default)
        if not isinstance(value, bool):
            raise self.error(name, "true or false")
        return value

    def items(self, name: str, length: int, allowed: Mapping[Any, Any], default: Any) -> list:
        """A list with one of the allowed values for each of `length` layers, translated."""
        value = self.raw(name)
        if value is None:
            return [default] * length
        if not isinstance(value, list) or len(value) != length:
            raise self.error(name, f"a list with one value for each of {length} layers")
        for item in value:
            if not isinstance(item, str | int) or item not in allowed:
                raise InputError(
                    f"{self._where}: {self.stored(name)} has {show(item)}, which is not understood; "
                    f"allowed: {', '.join(map(str, allowed))}"
                )
        return [allowed[item] for item in value]

    def only(self, name: str, *allowed: Any) -> None:
        """Accept a field, but only with one of these values (or absent)."""
        value = self.raw(name, allowed[0])
        if not any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in allowed):
            raise self.error(name, " or ".join(map(show, allowed)))

    def error(self, name: str, allowed: str) -> InputError:
        """The one line that says what is wrong with a field."""
        stored = self.stored(name)
        return InputError(f"{self._where}: {stored} is {show(self._values.get(stored))}; allowed: {allowed}")

    def refuse_the_rest(self) -> None:
        """Refuse every field that nobody read and that is not known to change no count."""
        for name, off in _OFF.items():
            if name in self._values and name not in self._read:
                self.only(name, off)
        unread = [
            name
            for name in self._values
            if name not in self._read and name not in HARMLESS and not name.endswith(_HARMLESS_ENDS)
        ]
        if unread:
            names = ", ".join(unread[:5]) + (" ..." if len(unread) > 5 else "")
            hint = next((_MEND[name] for name in unread if name in _MEND), "remove it if it changes nothing")
            raise InputError(f"{self._where}: {names} is not understood and could change the counts; {hint}")


def read_json(path: Path) -> dict[str, Any]:
    """The object that a JSON file holds.

    Raises
    ------
    InputError
        If the file cannot be read, is not JSON, or holds something other than an object.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_no_duplicates)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: not JSON: {error.msg.lower()}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {(error.strerror or 'error').lower()}") from None
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        reason = str(error) if type(error) is ValueError else "not text in UTF-8, or nested too deep"
        raise InputError(f"{path}: not a usable JSON file: {reason}") from None
    if not isinstance(values, dict):
        raise InputError(f"{path}: holds {show(values)}; allowed: a JSON object, the config.json of a model")
    return values


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)} appears twice")
    return found


def show(value: Any) -> str:
    """A value as JSON, cut to a readable length."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
