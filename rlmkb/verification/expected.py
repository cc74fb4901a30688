"""What the formulas say that one device of a layout computes, holds and sends: numbers to hold programs against.

Everything follows from `rlmkb.theory`; here a formula is only put on the footing of the program, with attention dense,
the head counted, and arrays in place of terms.
"""

from collections.abc import Callable
from dataclasses import replace

import sympy

from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.formula import Term
from rlmkb.theory.partition import STATE, B, Part, Strategy, V, d, m
from rlmkb.theory.schedules import SCHEDULES, P_p, n
from rlmkb.theory.sequence import MEGATRON_TENSOR, SEQUENCE_TENSOR, rank_activations
from rlmkb.theory.traffic import ContextMethod, Message, Options, Phase, messages
from rlmkb.theory.transforms import STATES, WEIGHT, Transformed, Zero
from rlmkb.verification import programs
from rlmkb.verification.layouts import Layout, Model

#: Masked scores are computed and thrown away: twice the causal products.
DENSE_ATTENTION = 2
#: The ring computes scores again in its backward pass: seven products for every six.
RING_ATTENTION = sympy.Rational(7, 6)
FORWARD_AND_BACKWARD = 3


def work(model: Model, layout: Layout) -> float:
    """FLOPs of one device by the per-rank formula, attention dense, with its share of the head.

    Examples
    --------
    >>> work(Model(), Layout()) / work(Model(), Layout(data=4, tensor=2))
    8.0
    """
    return _work(model, layout, as_programmed=False)


def work_as_programmed(model: Model, layout: Layout) -> float:
    """The same with what the program does beyond the formula on purpose: scores again on a ring, the bubble as work.

    Examples
    --------
    Two stages and four micro-batches: five ticks for four.

    >>> layout = Layout(pipeline=2, micro_batches=4)
    >>> head = 3 * 2 * 512 * 256 * 8 * 128
    >>> (work_as_programmed(Model(), layout) - head) / (work(Model(), layout) - head)
    1.25
    """
    return _work(model, layout, as_programmed=True)


def _work(model: Model, layout: Layout, as_programmed: bool) -> float:
    strategy = layout.strategy(model)
    attention = sympy.Integer(DENSE_ATTENTION)
    ticks = sympy.S.One
    if as_programmed and layout.cuts("context") and layout.method is ContextMethod.RING:
        attention *= RING_ATTENTION
    if as_programmed and layout.cuts("pipeline"):
        schedule = SCHEDULES["gpipe"]
        ticks += (schedule.bubble / schedule.work_time).subs({P_p: layout.pipeline, n: layout.micro_batches})
    body = [Term(term.name, term.expr * (attention if Part(term.name) is Part.ATTENTION else 1))
            for term in strategy.rank_work]  # fmt: skip
    pieces = sympy.Mul(*(axis.degree for axis in strategy.axes if axis.divides_gradient or axis.name == "tensor"))
    head = FORWARD_AND_BACKWARD * 2 * B * m * V * d / pieces
    return float(evaluate(ticks * sympy.Add(*(term.expr for term in body)) + head, model.values()))


def _parameters(strategy: Strategy, zero: Zero, shards: int) -> sympy.Expr:
    """Elements of every weight that one rank holds, times the numbers kept for it."""
    state = Transformed(strategy, zero=zero, shards=shards).rank_memory
    return sympy.Add(*(term.expr for term in state if Part(term.name) in STATE))


def weights(model: Model, layout: Layout) -> float:
    """Elements of the weights on one device; a boundary stage's, where there are stages."""
    whole = _parameters(layout.strategy(model), Zero.NONE, 1) * WEIGHT / STATES
    return float(evaluate(whole / (layout.data if layout.zero is Zero.PARAMETERS else 1), model.values()))


def gradients(model: Model, layout: Layout) -> float:
    """Elements of the gradients on one device."""
    whole = _parameters(layout.strategy(model), Zero.NONE, 1) * WEIGHT / STATES
    return float(evaluate(whole / (layout.data if layout.zero >= Zero.GRADIENTS else 1), model.values()))


def state(model: Model, layout: Layout) -> float:
    """Elements of weights, gradients and moments on one device.

    Examples
    --------
    >>> replicated, sharded = (state(Model(), Layout(data=8, zero=stage)) for stage in (Zero.NONE, Zero.PARAMETERS))
    >>> replicated / sharded
    8.0
    """
    return float(evaluate(_parameters(layout.strategy(model), layout.zero, layout.data), model.values()))


def activations(model: Model, layout: Layout) -> float:
    """Elements per layer that one device keeps for the backward pass, by the list of `rlmkb.theory.sequence`."""
    strategy = layout.strategy(model)
    tensor = SEQUENCE_TENSOR if layout.sequence else MEGATRON_TENSOR
    axes = tuple(tensor.at(axis.degree) if axis.name == "tensor" else axis for axis in strategy.axes)
    kept = rank_activations(replace(strategy, axes=axes), flash=_ring(layout))
    return float(evaluate(kept.total, {**model.values(), "L": 1}))


def activations_as_traced(model: Model, layout: Layout) -> float:
    """The same from the traced program on one device, whose list is longer, divided in the same way.

    Norms and the residual stream are token-wise; what attention keeps of its shares, a ring does not.
    """
    kept = programs.saved_per_layer(model.shape, model.B, model.m)
    token_wise = sum(kept[scope] for scope in ("norm", "stream"))
    width = sum(kept.values()) - token_wise - (kept["softmax"] if _ring(layout) else 0)
    tokens = model.B * model.m / (layout.data * layout.context)
    return tokens * (token_wise / (layout.tensor if layout.sequence else 1) + width / layout.tensor)


def _ring(layout: Layout) -> bool:
    return layout.cuts("context") and layout.method is ContextMethod.RING


def sent(model: Model, layout: Layout) -> dict[tuple[str, ...], float]:
    """Elements that one device sends in training step and update, by the axes whose ranks take part."""
    return _by_axes(model, layout, lambda message, of_layers: 1)


def sent_as_programmed(model: Model, layout: Layout) -> dict[tuple[str, ...], float]:
    """The same with what a pipeline written as one program does beyond it.

    Ticks of the bubble send like all others, and every stage takes part in the sum that only the first and the last
    need.
    """
    stages, pieces = layout.pipeline, layout.micro_batches

    def times(message: Message, of_layers: bool) -> sympy.Expr:
        if not layout.cuts("pipeline"):
            return sympy.S.One
        if message.axis == "pipeline" and message.phase is Phase.UPDATE:
            one, all_stages = (replace(message, ranks=sympy.Integer(ranks)).volume for ranks in (2, stages))
            return all_stages / one
        if message.axis == "pipeline":
            return sympy.Rational(pieces + stages - 2, pieces)
        busy = of_layers and message.phase is not Phase.UPDATE
        return sympy.Rational(pieces + stages - 1, pieces) if busy else sympy.S.One

    return _by_axes(model, layout, times)


def _by_axes(model: Model, layout: Layout, times: Callable[[Message, bool], sympy.Expr]) -> dict:
    options = Options(zero=layout.zero, context_method=layout.method, sequence_parallel=layout.sequence,
                      gather_again=layout.sequence)  # fmt: skip
    of_layers = messages(layout.strategy(model), options)
    total: dict[tuple[str, ...], float] = {}
    for message in messages(layout.strategy(model), options, vocabulary=True):
        axes = tuple(axis for axis in layout.used if axis in message.axis.split("+"))
        volume = message.volume * times(message, message in of_layers)
        total[axes] = total.get(axes, 0.0) + float(evaluate(volume, model.values()))
    return total
