"""The counts of one architecture, as the command line and the book report them."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rlmkb.architecture.config import from_config
from rlmkb.architecture.decoder import (
    Decoder,
    active_parameters,
    cache_elements,
    checkpoint_values,
    forward_flops,
    parameters,
    rotary_angle_flops,
)
from rlmkb.architecture.entries import from_entry
from rlmkb.errors import InputError

CACHE_BYTES = 2  # an element in bf16

CONVENTIONS = (
    "params.total: trainable weights, tied tables once (then lm_head is 0); router-bias buffers left out",
    "params.active: all but idle routed experts, both tables included",
    "params.checkpoint_total: total, router-bias buffers and what else the entry names in the checkpoint",
    "kv_bytes_per_token: bf16, every layer keeps every token (windows shorten nothing); recurrent states left out",
    "forward FLOPs: multiply-add is 2; logits of every token; router counted; look-up, norms, softmax, biases free",
    "full_square: whole length x length products, no saving by windows or sparse selection; "
    "causal_half: half of these products",
    "latent attention as in training and prefill: keys and values rebuilt for every token",
    "rotary angles: in dense models, one product of position and frequency per token",
    "recurrent layers token by token: 4 (Mamba-2) or 6 (gated DeltaNet) FLOPs per state element",
)


@dataclass(frozen=True, slots=True)
class ParameterCounts:
    """Weights by use; see `CONVENTIONS`."""

    total: int
    active: int
    input_embedding: int
    lm_head: int
    checkpoint_total: int


@dataclass(frozen=True, slots=True)
class ForwardFlops:
    """Forward FLOPs per token, averaged over a sequence of `length` tokens."""

    length: int
    causal_half: int
    full_square: int


@dataclass(frozen=True, slots=True)
class Description:
    """Parameters, cache and forward FLOPs of one architecture."""

    id: str
    params: ParameterCounts
    kv_bytes_per_token: int
    forward_flops_per_token: ForwardFlops
    conventions: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain dictionaries, lists and numbers, as in JSON."""
        return asdict(self) | {"conventions": list(self.conventions)}


def load(reference: str | os.PathLike | Mapping[str, Any]) -> Decoder:
    """The decoder behind an id of the catalogue, or behind a Hugging Face `config.json`.

    Parameters
    ----------
    reference : str, path or mapping
        An id such as ``llama-3.1-8b``, a path to a `config.json`, or what such a file holds.

    Raises
    ------
    InputError
        For an unknown id (with the nearest ones), or for what is wrong in the file.

    Examples
    --------
    >>> load("llama-3.1-8b").d_model
    4096
    """
    if isinstance(reference, Mapping) or _is_path(reference):
        return from_config(reference)
    from rlmkb.catalogue import entry

    try:
        return from_entry(entry("architectures", reference))
    except InputError as error:
        if str(error).startswith(repr(reference)):
            raise InputError(f"{error}; or a path to a config.json") from None
        raise


def _is_path(reference: str | os.PathLike) -> bool:
    if isinstance(reference, os.PathLike):
        return True
    if not isinstance(reference, str):
        raise InputError(f"architecture is {reference!r}; allowed: an id of the catalogue, or a path to a config.json")
    return reference.endswith(".json") or "/" in reference or os.sep in reference or os.path.isfile(reference)


def describe(reference: str | os.PathLike | Mapping[str, Any], length: int = 2048) -> Description:
    """Parameters, KV-cache bytes and forward FLOPs of an architecture.

    Parameters
    ----------
    reference : str, path or mapping
        As for `load`.
    length : int
        Tokens in the sequence over which the FLOPs per token are averaged.

    Examples
    --------
    Llama 3 8B keeps 32 layers x 8 key heads x 128 numbers, twice (keys, values), 2 bytes each:

    >>> found = describe("llama-3-8b")
    >>> found.kv_bytes_per_token
    131072
    >>> found.params.total, found.forward_flops_per_token.causal_half
    (8030261248, 15546187904)
    """
    decoder = load(reference)
    weights = parameters(decoder)
    angles = rotary_angle_flops(decoder)
    half, full = (angles + sum(forward_flops(decoder, length, causal=causal).values()) for causal in (True, False))
    return Description(
        id="config" if isinstance(reference, Mapping) else os.fspath(reference),
        params=ParameterCounts(
            total=sum(weights.values()),
            active=sum(active_parameters(decoder).values()),
            input_embedding=weights["input_embedding"],
            lm_head=weights.get("lm_head", 0),
            checkpoint_total=checkpoint_values(decoder),
        ),
        kv_bytes_per_token=CACHE_BYTES * cache_elements(decoder),
        forward_flops_per_token=ForwardFlops(int(length), half, full),
        conventions=CONVENTIONS + decoder.remarks,
    )
