"""A decoder from the fields of a Hugging Face `config.json`."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rlmkb.architecture.decoder import Decoder
from rlmkb.architecture.families import FAMILIES, Family
from rlmkb.architecture.fields import Fields, read_json, show
from rlmkb.architecture.layers import Attention, Layer
from rlmkb.architecture.parts import rule
from rlmkb.errors import InputError, nearest

_NAMES = {"num_experts": ("num_experts", "num_local_experts", "n_routed_experts")}
_PREDICTION = ("num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers")
_CAUSAL = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")


def from_config(source: Mapping[str, Any] | str | os.PathLike) -> Decoder:
    """The decoder that a Hugging Face `config.json` describes, by its fields.

    Parameters
    ----------
    source : mapping or path
        The configuration, or the file that holds it.

    Returns
    -------
    Decoder

    Raises
    ------
    InputError
        One line that names file and field: not JSON, a field missing or out of range, a `model_type` whose
        conventions are not known, or a field that is not understood and could change the counts.

    Examples
    --------
    >>> from rlmkb.architecture.decoder import parameters
    >>> decoder = from_config({"model_type": "gpt2", "n_embd": 4, "n_layer": 1, "n_head": 1, "n_inner": 16,
    ...                        "vocab_size": 10, "n_positions": 2})
    >>> parameters(decoder)  # attention 4 x 16 + 4 x 4 biases, FFN 2 x 64 + 16 + 4, three LayerNorms of 2 x 4
    {'input_embedding': 40, 'learned_positions': 8, 'attention': 80, 'feed_forward': 148, 'norms': 24}
    """
    if isinstance(source, Mapping):
        values, where = source, "config"
    else:
        values, where = read_json(Path(source)), os.fspath(source)
    family = _family(values, where)
    fields = Fields(values, where, {**_NAMES, **family.names})
    decoder = _decoder(fields, family)
    fields.refuse_the_rest()
    return decoder


def _family(values: Mapping[str, Any], where: str) -> Family:
    kind = values.get("model_type")
    if isinstance(kind, str) and kind in FAMILIES:
        return FAMILIES[kind]
    if kind is None:
        raise InputError(f"{where}: model_type is missing; is this the config.json of a model?")
    wrapped = (
        " (a wrapped decoder; save its text_config as a config.json of its own)" if "text_config" in values else ""
    )
    known = nearest(kind if isinstance(kind, str) else "", FAMILIES)
    raise InputError(f"{where}: model_type is {show(kind)}, which is not understood{wrapped}; known: {known}")


def _decoder(fields: Fields, family: Family) -> Decoder:
    fields.raw("model_type")
    _refuse_other_heads(fields)
    d, vocab_size = fields.size("hidden_size"), fields.size("vocab_size")
    for name, allowed in family.off.items():
        fields.only(name, *allowed)
    for name in family.unused:
        fields.raw(name)
    layers = family.layers(fields, family, d)
    model_norms = family.model_norms(fields) if callable(family.model_norms) else family.model_norms
    return Decoder(
        d_model=d,
        vocab_size=vocab_size,
        tied_embeddings=fields.flag("tie_word_embeddings", family.tied),
        layers=layers,
        norm_vectors=family.norm_vectors,
        model_norms=model_norms,
        learned_positions=_positions(fields, family),
        rotary_dim=_rotary_dim(fields, family, layers),
        head_bias=rule(fields, family.head_bias),
        remarks=tuple(_remarks(fields)),
    )


def _positions(fields: Fields, family: Family) -> int:
    return 0 if family.positions is None else fields.size("max_position_embeddings") + family.positions


def _rotary_dim(fields: Fields, family: Family, layers: tuple[Layer, ...]) -> int:
    heads = {layer.mixer.head_dim for layer in layers if isinstance(layer.mixer, Attention)}
    if family.rotary is None or not heads or fields.raw("alibi"):
        return 0
    rope = fields.raw("rope_parameters")
    inner = rope.get("partial_rotary_factor") if isinstance(rope, Mapping) else None
    part = fields.raw("partial_rotary_factor", fields.raw("rotary_pct", inner))
    if part is None:
        part = family.rotary
    if isinstance(part, bool) or not isinstance(part, int | float) or not 0 <= part <= 1:
        name = "rope_parameters" if inner is not None else "partial_rotary_factor"
        raise fields.error(name, "partial_rotary_factor as a number from 0 to 1")
    return int(part * heads.pop())


def _refuse_other_heads(fields: Fields) -> None:
    """A reward model or classifier has another head, and an encoder none; neither is counted here."""
    names = fields.raw("architectures", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise fields.error("architectures", "a list of class names")
    if names and not any(name.endswith(_CAUSAL) for name in names):
        raise fields.error("architectures", "a causal language model (" + ", ".join(_CAUSAL) + ")")


def _remarks(fields: Fields) -> list[str]:
    counts = {name: fields.size(name, 0, least=0) for name in _PREDICTION}
    remarks = [f"{name}: {count} prediction layer(s), not counted" for name, count in counts.items() if count]
    if fields.raw("quantization_config") or fields.raw("quantization"):
        remarks.append("quantization: weights counted as numbers, their scales not")
    return remarks
