"""Changes to a strategy that cut memory for traffic or work: ZeRO, checkpointing, micro-batches.

Each takes the terms of a rank (`rlmkb.theory.partition`) and gives the terms after the change; they compose.
"""

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import TypeVar

import sympy

from rlmkb.errors import InputError
from rlmkb.notation import symbol
from rlmkb.theory.formula import Term, Terms
from rlmkb.theory.partition import STATE, Part, Strategy

P_z, kappa = symbol("P_z"), symbol("kappa")
# numbers kept per parameter: weight, gradient, two moments of Adam
WEIGHT, GRADIENT, MOMENTS = 1, 1, 2
STATES = WEIGHT + GRADIENT + MOMENTS


class Zero(IntEnum):
    """How much of the training state is sharded over the ranks that hold the same weights."""

    NONE = 0
    OPTIMIZER = 1
    GRADIENTS = 2
    PARAMETERS = 3


_Kind = TypeVar("_Kind", bound=Enum)


def chosen(kind: type[_Kind], value: object, name: str) -> _Kind:
    """A member of an enumeration, given as such or by its value.

    Examples
    --------
    >>> chosen(Zero, 3, "ZeRO stage") is Zero.PARAMETERS
    True
    """
    try:
        return kind(value)
    except ValueError:
        allowed = ", ".join(f"{member.value} ({member.name.lower()})" for member in kind)
        raise InputError(f"{name} is {value!r}; give {allowed}") from None


def amount(value: object, name: str, *, least: int = 0, most: int | None = None, whole: bool = False) -> sympy.Expr:
    """An expression; where it is a number, within its range: above 0, or at least `least` where that is not 0.

    Examples
    --------
    >>> amount(4, "micro_batches", least=1, whole=True), amount(kappa, "kept", most=1)
    (4, kappa)
    """
    above = f"of at least {least}" if least else "above 0"
    wanted = f"{'an integer' if whole else 'a number'} {above}{'' if most is None else f' and at most {most}'}"
    try:
        expr = sympy.sympify(value, strict=True)
    except sympy.SympifyError:
        expr = None
    if not isinstance(expr, sympy.Expr):
        raise InputError(f"{name} is {value!r}; give {wanted}, or an expression")
    if expr.is_number:
        fits = expr.is_finite and expr.is_real and expr >= least and expr > 0
        if not fits or (most is not None and expr > most) or (whole and not expr.is_integer):
            raise InputError(f"{name} is {value!r}; give {wanted}")
    return expr


def zero_states(stage: Zero | int, shards: sympy.Expr = P_z) -> sympy.Expr:
    """Numbers kept per parameter on one rank.

    Parameters
    ----------
    stage : Zero
        ZeRO-1 shards the moments, ZeRO-2 the gradients too, ZeRO-3 (FSDP) the weights too.
    shards : sympy.Expr
        The sharding degree.

    Returns
    -------
    sympy.Expr
        4 without sharding; the transient gathers of ZeRO-3 are left out.

    Examples
    --------
    >>> [zero_states(stage, 4) for stage in Zero]
    [4, 5/2, 7/4, 1]
    """
    kept = {Zero.NONE: 0, Zero.OPTIMIZER: MOMENTS, Zero.GRADIENTS: GRADIENT + MOMENTS, Zero.PARAMETERS: STATES}
    sharded = kept[chosen(Zero, stage, "ZeRO stage")]
    return STATES - sharded + sympy.Integer(sharded) / shards


class Recompute(IntEnum):
    """What a backward pass computes again."""

    NONE = 0
    SELECTIVE = 1
    FULL = 2


# a forward pass is a third of forward and backward, in work; half of it, in depth
_AGAIN = {
    Recompute.NONE: frozenset(),
    Recompute.SELECTIVE: frozenset({Part.ATTENTION}),
    Recompute.FULL: frozenset(Part),
}
_SELECTIVE_LINKS = ("scores", "values")


@dataclass(frozen=True)
class Transformed:
    """A strategy with memory savers applied; `rank_*` are the terms of one rank after them.

    Parameters
    ----------
    strategy : Strategy
        The partition.
    zero : Zero
        Sharding of the training state.
    shards : sympy.Expr
        Its degree; it has to divide the number of ranks that hold the same weights.
    recompute : Recompute
        ``FULL`` repeats the forward pass of every layer, ``SELECTIVE`` its attention products only.
    kept : sympy.Expr
        Share of the activations that stays; it is 1 without recomputation.
    micro_batches : sympy.Expr
        Pieces of the batch that run one after the other; gradients accumulate.
    live : sympy.Expr
        Micro-batches whose activations are held at once: 1, or what the schedule of a pipeline asks for
        (`rlmkb.theory.schedules`).

    Examples
    --------
    >>> from rlmkb.theory.partition import STRATEGIES
    >>> plain = Transformed(STRATEGIES["data"])
    >>> plain.rank_memory.total == STRATEGIES["data"].rank_memory.total
    True
    >>> Transformed(STRATEGIES["pipeline"], micro_batches=8, live=4).rank_memory[Part.ACTIVATIONS]
    B*L*d*m/(2*P_p)
    """

    strategy: Strategy
    zero: Zero = Zero.NONE
    shards: sympy.Expr = P_z
    recompute: Recompute = Recompute.NONE
    kept: sympy.Expr = kappa
    micro_batches: sympy.Expr = sympy.S.One
    live: sympy.Expr = sympy.S.One

    def __post_init__(self) -> None:
        given = {
            "zero": chosen(Zero, self.zero, "zero"), "recompute": chosen(Recompute, self.recompute, "recompute"),
            "shards": amount(self.shards, "shards", least=1, whole=True), "kept": amount(self.kept, "kept", most=1),
            "micro_batches": amount(self.micro_batches, "micro_batches", least=1, whole=True),
            "live": amount(self.live, "live"),
        }  # fmt: skip
        for name, value in given.items():
            object.__setattr__(self, name, value)

    @property
    def rank_memory(self) -> Terms:
        """Elements on one rank.

        Examples
        --------
        >>> from rlmkb.theory.partition import STRATEGIES
        >>> sharded = Transformed(STRATEGIES["data"], zero=Zero.PARAMETERS, shards=8)
        >>> sharded.rank_memory[Part.VOCABULARY_STATE]  # of 4 V d
        V*d/2
        """
        state = zero_states(self.zero, self.shards) / STATES
        kept = sympy.S.One if self.recompute is Recompute.NONE else self.kept
        return Terms(tuple(
            Term(term.name, term.expr * (state if Part(term.name) in STATE else kept * self.live / self.micro_batches))
            for term in self.strategy.rank_memory
        ))  # fmt: skip

    @property
    def gathered(self) -> sympy.Expr:
        """Elements of one layer's weights as ZeRO-3 holds them while the layer runs; 0 for the other stages.

        They come on top of `rank_memory`, where the paper leaves transient gathers out; fetching the next layer
        early holds two.

        Examples
        --------
        >>> from rlmkb.theory.partition import STRATEGIES
        >>> Transformed(STRATEGIES["data"], zero=Zero.PARAMETERS).gathered  # 4 d^2 + 2 d d_ff
        4*d**2 + 2*d*d_ff
        """
        if self.zero is not Zero.PARAMETERS:
            return sympy.S.Zero
        layers = STATE - {Part.VOCABULARY_STATE}
        held = (term.expr for term in self.strategy.rank_memory if Part(term.name) in layers)
        return sympy.expand(sympy.Add(*held) * WEIGHT / STATES / self.strategy.rank_layers)

    @property
    def rank_work(self) -> Terms:
        """FLOPs of one rank; a forward pass is a third of forward and backward.

        Examples
        --------
        >>> from rlmkb.theory.partition import STRATEGIES
        >>> Transformed(STRATEGIES["none"], recompute=Recompute.SELECTIVE).rank_work[Part.ATTENTION]  # 6 + 2
        8*B*L*d*m**2
        """
        again = _AGAIN[self.recompute]
        return Terms(tuple(
            Term(term.name, term.expr * (sympy.Rational(4, 3) if Part(term.name) in again else 1))
            for term in self.strategy.rank_work
        ))  # fmt: skip

    @property
    def rank_depth(self) -> Terms:
        """Steps on one rank: micro-batches follow each other, a full recomputation adds a forward chain.

        The gradient is summed within each micro-batch and then over them; as one tree over all tokens that is
        log(B m) still. Selective recomputation adds the two contractions of attention.
        """
        depth = self.strategy.rank_depth
        passes = self.micro_batches * self._layers(depth["layers"])
        return Terms((Term("layers", passes), Term("gradient", depth["gradient"])))

    def _layers(self, depth: sympy.Expr) -> sympy.Expr:
        if self.recompute is Recompute.FULL:
            return depth * sympy.Rational(3, 2)
        if self.recompute is Recompute.SELECTIVE:
            links = {link.name: link.depth for link in self.strategy.step.chain}
            return depth + self.strategy.rank_layers * sympy.Add(*(links[name] for name in _SELECTIVE_LINKS))
        return depth
