"""The canonical training step as it stands, cut up by the compiler: we say how arrays lie on devices, XLA the rest.

No exchange is written here. What XLA puts into the program is its own answer to the same partition, and a witness
that has not read our formulas.
"""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec

from rlmkb.errors import InputError
from rlmkb.theory.transforms import Zero
from rlmkb.verification import transformer
from rlmkb.verification.layouts import Layout, Model
from rlmkb.verification.sharded import mesh, specifications

CUTS = ("data", "context", "tensor")


def training_step(model: Model, layout: Layout, along_hidden: bool = False) -> tuple[Callable, tuple]:
    """`transformer.training_step` jitted with the layout's placement of weights, tokens and gradients.

    Parameters
    ----------
    model : Model
        Dense.
    layout : Layout
        Of data (with or without ZeRO-3), context and tensor parallelism; what else it asks for, annotations of arrays
        cannot say.
    along_hidden : bool
        Where ZeRO-3 cuts the weights: their rows (the first axis), or the axis that is as wide as the hidden state. A
        device holds the same number of elements; what XLA makes of it is not the same.

    Returns
    -------
    tuple
        The step, from parameters, tokens and targets to loss and gradients, and the shapes of its arguments.
    """
    layout.check(model)
    zero = layout.zero is Zero.PARAMETERS and layout.used == ("data",)
    plain = (zero or not layout.zero) and not layout.sequence
    if model.experts or not plain or any(axis not in CUTS for axis in layout.used):
        raise InputError(f"{layout.name}: annotations alone express data (ZeRO-3 too), context and tensor parallelism")
    on, shapes = mesh(layout), transformer.parameter_shapes(model.shape)
    weights = _without_stages(layout, shapes)
    if zero and not along_hidden:
        weights = jax.tree.map(lambda _: PartitionSpec("data"), shapes)
    tokens = PartitionSpec(*(axis if layout.cuts(axis) else None for axis in ("data", "context")))

    def placed(cuts):
        return jax.tree.map(partial(NamedSharding, on), cuts, is_leaf=lambda node: isinstance(node, PartitionSpec))

    step = jax.jit(
        partial(transformer.training_step, model.shape),
        in_shardings=placed((weights, tokens, {"logits": tokens})),
        out_shardings=placed((PartitionSpec(), weights)),
    )
    integers = jax.ShapeDtypeStruct((model.B, model.m), jnp.int32)
    return step, (shapes, integers, {"logits": integers})


def _without_stages(layout: Layout, shapes: dict) -> dict:
    """The cuts of `sharded`, whose blocks have a leading axis for the stages of a pipeline."""
    staged = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((1, *leaf.shape), leaf.dtype), shapes["blocks"])
    cuts = specifications(layout, {**shapes, "blocks": staged}, layout.zero is Zero.PARAMETERS)
    blocks = [{name: PartitionSpec(*cut[1:]) for name, cut in block.items()} for block in cuts["blocks"]]
    return {**cuts, "blocks": blocks}
