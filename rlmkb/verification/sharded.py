"""The canonical Transformer's training step as one program for many devices, every exchange written out.

All of it runs inside `jax.shard_map`: each device runs the same function on its own piece of every array. What
differentiation makes of the exchanges is part of what is checked: the transpose of a sum over ranks is a copy to
ranks, and of an all-gather a reduce-scatter (Megatron's f and g).

Parameters are those of `rlmkb.verification.transformer`, the blocks regrouped: one entry per layer of a pipeline
stage, with a leading axis for the stages.
"""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from rlmkb.theory.traffic import ContextMethod
from rlmkb.theory.transforms import Zero
from rlmkb.verification import transformer
from rlmkb.verification.context import attend, ring, ulysses
from rlmkb.verification.layouts import AXES, Layout, Model
from rlmkb.verification.mixture import mixture

#: Which axis of a weight is as wide as the layer's inner width, and which as wide as the hidden state.
INNER = {"query": -1, "key": -1, "value": -1, "up": -1, "output": -2, "down": -2}
HIDDEN = {
    "query": -2, "key": -2, "value": -2, "up": -2, "router": -2, "output": -1, "down": -1,
    "attention_norm": -1, "ffn_norm": -1, "embedding": -1, "final_norm": -1,
}  # fmt: skip
#: What a backward pass fetches or computes again XLA would find in the forward pass, and keep: barriers forbid it,
#: unless XLA for the CPU removes them early.
KEEP_BARRIERS = {"xla_disable_hlo_passes": "cse_barrier_expander"}


def parameters(model: Model, layout: Layout, seed: int = 0) -> dict:
    """Random parameters, the same for every layout up to the grouping of the blocks."""
    plain, shape, routed = transformer.initialise(model.shape, seed), model.shape, model.experts
    if routed:
        sizes = {"router": (shape.d, routed.E), "up": (routed.E, shape.d, routed.d_e),
                 "down": (routed.E, routed.d_e, shape.d)}  # fmt: skip
        for number, block in enumerate(plain["blocks"]):
            keys = jax.random.split(jax.random.key(seed + 1 + number), len(sizes))
            block |= {name: jax.random.normal(key, size) * size[-2] ** -0.5
                      for key, (name, size) in zip(keys, sizes.items(), strict=True)}  # fmt: skip
    return grouped(plain, layout.pipeline)


def grouped(plain: dict, stages: int) -> dict:
    """The parameters with layer i of every pipeline stage stacked into entry i."""
    blocks = plain["blocks"]
    per_stage = len(blocks) // stages
    stacked = [jax.tree.map(lambda *leaves: jnp.stack(leaves), *blocks[i::per_stage]) for i in range(per_stage)]
    return {**plain, "blocks": stacked}


def specifications(layout: Layout, tree: dict, by_data: bool) -> dict:
    """For every weight which mesh axis cuts which of its axes; `by_data` as ZeRO does, along the hidden width."""

    def one(path, leaf) -> PartitionSpec:
        name, cut = path[-1].key, [None] * leaf.ndim
        if path[0].key == "blocks":
            cut[0] = "pipeline"
        if name in INNER:
            cut[INNER[name]] = "tensor"
        if name == "embedding":
            cut[0] = "tensor"
        if _of_expert(path, leaf):
            cut[1] = "expert"
        if by_data:
            cut[HIDDEN[name]] = "data"
        return _only_used(layout, *cut)

    return jax.tree_util.tree_map_with_path(one, tree)


def _of_expert(path, leaf) -> bool:
    return path[-1].key in ("up", "down") and leaf.ndim == 4  # stage, expert, input, output


def _only_used(layout: Layout, *cut) -> PartitionSpec:
    groups = (axes if isinstance(axes, tuple) else (axes,) for axes in cut)
    return PartitionSpec(*(tuple(axis for axis in axes if axis in layout.used) or None for axes in groups))


def mesh(layout: Layout) -> Mesh:
    """The first devices of the process, by the layout's axes."""
    devices = np.array(jax.devices()[: layout.devices])
    return Mesh(devices.reshape([layout.degree(axis) for axis in AXES]), AXES)


def training_step(model: Model, layout: Layout) -> tuple[Callable, tuple]:
    """The jitted step, from parameters, tokens and targets to loss and gradients, with the shapes of its arguments.

    Gradients come summed over all tokens, except with ZeRO-1 (each data rank its own: the sum is the update's) and
    ZeRO-2 and 3 (each data rank a piece of the sum).
    """
    layout.check(model)
    on, shapes = mesh(layout), jax.eval_shape(partial(parameters, model, layout))
    weights = specifications(layout, shapes, layout.zero is Zero.PARAMETERS)
    gradients = specifications(layout, shapes, layout.zero >= Zero.GRADIENTS)
    if layout.zero is Zero.OPTIMIZER:
        gradients = jax.tree.map(lambda cut: PartitionSpec("data", *cut), gradients, is_leaf=_is_specification)
    rows = ("data",) if layout.isolated else ("data", "expert")
    tokens = _only_used(layout, rows, "context")
    step = jax.shard_map(
        partial(_step, model, layout), mesh=on,
        in_specs=(weights, tokens, tokens), out_specs=(PartitionSpec(), gradients),
    )  # fmt: skip
    placed = jax.tree.map(partial(NamedSharding, on), (weights, tokens, tokens), is_leaf=_is_specification)
    integers = jax.ShapeDtypeStruct((model.B, model.m), jnp.int32)
    return jax.jit(step, in_shardings=placed, compiler_options=KEEP_BARRIERS), (shapes, integers, integers)


def _is_specification(node) -> bool:
    return isinstance(node, PartitionSpec)


def _step(model: Model, layout: Layout, weights: dict, tokens: jax.Array, targets: jax.Array):
    """One device: its own part of loss and gradient, then the sums over devices."""
    apart = jax.tree_util.tree_map_with_path(partial(_set_apart, layout), weights)
    mean = lambda weights: _loss(model, layout, weights, tokens, targets) / (model.B * model.m)  # noqa: E731
    loss, gradients = jax.value_and_grad(mean)(apart)
    over = tuple(axis for axis in layout.used if axis in (*layout.token_axes, "pipeline"))
    loss = lax.psum(loss, over) if over else loss
    return loss, jax.tree_util.tree_map_with_path(partial(_summed, layout), gradients)


def _set_apart(layout: Layout, path, weight: jax.Array) -> jax.Array:
    """Let every rank have a gradient of its own, so that the sum over ranks is one exchange that we write."""
    axes = _sharers(layout, path, weight)
    if layout.zero is Zero.PARAMETERS:
        axes.discard("data")  # a shard: the gather's transpose adds up
    if layout.cuts("pipeline") and path[0].key != "blocks":
        axes.add("pipeline")
    return _copied(weight, *axes)


def _summed(layout: Layout, path, gradient: jax.Array) -> jax.Array:
    axes = _sharers(layout, path, gradient)
    if layout.zero:
        axes.discard("data")
    total = lax.psum(gradient, tuple(sorted(axes))) if axes else gradient
    if layout.cuts("pipeline") and path[0].key != "blocks":
        total = lax.psum(total, "pipeline")  # the embedding of the first stage is the head of the last
    if layout.zero is Zero.OPTIMIZER:
        return total[None]
    if layout.zero is Zero.GRADIENTS:
        return lax.psum_scatter(total, "data", scatter_dimension=total.ndim + HIDDEN[path[-1].key], tiled=True)
    return total


def _sharers(layout: Layout, path, leaf) -> set[str]:
    """Axes whose ranks have the same weight and other tokens."""
    return {axis for axis in layout.token_axes if not (axis == "expert" and _of_expert(path, leaf))}


def _copied(array: jax.Array, *axes: str) -> jax.Array:
    """The array as a copy per rank; no exchange forward, a sum over ranks backward."""
    return lax.pcast(array, axes, to="varying") if axes else array


def _enter(layout: Layout, x: jax.Array) -> jax.Array:
    """Megatron's f: into a part that tensor parallelism splits."""
    if not layout.cuts("tensor"):
        return x
    if layout.sequence:
        return lax.all_gather(x, "tensor", axis=1, tiled=True)
    return _copied(x, "tensor")


def _leave(layout: Layout, x: jax.Array) -> jax.Array:
    """Megatron's g: out of such a part, partial results added up."""
    if not layout.cuts("tensor"):
        return x
    if layout.sequence:
        return lax.psum_scatter(x, "tensor", scatter_dimension=1, tiled=True)
    return lax.psum(x, "tensor")


def _fetch(layout: Layout, weights: dict) -> dict:
    """ZeRO-3: the whole of a layer's weights, for as long as it runs."""
    if layout.zero is not Zero.PARAMETERS:
        return weights
    return {name: lax.all_gather(weight, "data", axis=weight.ndim + HIDDEN[name], tiled=True)
            for name, weight in weights.items()}  # fmt: skip


def _keep(primitive, *_, **__) -> bool:
    """What the backward pass finds again: all but what was gathered, weights (ZeRO-3) and inputs (sequence)."""
    return primitive.name != "all_gather"


def _attention(model: Model, layout: Layout, weights: dict, x: jax.Array) -> jax.Array:
    heads = (*x.shape[:2], -1, model.shape.head_width)
    query, key, value = ((x @ weights[name]).reshape(heads) for name in ("query", "key", "value"))
    if not layout.cuts("context"):
        mixed = attend(query, key, value)
    else:
        mixed = (ulysses if layout.method is ContextMethod.ULYSSES else ring)(query, key, value)
    return mixed.reshape(*x.shape[:2], -1) @ weights["output"]


def _block(model: Model, layout: Layout, weights: dict, x: jax.Array) -> jax.Array:
    weights = _fetch(layout, {name: weight[0] for name, weight in weights.items()})  # this stage's
    inside = _enter(layout, transformer.norm(weights["attention_norm"], x))
    x = x + _leave(layout, _attention(model, layout, weights, inside))
    inside = _enter(layout, transformer.norm(weights["ffn_norm"], x))
    if model.experts:
        return x + _leave(layout, mixture(model.experts, layout, weights, inside))
    return x + _leave(layout, transformer.feed_forward(weights, inside))


def _stage(model: Model, layout: Layout, blocks: list[dict], x: jax.Array) -> jax.Array:
    run = partial(_block, model, layout)
    if layout.zero is Zero.PARAMETERS or layout.sequence:
        run = jax.checkpoint(run, policy=_keep)
    for weights in blocks:
        x = run(weights, x)
    return x


def _pipelined(layout: Layout, run: Callable, x: jax.Array) -> jax.Array:
    """Micro-batches through the stages, one tick after the other; right on the last stage, elsewhere of no meaning.

    All devices run one program, so a stage without a micro-batch computes too: the bubble is work, and counted.
    """
    stages, at = layout.pipeline, lax.axis_index("pipeline")
    micro = x.reshape(layout.micro_batches, -1, *x.shape[1:])
    done, arrived = [], jnp.zeros_like(micro[0])
    ticks = layout.micro_batches + stages - 1
    for tick in range(ticks):
        y = run(jnp.where(at == 0, micro[min(tick, layout.micro_batches - 1)], arrived))
        if tick >= stages - 1:
            done.append(y)
        if tick < ticks - 1:
            arrived = lax.ppermute(y, "pipeline", [(stage, stage + 1) for stage in range(stages - 1)])
    return jnp.concatenate(done)


def _loss(model: Model, layout: Layout, weights: dict, tokens: jax.Array, targets: jax.Array) -> jax.Array:
    """Sum of the cross entropies of this rank's tokens."""
    outer = _fetch(layout, {name: weight for name, weight in weights.items() if name != "blocks"})
    x = _embed(layout, outer["embedding"], tokens)
    run = partial(_stage, model, layout, weights["blocks"])
    x = _pipelined(layout, run, x) if layout.cuts("pipeline") else run(x)
    logits = transformer.vocabulary_head(outer, _enter(layout, transformer.norm(outer["final_norm"], x)))
    loss = _cross_entropy(layout, logits, targets)
    if layout.cuts("pipeline"):
        loss = jnp.where(lax.axis_index("pipeline") == layout.pipeline - 1, loss, 0.0)
    return loss


def _mine(layout: Layout, words: jax.Array, rows: int) -> tuple[jax.Array, jax.Array]:
    """Of a vocabulary split by tensor parallelism: which words are on this rank, and their rows there."""
    if not layout.cuts("tensor"):
        return jnp.ones_like(words, bool), words
    local = words - lax.axis_index("tensor") * rows
    here = (local >= 0) & (local < rows)
    return here, jnp.where(here, local, 0)


def _embed(layout: Layout, embedding: jax.Array, tokens: jax.Array) -> jax.Array:
    positions = jnp.arange(tokens.shape[1])
    if layout.cuts("context"):
        positions += lax.axis_index("context") * tokens.shape[1]
    here, rows = _mine(layout, tokens, len(embedding))
    found = transformer.embed({"embedding": embedding}, rows, positions)
    return _leave(layout, jnp.where(here[..., None], found, 0.0)) if layout.cuts("tensor") else found


def _cross_entropy(layout: Layout, logits: jax.Array, targets: jax.Array) -> jax.Array:
    here, rows = _mine(layout, targets, logits.shape[-1])
    chosen = jnp.take_along_axis(logits, rows[..., None], axis=-1)[..., 0]
    if not layout.cuts("tensor"):
        return jnp.sum(jax.nn.logsumexp(logits, axis=-1) - chosen)
    highest = lax.pmax(lax.stop_gradient(logits.max(-1)), "tensor")
    total = lax.psum(jnp.exp(logits - highest[..., None]).sum(-1), "tensor")
    return jnp.sum(highest + jnp.log(total) - lax.psum(jnp.where(here, chosen, 0.0), "tensor"))


def optimizer_step(model: Model, layout: Layout) -> tuple[Callable, tuple]:
    """Adam on the gradients as `training_step` leaves them, with the shapes of its arguments.

    Its arguments are the training state of a device. ZeRO-1 and 2 update a piece of the weights and gather them.
    """
    on, shapes = mesh(layout), jax.eval_shape(partial(parameters, model, layout))
    weights = specifications(layout, shapes, layout.zero is Zero.PARAMETERS)
    pieces = specifications(layout, shapes, layout.zero > Zero.NONE)
    given = pieces if layout.zero >= Zero.GRADIENTS else weights
    gradients = shapes
    if layout.zero is Zero.OPTIMIZER:
        given = jax.tree.map(lambda cut: PartitionSpec("data", *cut), weights, is_leaf=_is_specification)
        gradients = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((layout.data, *leaf.shape), leaf.dtype), shapes)
    arguments = (weights, given, pieces, pieces, PartitionSpec())
    # gathered weights are equal on every rank, which the check does not see
    update = jax.shard_map(partial(_update, layout), mesh=on, in_specs=arguments,
                           out_specs=(weights, pieces, pieces), check_vma=False)  # fmt: skip
    placed = jax.tree.map(partial(NamedSharding, on), arguments, is_leaf=_is_specification)
    count = jax.ShapeDtypeStruct((), jnp.int32)
    return jax.jit(update, in_shardings=placed), (shapes, gradients, shapes, shapes, count)


def _update(layout: Layout, weights, gradients, mean, square, count):
    partly = layout.zero in (Zero.OPTIMIZER, Zero.GRADIENTS)
    axis = lambda path, leaf: leaf.ndim + HIDDEN[path[-1].key]  # noqa: E731

    def scatter(path, leaf):
        return lax.psum_scatter(leaf[0], "data", scatter_dimension=axis(path, leaf[0]), tiled=True)

    def piece(path, leaf):
        size = leaf.shape[axis(path, leaf)] // layout.data
        return lax.dynamic_slice_in_dim(leaf, lax.axis_index("data") * size, size, axis(path, leaf))

    each = jax.tree_util.tree_map_with_path
    if layout.zero is Zero.OPTIMIZER:
        gradients = each(scatter, gradients)
    own = each(piece, weights) if partly else weights
    moved, mean, square = transformer.adam(own, gradients, mean, square, count)
    if partly:
        moved = each(lambda path, leaf: lax.all_gather(leaf, "data", axis=axis(path, leaf), tiled=True), moved)
    return moved, mean, square
