"""What moves between ranks in one training step: beyond the paper, which leaves communication out.

Volumes are elements that one rank sends; latencies and link speeds belong to the systems layer.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import sympy

from rlmkb.theory.formula import Formula, Quantity
from rlmkb.theory.partition import STATE, Axis, B, E_a, L, Part, Strategy, d, m
from rlmkb.theory.transforms import STATES, Zero


class Collective(StrEnum):
    """Kinds of communication."""

    ALL_REDUCE = "all-reduce"
    ALL_GATHER = "all-gather"
    REDUCE_SCATTER = "reduce-scatter"
    ALL_TO_ALL = "all-to-all"
    POINT_TO_POINT = "point-to-point"


def sent(kind: Collective, elements: sympy.Expr, ranks: sympy.Expr) -> sympy.Expr:
    """Elements that one rank sends, with ring algorithms.

    Parameters
    ----------
    kind : Collective
        What is done.
    elements : sympy.Expr
        Size of the whole array: the one reduced, gathered or scattered, or a rank's own for the other two kinds.
    ranks : sympy.Expr
        How many take part.

    Examples
    --------
    >>> sent(Collective.ALL_REDUCE, sympy.Integer(100), sympy.Integer(4))
    150
    """
    share = (ranks - 1) / ranks
    if kind is Collective.POINT_TO_POINT:
        return elements
    return (2 if kind is Collective.ALL_REDUCE else 1) * elements * share


@dataclass(frozen=True)
class Message:
    """One kind of communication of a training step, as one rank sees it.

    Parameters
    ----------
    axis : str
        The parallelism that causes it.
    kind : Collective
        What is done.
    what : str
        What moves, in words.
    count : sympy.Expr
        How often a step.
    elements : sympy.Expr
        Array size each time; see `sent`.
    ranks : sympy.Expr
        How many take part.
    critical : bool
        The next computation waits for it, unless it is overlapped on purpose.
    """

    axis: str
    kind: Collective
    what: str
    count: sympy.Expr
    elements: sympy.Expr
    ranks: sympy.Expr
    critical: bool = True

    @property
    def volume(self) -> sympy.Expr:
        """Elements sent by one rank a step."""
        return self.count * sent(self.kind, self.elements, self.ranks)


class ContextMethod(StrEnum):
    """How context parallelism attends over all positions."""

    RING = "ring"
    ULYSSES = "ulysses"


def _degree(strategy: Strategy, name: str) -> sympy.Expr:
    return sympy.Mul(*(axis.degree for axis in strategy.axes if axis.name == name))


def _layers(strategy: Strategy) -> sympy.Expr:
    return L / _degree(strategy, "pipeline")


def _tokens(strategy: Strategy) -> sympy.Expr:
    """Tokens that one rank holds between layers; tensor ranks hold the same ones."""
    return B * m / sympy.Mul(*(axis.degree for axis in strategy.axes if axis.divides_gradient))


def _weights(strategy: Strategy, chosen: Callable[[Part], bool]) -> sympy.Expr:
    terms = (term for term in strategy.rank_memory if Part(term.name) in STATE and chosen(Part(term.name)))
    return sympy.Add(*(term.expr for term in terms)) / STATES


def _replicated_weights(strategy: Strategy, axis: Axis) -> sympy.Expr:
    return _weights(strategy, lambda part: part not in axis.divides)


def _gradient_messages(strategy: Strategy, axis: Axis, zero: Zero) -> tuple[Message, ...]:
    weights, ranks = _replicated_weights(strategy, axis), axis.degree
    make = lambda kind, what, count: Message(axis.name, kind, what, sympy.Integer(count), weights, ranks, False)  # noqa: E731
    if zero is Zero.NONE:
        return (make(Collective.ALL_REDUCE, "gradients", 1),)
    if zero is Zero.PARAMETERS:
        return (
            make(Collective.ALL_GATHER, "weights, before forward and before backward", 2),
            make(Collective.REDUCE_SCATTER, "gradients", 1),
        )
    return (
        make(Collective.REDUCE_SCATTER, "gradients", 1),
        make(Collective.ALL_GATHER, "updated weights", 1),
    )


def _tensor(strategy: Strategy, axis: Axis, sequence_parallel: bool) -> tuple[Message, ...]:
    hidden, blocks = _tokens(strategy) * d, _layers(strategy)
    if not sequence_parallel:
        return (
            Message(axis.name, Collective.ALL_REDUCE, "outputs of attention and feed-forward, forward", 2 * blocks,
                    hidden, axis.degree),
            Message(axis.name, Collective.ALL_REDUCE, "gradients of their inputs, backward", 2 * blocks, hidden,
                    axis.degree),
        )  # fmt: skip
    return tuple(
        Message(axis.name, kind, f"hidden states, {direction}", 2 * blocks, hidden, axis.degree)
        for direction in ("forward", "backward")
        for kind in (Collective.REDUCE_SCATTER, Collective.ALL_GATHER)
    )


def _context(strategy: Strategy, axis: Axis, method: ContextMethod) -> tuple[Message, ...]:
    # keys and values are as wide as the heads of a rank
    local = _tokens(strategy) * d / _degree(strategy, "tensor")
    blocks, ranks = _layers(strategy), axis.degree
    if method is ContextMethod.RING:
        hops = blocks * (ranks - 1)
        return (
            Message(axis.name, Collective.POINT_TO_POINT, "keys and values round the ring, forward", hops, 2 * local,
                    ranks, False),
            Message(axis.name, Collective.POINT_TO_POINT, "keys, values and their gradients, backward", hops,
                    4 * local, ranks, False),
        )  # fmt: skip
    return tuple(
        Message(axis.name, Collective.ALL_TO_ALL, f"queries, keys, values and output, {way}", 4 * blocks, local, ranks)
        for way in ("forward", "backward")
    )


def _pipeline(strategy: Strategy, axis: Axis) -> tuple[Message, ...]:
    hidden = _tokens(strategy) * d
    return tuple(
        Message(axis.name, Collective.POINT_TO_POINT, what, sympy.S.One, hidden, axis.degree)
        for what in ("activations to the next stage", "their gradients to the previous one")
    )


def _expert(strategy: Strategy, axis: Axis) -> tuple[Message, ...]:
    routed, blocks = _tokens(strategy) * E_a * d, _layers(strategy)
    if not axis.divides_gradient:
        # every rank has every token: the parts of each token's output are added up instead of sent out
        hidden = _tokens(strategy) * d
        return tuple(
            Message(axis.name, Collective.ALL_REDUCE, f"outputs of the experts, {way}", blocks, hidden, axis.degree)
            for way in ("forward", "backward")
        )
    return tuple(
        Message(axis.name, Collective.ALL_TO_ALL, f"{what}, {way}", blocks, routed, axis.degree)
        for way in ("forward", "backward")
        for what in ("tokens to their experts", "expert outputs back")
    )


def messages(
    strategy: Strategy, *, zero: Zero = Zero.NONE, sequence_parallel: bool = False,
    context_method: ContextMethod = ContextMethod.RING,
) -> tuple[Message, ...]:  # fmt: skip
    """What one rank sends in one training step.

    Parameters
    ----------
    strategy : Strategy
        The partition.
    zero : Zero
        Sharding of the training state over the data-parallel ranks.
    sequence_parallel : bool
        Megatron's: reduce-scatter and all-gather in place of each all-reduce of tensor parallelism.
    context_method : ContextMethod
        Keys and values round a ring, or Ulysses' all-to-all.

    Returns
    -------
    tuple of Message
        Empty without parallelism. An interior pipeline stage; one micro-batch or many move the same volume.

    Examples
    --------
    >>> from rlmkb.theory.partition import STRATEGIES
    >>> [message.kind.value for message in messages(STRATEGIES["data"])]
    ['all-reduce']
    >>> sum(message.count for message in messages(STRATEGIES["tensor"]))  # four all-reduces a block
    4*L
    """
    out: list[Message] = []
    for axis in strategy.axes:
        if axis.name == "tensor":
            out += _tensor(strategy, axis, sequence_parallel)
        elif axis.name == "pipeline":
            out += _pipeline(strategy, axis)
        else:
            if axis.name == "context":
                out += _context(strategy, axis, context_method)
            if axis.name == "expert":
                out += _expert(strategy, axis)
            if axis.divides_gradient:
                out += _gradient_messages(strategy, axis, zero if axis.name == "data" else Zero.NONE)
    return tuple(out)


def traffic_formula(strategy: Strategy, **options: object) -> Formula:
    """Elements that one rank sends in one training step; options as for `messages`.

    Examples
    --------
    >>> from rlmkb.theory.partition import STRATEGIES
    >>> traffic_formula(STRATEGIES["tensor"]).evaluate(B=1, m=4, L=1, d=8, P_t=2)  # 4 all-reduces of 32: 4*2*32/2
    128.0
    """
    volume = sympy.Add(*(message.volume for message in messages(strategy, **options)))
    return Formula(
        f"traffic_{strategy.name}", rf"\mathrm{{sent}}_{{\mathrm{{{strategy.name}}}}}", volume, Quantity.MEMORY,
        "elements that one rank sends in one training step", "ours; counts as in section III", per="training step",
        assumptions=("ring algorithms", "an interior pipeline stage", "canonical attention: keys as wide as queries"),
        note="Not in the paper, which leaves communication out.",
    )  # fmt: skip
