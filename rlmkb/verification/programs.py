"""The programs of the pipeline, ready to be traced: a function with the shapes of its arguments."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp

from rlmkb.errors import InputError
from rlmkb.verification import trace, transformer
from rlmkb.verification.transformer import HEADS, Shape


@dataclass(frozen=True)
class Program:
    """A function and the shapes it is called with.

    Examples
    --------
    >>> forward(Shape(L=1, d=4, d_ff=8, h=2, V=16), B=1, m=2).count().work  # 2 (2(4 16 + 64 + 2 8) + 2 64)
    832
    """

    function: Callable
    arguments: tuple

    def count(self) -> trace.Count:
        """Work, depth and ignored operations of the traced graph."""
        return trace.count(self.function, *self.arguments)

    def compiled_flops(self) -> float:
        """XLA's own count for the compiled program."""
        return trace.compiled_flops(self.function, *self.arguments)

    def outputs(self):
        """Shapes of the results."""
        return jax.eval_shape(self.function, *self.arguments)


def _integers(*size: int) -> jax.ShapeDtypeStruct:
    if any(not isinstance(n, int) or n < 1 for n in size):
        raise InputError(f"sizes {size} of a program; they are integers of at least 1")
    return jax.ShapeDtypeStruct(size, jnp.int32)


def _targets(shape: Shape, B: int, m: int) -> dict:
    every = {
        "logits": _integers(B, m),
        "values": jax.ShapeDtypeStruct((B, m), jnp.float32),
        "score": jax.ShapeDtypeStruct((B,), jnp.float32),
    }
    return {name: every[name] for name in HEADS[shape.role]}


def forward(shape: Shape, B: int, m: int) -> Program:
    """B whole sequences of m tokens through the model and its heads."""
    return Program(partial(transformer.forward, shape), (transformer.parameter_shapes(shape), _integers(B, m)))


def prefill(shape: Shape, B: int, S: int) -> Program:
    """B prompts of S tokens; logits of the last token, and the cache."""
    return Program(partial(transformer.prefill, shape), (transformer.parameter_shapes(shape), _integers(B, S)))


def decode_step(shape: Shape, B: int, context: int) -> Program:
    """One more token for each of B rollouts, over a cache of `context` slots, the token's own among them."""
    slots = jax.ShapeDtypeStruct((B, context, shape.h, shape.head_width), jnp.float32)
    return Program(
        partial(transformer.decode_step, shape),
        (transformer.parameter_shapes(shape), _integers(B), _integers(), [(slots, slots)] * shape.L),
    )


def generation(shape: Shape, B: int, S: int, T: int, static: bool = False) -> Program:
    """T tokens for each of B prompts of S; `static` keeps all S + T - 1 slots of the cache from the start."""
    return Program(
        partial(transformer.generate, shape, T=T, static=static),
        (transformer.parameter_shapes(shape), _integers(B, S)),
    )


def training(shape: Shape, B: int, m: int, checkpoint: bool = False) -> Program:
    """Loss and all gradients on B sequences of m tokens; `checkpoint` keeps only the input of each block."""
    return Program(
        partial(transformer.training_step, shape, checkpoint=checkpoint),
        (transformer.parameter_shapes(shape), _integers(B, m), _targets(shape, B, m)),
    )


def block_training(shape: Shape, B: int, m: int) -> Program:
    """As `training`, with embedding, norms and heads frozen: gradients of the blocks' weights alone."""

    def step(parameters, tokens, targets):
        def of_weights(trained):
            blocks = [{**frozen, **new} for frozen, new in zip(parameters["blocks"], trained, strict=True)]
            return transformer.loss(shape, {**parameters, "blocks": blocks}, tokens, targets)

        weights = [{k: w for k, w in block.items() if w.ndim == 2} for block in parameters["blocks"]]
        return jax.grad(of_weights)(weights)

    return Program(step, training(shape, B, m).arguments)


def optimizer_step(shape: Shape) -> Program:
    """One Adam update: parameters, gradients and two moments go in."""
    parameters = transformer.parameter_shapes(shape)
    return Program(transformer.adam, (parameters, parameters, parameters, parameters, _integers()))


def saved_activations(shape: Shape, B: int, m: int, checkpoint: bool = False) -> dict[str, int]:
    """Elements kept between the forward and the backward pass, by the scope that made them."""

    def forward_loss(parameters, tokens, targets):
        return transformer.loss(shape, parameters, tokens, targets, checkpoint)

    return trace.saved_for_backward(forward_loss, *training(shape, B, m).arguments)


def saved_per_layer(shape: Shape, B: int, m: int, checkpoint: bool = False) -> dict[str, float]:
    """Elements that one more layer keeps for the backward pass, per token, by scope.

    Examples
    --------
    With checkpointing a layer keeps its input, d elements, and nothing else.

    >>> saved_per_layer(Shape(d=8, d_ff=16, h=2, V=32), B=1, m=4, checkpoint=True)
    {'stream': 8.0}
    """
    fewer, more = (saved_activations(replace(shape, L=L), B, m, checkpoint) for L in (shape.L, shape.L + 1))
    grown = {scope: (more[scope] - fewer.get(scope, 0)) / (B * m) for scope in more}
    return {scope: elements for scope, elements in grown.items() if elements}


def parameter_elements(shape: Shape) -> dict[str, int]:
    """Parameters of products and heads, and those of norms, which the cost model leaves out."""
    sizes = transformer.parameter_shapes(shape)
    norms = [
        sizes["final_norm"],
        [{k: v for k, v in w.items() if k.endswith("norm")} for w in sizes["blocks"]],
    ]
    in_norms = trace.elements(norms)
    return {"weights": trace.elements(sizes) - in_norms, "norms": in_norms}


def cache_elements(shape: Shape, B: int, S: int) -> int:
    """Keys and values that a prefill of S tokens leaves behind."""
    _, caches = prefill(shape, B, S).outputs()
    return trace.elements(caches)
