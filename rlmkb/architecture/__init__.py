"""Shapes of real transformers: parameters, active parameters, KV cache and forward FLOPs.

>>> import rlmkb.architecture
>>> rlmkb.architecture("qwen2.5-7b").params.total
7615616512
"""

import sys
from types import ModuleType

from rlmkb.architecture.canonical import canonical, canonical_notes
from rlmkb.architecture.config import from_config
from rlmkb.architecture.decoder import (
    Decoder,
    active_parameters,
    cache_elements,
    checkpoint_values,
    forward_flops,
    parameters,
    rotary_angle_flops,
    router_buffers,
    state_elements,
)
from rlmkb.architecture.description import CONVENTIONS, Description, describe, load
from rlmkb.architecture.entries import from_entry
from rlmkb.architecture.layers import (
    Attention,
    Experts,
    FeedForward,
    GatedDeltaNet,
    Indexer,
    LatentAttention,
    Layer,
    Mamba2,
)

__all__ = [
    "CONVENTIONS",
    "Attention",
    "Decoder",
    "Description",
    "Experts",
    "FeedForward",
    "GatedDeltaNet",
    "Indexer",
    "LatentAttention",
    "Layer",
    "Mamba2",
    "active_parameters",
    "cache_elements",
    "canonical",
    "canonical_notes",
    "checkpoint_values",
    "describe",
    "forward_flops",
    "from_config",
    "from_entry",
    "load",
    "parameters",
    "rotary_angle_flops",
    "router_buffers",
    "state_elements",
]


class _CallablePackage(ModuleType):
    """Every command exists as `rlmkb.<command>(...)`; this one shares its name with the package."""

    def __call__(self, reference, length=2048):
        return describe(reference, length)


sys.modules[__name__].__class__ = _CallablePackage
