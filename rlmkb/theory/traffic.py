"""What moves between ranks in one step of a model: beyond the paper, which leaves communication out.

Volumes are elements that one rank sends; latencies and link speeds belong to the systems layer.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

import sympy

from rlmkb.errors import InputError
from rlmkb.theory.formula import Formula, Quantity
from rlmkb.theory.partition import STATE, Axis, E_a, Part, Strategy, V, d
from rlmkb.theory.transforms import STATES, Recompute, Zero, amount, chosen


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
    if kind is Collective.POINT_TO_POINT:
        return elements
    return (2 if kind is Collective.ALL_REDUCE else 1) * elements * elsewhere(ranks)


def elsewhere(ranks: object) -> object:
    """The share of an array that is not a rank's own piece: what it sends of it, or is spared of reading.

    Examples
    --------
    >>> elsewhere(4)
    0.75
    """
    return (ranks - 1) / ranks


class Phase(StrEnum):
    """When in a step something is sent."""

    FORWARD = "forward"
    BACKWARD = "backward"
    UPDATE = "update"


@dataclass(frozen=True)
class Message:
    """One kind of communication of a step, as one rank sees it.

    Parameters
    ----------
    axis : str
        The parallelism that causes it; ``"data+context"`` where their ranks act as one group.
    phase : Phase
        When.
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
    phase: Phase
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


@dataclass(frozen=True)
class Options:
    """What a strategy leaves open and its traffic depends on.

    Parameters
    ----------
    backward : bool
        False for a model that is only applied (assessment, prefill): no gradients, no update.
    zero : Zero
        Sharding of the training state over the ranks that hold the same weights.
    shards : sympy.Expr, optional
        Its degree; by default all of those ranks. With fewer, the groups of shards all-reduce among themselves.
    recompute : Recompute
        A full recomputation repeats the forward messages of every layer. A selective one repeats none.
    micro_batches : sympy.Expr
        ZeRO-2 scatters gradients, and ZeRO-3 gathers weights as well, once for each; nothing else depends on it.
    sequence_parallel : bool
        Megatron's: reduce-scatter and all-gather in place of each all-reduce of tensor parallelism.
    gather_again : bool
        With `sequence_parallel`: keep the pieces of gathered inputs and gather them once more for the weight
        gradients, as Megatron does; otherwise every rank keeps them whole.
    context_method : ContextMethod
        Keys and values round a ring, or Ulysses' all-to-all.
    chunks : sympy.Expr
        Pieces of the model that a pipeline rank holds; an interleaved schedule has more than one.
    vocabulary : bool
        Count embedding and head too, which tables V to VIII leave out: split along the vocabulary by tensor
        parallelism, and held by the first and the last stage of a pipeline with one set of weights.
    """

    backward: bool = True
    zero: Zero = Zero.NONE
    shards: sympy.Expr | None = None
    recompute: Recompute = Recompute.NONE
    micro_batches: sympy.Expr = sympy.S.One
    sequence_parallel: bool = False
    gather_again: bool = False
    context_method: ContextMethod = ContextMethod.RING
    chunks: sympy.Expr = sympy.S.One
    vocabulary: bool = False

    def __post_init__(self) -> None:
        given = {
            "zero": chosen(Zero, self.zero, "zero"), "recompute": chosen(Recompute, self.recompute, "recompute"),
            "context_method": chosen(ContextMethod, self.context_method, "context_method"),
            "micro_batches": amount(self.micro_batches, "micro_batches", least=1, whole=True),
            "chunks": amount(self.chunks, "chunks", least=1, whole=True),
            "shards": None if self.shards is None else amount(self.shards, "shards", least=1, whole=True),
        }  # fmt: skip
        for name, value in given.items():
            object.__setattr__(self, name, value)


def messages(strategy: Strategy, options: Options | None = None, /, **changes: object) -> tuple[Message, ...]:
    """What one rank sends in one step.

    Parameters
    ----------
    strategy : Strategy
        The partition.
    options : Options, optional
        What it leaves open.
    **changes
        Fields of `Options` by name, in place of those given.

    Returns
    -------
    tuple of Message
        Without parallelism nothing. Of a pipeline the mean over its stages: the last sends no activations and
        the first no gradients, so that a stage in the middle sends P_p/(P_p - 1) as much.

    Examples
    --------
    >>> from rlmkb.theory.partition import STRATEGIES
    >>> [message.kind.value for message in messages(STRATEGIES["data"])]
    ['all-reduce']
    >>> sum(message.count for message in messages(STRATEGIES["tensor"]))  # four all-reduces a block
    4*L
    >>> sum(message.count for message in messages(STRATEGIES["tensor"], backward=False))
    2*L
    """
    try:
        options = replace(options or Options(), **changes)
    except TypeError:
        known = ", ".join(Options.__dataclass_fields__)
        raise InputError(f"no option of traffic is named {', '.join(changes)}; allowed: {known}") from None
    makers = {"tensor": _tensor, "pipeline": _pipeline, "context": _context, "expert": _expert}
    out: list[Message] = []
    for axis in strategy.axes:
        if axis.name in makers:
            layer = tuple(makers[axis.name](strategy, axis, options))
            out += layer
            if options.recompute is Recompute.FULL and axis.name != "pipeline":
                out += [replace(message, phase=Phase.BACKWARD, what=f"{message.what}, again")
                        for message in layer if message.phase is Phase.FORWARD]  # fmt: skip
    if options.vocabulary:
        out += _vocabulary(strategy, options)
    out += _gradients(strategy, options)
    return tuple(message for message in out if options.backward or message.phase is Phase.FORWARD)


def _degree(strategy: Strategy, name: str) -> sympy.Expr:
    return sympy.Mul(*(axis.degree for axis in strategy.axes if axis.name == name))


def _tensor(strategy: Strategy, axis: Axis, options: Options) -> Iterable[Message]:
    """Megatron's f and g: where a block's part enters and leaves; backward they change places."""
    hidden, times = strategy.rank_tokens * d, 2 * strategy.rank_layers
    yield from _shared_hidden(axis, options.sequence_parallel, times, hidden,
                              "outputs of attention and feed-forward", "gradients of their inputs")  # fmt: skip
    if options.sequence_parallel and options.gather_again:
        yield Message(axis.name, Phase.BACKWARD, Collective.ALL_GATHER, "inputs again, for weight gradients", times,
                      hidden, axis.degree, False)  # fmt: skip


def _shared_hidden(
    axis: Axis, sequence_parallel: bool, times: sympy.Expr, hidden: sympy.Expr, forward: str, backward: str
) -> Iterable[Message]:
    kinds = (Collective.REDUCE_SCATTER, Collective.ALL_GATHER) if sequence_parallel else (Collective.ALL_REDUCE,)
    for phase, what in ((Phase.FORWARD, forward), (Phase.BACKWARD, backward)):
        for kind in kinds:
            yield Message(axis.name, phase, kind, what, times, hidden, axis.degree)


def _context(strategy: Strategy, axis: Axis, options: Options) -> Iterable[Message]:
    # keys and values are as wide as the heads of a rank
    local = strategy.rank_tokens * d / _degree(strategy, "tensor")
    layers, ranks = strategy.rank_layers, axis.degree
    if options.context_method is ContextMethod.RING:
        hops = layers * (ranks - 1)
        # a block's gradients start at its first stop and end at home, so they make as many hops as it does
        for phase, what, size in (
            (Phase.FORWARD, "keys and values round the ring", 2),
            (Phase.BACKWARD, "keys, values and their gradients round the ring", 4),
        ):
            yield Message(axis.name, phase, Collective.POINT_TO_POINT, what, hops, size * local, ranks, False)
        return
    for phase in (Phase.FORWARD, Phase.BACKWARD):
        what = "queries, keys, values and output"
        yield Message(axis.name, phase, Collective.ALL_TO_ALL, what, 4 * layers, local, ranks)


def _pipeline(strategy: Strategy, axis: Axis, options: Options) -> Iterable[Message]:
    hidden = strategy.rank_tokens * d
    # chunks P_p pieces of the model have one border fewer, shared by P_p ranks; micro-batches cut what crosses it
    borders = (options.chunks * axis.degree - 1) / axis.degree
    for phase, what in (
        (Phase.FORWARD, "activations to the next stage"),
        (Phase.BACKWARD, "their gradients to the previous one"),
    ):
        yield Message(axis.name, phase, Collective.POINT_TO_POINT, what, borders, hidden, axis.degree)


def _expert(strategy: Strategy, axis: Axis, options: Options) -> Iterable[Message]:
    layers = strategy.rank_layers
    if not axis.divides_gradient:
        # every rank has every token: the parts of each token's output are added up instead of sent out
        yield from _shared_hidden(axis, False, layers, strategy.rank_tokens * d, "outputs of the experts",
                                  "gradients of their inputs")  # fmt: skip
        return
    routed = strategy.rank_tokens * E_a * d
    for phase in (Phase.FORWARD, Phase.BACKWARD):
        for what in ("tokens to their experts", "expert outputs back"):
            yield Message(axis.name, phase, Collective.ALL_TO_ALL, what, layers, routed, axis.degree)


def _vocabulary(strategy: Strategy, options: Options) -> Iterable[Message]:
    tokens, tensor = strategy.rank_tokens, _degree(strategy, "tensor")
    for axis in strategy.axes:
        if axis.name == "tensor":
            yield from _shared_hidden(axis, options.sequence_parallel, sympy.S.One, tokens * d,
                                      "rows of the embedding", "gradients of the head's input")  # fmt: skip
            yield Message(axis.name, Phase.FORWARD, Collective.ALL_REDUCE,
                          "maximum, sum and target of the softmax", sympy.Integer(3), tokens, axis.degree)  # fmt: skip
        elif axis.name == "pipeline":
            ends = sympy.Min(2, axis.degree)
            yield Message(axis.name, Phase.UPDATE, Collective.ALL_REDUCE, "gradient of the embedding, first and last "
                          "stage", sympy.S.One, V * d / tensor, ends, False)  # fmt: skip


def _gradients(strategy: Strategy, options: Options) -> Iterable[Message]:
    """Ranks with other tokens and the same weights add up gradients; ZeRO shards weights among just these ranks."""
    cut = [axis for axis in strategy.axes if axis.divides_gradient]
    groups: dict[tuple[Axis, ...], sympy.Expr] = {}
    for term in strategy.rank_memory:
        part = Part(term.name)
        if part in STATE and (sharing := tuple(axis for axis in cut if part not in axis.divides)):
            groups[sharing] = groups.get(sharing, 0) + term.expr / STATES
    for axes, weights in groups.items():
        name, ranks = "+".join(axis.name for axis in axes), sympy.Mul(*(axis.degree for axis in axes))
        yield from _synchronised(name, weights, ranks, options)


def _synchronised(axis: str, weights: sympy.Expr, ranks: sympy.Expr, options: Options) -> Iterable[Message]:
    zero, n = options.zero, options.micro_batches
    shards = ranks if options.shards is None else options.shards
    reduce_scatter, all_gather, all_reduce = (
        Collective.REDUCE_SCATTER, Collective.ALL_GATHER, Collective.ALL_REDUCE,
    )  # fmt: skip
    if zero is Zero.NONE:
        yield Message(axis, Phase.UPDATE, all_reduce, "gradients", sympy.S.One, weights, ranks, False)
        return
    if zero is Zero.PARAMETERS:
        for phase in (Phase.FORWARD, Phase.BACKWARD):
            yield Message(axis, phase, all_gather, "weights, layer by layer", n, weights, shards, False)
    times = sympy.S.One if zero is Zero.OPTIMIZER else n
    yield Message(axis, Phase.UPDATE, reduce_scatter, "gradients", times, weights, shards, False)
    if shards != ranks:
        yield Message(axis, Phase.UPDATE, all_reduce, "shards of gradients", sympy.S.One, weights / shards,
                      ranks / shards, False)  # fmt: skip
    if zero is not Zero.PARAMETERS:
        yield Message(axis, Phase.UPDATE, all_gather, "updated weights", sympy.S.One, weights, shards, False)


def traffic_formula(strategy: Strategy, options: Options | None = None, /, **changes: object) -> Formula:
    """Elements that one rank sends in one step; arguments as for `messages`.

    Examples
    --------
    >>> from rlmkb.theory.partition import STRATEGIES
    >>> traffic_formula(STRATEGIES["tensor"]).evaluate(B=1, m=4, L=1, d=8, P_t=2)  # 4 all-reduces of 32: 4*2*32/2
    128.0
    """
    volume = sympy.Add(*(message.volume for message in messages(strategy, options, **changes)))
    return Formula(
        f"traffic_{strategy.name}", rf"\mathrm{{sent}}_{{\mathrm{{{strategy.name}}}}}", volume, Quantity.MEMORY,
        "elements that one rank sends in one step", "ours; counts as in section III", per="step",
        assumptions=("ring algorithms", "the mean over the stages of a pipeline",
                     "canonical attention: keys as wide as queries", "balanced routing to experts"),
        note="Not in the paper, which leaves communication out.",
    )  # fmt: skip
