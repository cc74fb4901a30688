"""A parallelism strategy as a partition: term by term, what divides a training step and what is replicated.

Tables V to VIII follow: a rank's cost divides, work and memory sum over ranks, depth is the chain through all ranks.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import sympy

from rlmkb.notation import symbol
from rlmkb.theory.formula import Term, Terms
from rlmkb.theory.functions import Log2
from rlmkb.theory.transformer import Contraction

B, m, L, d, d_ff, h, V = (symbol(name) for name in ("B", "m", "L", "d", "d_ff", "h", "V"))
E, E_a, d_e = (symbol(name) for name in ("E", "E_a", "d_e"))
DEGREES = {name: symbol(name) for name in ("P_d", "P_p", "P_t", "P_c", "P_e")}


class Part(StrEnum):
    """A term of a training step's work or memory."""

    PROJECTIONS = "projections"
    FFN = "ffn"
    EXPERTS = "experts"
    ATTENTION = "attention"
    PROJECTION_STATE = "projection_state"
    FFN_STATE = "ffn_state"
    EXPERT_STATE = "expert_state"
    VOCABULARY_STATE = "vocabulary_state"
    ACTIVATIONS = "activations"


WORK = frozenset({Part.PROJECTIONS, Part.FFN, Part.EXPERTS, Part.ATTENTION})
STATE = frozenset({Part.PROJECTION_STATE, Part.FFN_STATE, Part.EXPERT_STATE, Part.VOCABULARY_STATE})
EXPERT = frozenset({Part.EXPERTS, Part.EXPERT_STATE})


@dataclass(frozen=True)
class Step:
    """One training step of a generic decoder, without its head: dense, or with experts in every layer.

    Examples
    --------
    >>> DENSE.work[Part.ATTENTION]
    6*B*L*d*m**2
    """

    name: str
    experts: bool

    @cached_property
    def work(self) -> Terms:
        """FLOPs of forward and backward over B sequences of m tokens."""
        per_layer = {
            Part.PROJECTIONS: 4 * d**2,
            **({Part.EXPERTS: 2 * E_a * d * d_e} if self.experts else {Part.FFN: 2 * d * d_ff}),
            Part.ATTENTION: m * d,
        }
        return Terms(tuple(Term(part, 6 * B * m * L * cost) for part, cost in per_layer.items()))

    @cached_property
    def memory(self) -> Terms:
        """Elements: weights, gradients and Adam's two moments of each class, and activations."""
        states = {
            Part.PROJECTION_STATE: 16 * L * d**2,
            **({Part.EXPERT_STATE: 8 * L * E * d * d_e} if self.experts else {Part.FFN_STATE: 8 * L * d * d_ff}),
            Part.VOCABULARY_STATE: 4 * V * d,
            Part.ACTIVATIONS: B * m * L * d,
        }
        return Terms(tuple(Term(part, cost) for part, cost in states.items()))

    @property
    def network(self) -> Part:
        """The part of a layer after attention: its experts, or its one feed-forward network."""
        return Part.EXPERTS if self.experts else Part.FFN

    @property
    def chain(self) -> tuple[Contraction, ...]:
        """The contractions of one layer, in order."""
        width = d_e if self.experts else d_ff
        return (
            Contraction("query, key, value", d),
            Contraction("scores", d, h),
            Contraction("values", m),
            Contraction("output", d),
            Contraction("up", d),
            Contraction("down", width),
        )


DENSE = Step("dense", experts=False)
MIXTURE = Step("mixture of experts", experts=True)


@dataclass(frozen=True)
class Axis:
    """One way to cut a training step into `degree` pieces.

    Parameters
    ----------
    name : str
        For example ``"tensor"``.
    degree : sympy.Expr
        Number of pieces.
    unit : sympy.Expr
        How many indivisible things there are to share: sequences, layers, heads, tokens or experts.
    divides : frozenset of Part
        Terms of which each rank has one piece; the others it has whole.
    boundary : frozenset of Part
        Terms that sit whole on one rank of the axis only (vocabulary under pipeline parallelism).
    divides_layers : bool
        A rank's chain has the layers divided by `degree`.
    divides_contractions : bool
        The contractions over a sharded width are shorter by `degree`.
    divides_gradient : bool
        The weight gradient on a rank sums over fewer tokens, by `degree`.
    splits : str
        What is cut, in words.
    other_units : tuple of (frozenset of Part, sympy.Expr)
        Terms that are shared in other units than `unit`: a network by its width, where attention is by heads.
    """

    name: str
    degree: sympy.Expr
    unit: sympy.Expr
    divides: frozenset[Part]
    boundary: frozenset[Part] = frozenset()
    divides_layers: bool = False
    divides_contractions: bool = False
    divides_gradient: bool = False
    splits: str = ""
    other_units: tuple[tuple[frozenset[Part], sympy.Expr], ...] = ()

    def at(self, degree: sympy.Expr | int) -> "Axis":
        """The same axis with another degree.

        Examples
        --------
        >>> DATA.at(4).degree
        4
        """
        return replace(self, degree=sympy.sympify(degree))

    def unit_of(self, part: Part) -> sympy.Expr:
        """How many indivisible things of a term there are to share.

        Examples
        --------
        >>> TENSOR.unit_of(Part.ATTENTION), TENSOR.unit_of(Part.VOCABULARY_STATE)
        (h, V)
        """
        return next((unit for parts, unit in self.other_units if part in parts), self.unit)


DATA = Axis(
    "data", DEGREES["P_d"], B, WORK | {Part.ACTIVATIONS}, divides_gradient=True, splits="the batch"
)
PIPELINE = Axis(
    "pipeline", DEGREES["P_p"], L, frozenset(Part) - {Part.VOCABULARY_STATE},
    boundary=frozenset({Part.VOCABULARY_STATE}), divides_layers=True, splits="the layers",
)  # fmt: skip
TENSOR = Axis(
    "tensor", DEGREES["P_t"], h, frozenset(Part), divides_contractions=True, splits="the width of every layer",
    other_units=(
        (frozenset({Part.FFN, Part.FFN_STATE}), d_ff), (EXPERT, d_e), (frozenset({Part.VOCABULARY_STATE}), V),
        (frozenset({Part.ACTIVATIONS}), m),  # the paper divides them, so they are pieces of the sequence
    ),
)  # fmt: skip
CONTEXT = Axis(
    "context", DEGREES["P_c"], m, WORK | {Part.ACTIVATIONS}, divides_gradient=True, splits="the sequence"
)
EXPERT_ISOLATED = Axis("expert", DEGREES["P_e"], E, EXPERT, splits="the experts; everything else is replicated")
EXPERT_COUPLED = Axis(
    "expert", DEGREES["P_e"], E, WORK | {Part.EXPERT_STATE, Part.ACTIVATIONS}, divides_gradient=True,
    splits="the experts, and the tokens among their ranks",
    other_units=((WORK - EXPERT | {Part.ACTIVATIONS}, B),),  # with data parallelism's ranks, of the same sequences
)  # fmt: skip


@dataclass(frozen=True)
class Strategy:
    """A training step and the axes that cut it; strategies compose by joining axes.

    Parameters
    ----------
    name : str
        For example ``"3d"``.
    step : Step
        What is cut.
    axes : tuple of Axis
        How; axes that share a unit, such as sequences, cut it into the product of their degrees.
    fullest : bool
        `divisor` and the ``rank_`` costs are those of the rank that holds most, where a split is uneven.

    Examples
    --------
    >>> tensor = STRATEGIES["tensor"]
    >>> tensor.rank_work.total.subs({B: 1, m: 4, L: 1, d: 2, d_ff: 8, DEGREES["P_t"]: 2})  # 6*4*(16+32+8)/2
    672
    """

    name: str
    step: Step
    axes: tuple[Axis, ...] = ()
    fullest: bool = False

    def with_axis(self, axis: Axis, name: str | None = None) -> "Strategy":
        """The strategy cut along one axis more.

        Examples
        --------
        >>> STRATEGIES["data"].with_axis(TENSOR).devices
        P_d*P_t
        """
        return replace(self, name=name or f"{self.name}+{axis.name}", axes=(*self.axes, axis))

    @property
    def worst_rank(self) -> "Strategy":
        """The same strategy as the fullest rank sees it: of each unit it holds ceil(unit / degree).

        Tokens choose experts evenly, so that a rank's share of the choices is its share of the experts.

        Examples
        --------
        Of 10 layers on 4 ranks the fullest has 3; of 12 sequences on 2 times 4 ranks, 2.

        >>> fullest = STRATEGIES["5d"].worst_rank
        >>> fullest.rank_layers.subs({L: 10, DEGREES["P_p"]: 4})
        3
        >>> fullest.rank_tokens.subs({B: 12, m: 1, DEGREES["P_d"]: 2, DEGREES["P_e"]: 4, DEGREES["P_c"]: 1})
        2
        """
        return replace(self, fullest=True)

    def _pieces(self, part: Part, axes: Iterable[Axis]) -> sympy.Expr:
        """Into how many pieces some axes cut a term; on the fullest rank, the whole over what it holds."""
        degrees: dict[sympy.Expr, sympy.Expr] = {}
        for axis in axes:
            unit = axis.unit_of(part)
            degrees[unit] = degrees.get(unit, 1) * axis.degree
        if not self.fullest:
            return sympy.Mul(*degrees.values())
        return sympy.Mul(*(unit / sympy.ceiling(unit / degree) for unit, degree in degrees.items()))

    @property
    def devices(self) -> sympy.Expr:
        """The product of the degrees."""
        return sympy.Mul(*(axis.degree for axis in self.axes))

    def divisor(self, part: Part) -> sympy.Expr:
        """Into how many pieces a term is cut.

        Examples
        --------
        >>> STRATEGIES["3d"].divisor(Part.ACTIVATIONS)
        P_d*P_p*P_t
        """
        return self._pieces(part, (axis for axis in self.axes if part in axis.divides))

    def copies(self, part: Part) -> sympy.Expr:
        """How often a term exists over all ranks.

        Examples
        --------
        >>> STRATEGIES["3d"].copies(Part.PROJECTION_STATE), STRATEGIES["pipeline"].copies(Part.VOCABULARY_STATE)
        (P_d, 1)
        """
        single = (axis.degree for axis in self.axes if part in axis.divides or part in axis.boundary)
        return self.devices / sympy.Mul(*single)

    def _rank(self, cost: Terms) -> Terms:
        return Terms(tuple(Term(term.name, term.expr / self.divisor(Part(term.name))) for term in cost))

    def _global(self, cost: Terms) -> Terms:
        return Terms(tuple(Term(term.name, term.expr * self.copies(Part(term.name))) for term in cost))

    @property
    def rank_layers(self) -> sympy.Expr:
        """Layers on one rank.

        Examples
        --------
        >>> STRATEGIES["3d"].rank_layers
        L/P_p
        """
        return L / self._pieces(self.step.network, (axis for axis in self.axes if axis.divides_layers))

    @property
    def rank_tokens(self) -> sympy.Expr:
        """Tokens that one rank holds between layers; tensor ranks hold the same ones.

        Examples
        --------
        >>> STRATEGIES["5d"].rank_tokens
        B*m/(P_c*P_d*P_e)
        """
        return B * m / self._pieces(Part.ACTIVATIONS, (axis for axis in self.axes if axis.divides_gradient))

    @cached_property
    def rank_work(self) -> Terms:
        """FLOPs of one rank.

        Examples
        --------
        >>> STRATEGIES["3d"].rank_work[Part.ATTENTION]
        6*B*L*d*m**2/(P_d*P_p*P_t)
        """
        return self._rank(self.step.work)

    @cached_property
    def rank_memory(self) -> Terms:
        """Elements on one rank; a boundary rank of a pipeline, where there is one.

        Examples
        --------
        >>> STRATEGIES["3d"].rank_memory[Part.VOCABULARY_STATE]
        4*V*d/P_t
        """
        return self._rank(self.step.memory)

    @cached_property
    def global_work(self) -> Terms:
        """FLOPs of all ranks together, redundant ones included."""
        return self._global(self.step.work)

    @cached_property
    def global_memory(self) -> Terms:
        """Elements on all ranks together."""
        return self._global(self.step.memory)

    @property
    def tensor_degree(self) -> sympy.Expr:
        """Pieces of a width that tensor parallelism shards."""
        return sympy.Mul(*(axis.degree for axis in self.axes if axis.divides_contractions))

    def _layer_depth(self) -> sympy.Expr:
        """Steps of a layer: the contractions over a width that tensor parallelism shards are shorter."""
        shards = [axis for axis in self.axes if axis.divides_contractions]
        sharded = {"output": Part.PROJECTIONS, "down": self.step.network}
        return sympy.Add(*(
            link.depth - (Log2(self._pieces(sharded[link.name], shards)) if link.name in sharded and shards else 0)
            for link in self.step.chain
        ))  # fmt: skip

    @cached_property
    def rank_depth(self) -> Terms:
        """Steps on one rank: its layers forward and backward, and its share of the gradient's sum."""
        return Terms((
            Term("layers", 2 * self.rank_layers * self._layer_depth()), Term("gradient", Log2(self.rank_tokens)),
        ))  # fmt: skip

    @cached_property
    def global_depth(self) -> Terms:
        """Steps of the whole step: all layers in a row, the gradient over all tokens, shards as short as they are."""
        return Terms((
            Term("layers", 2 * L * self._layer_depth()), Term("gradient", Log2(B * m)),
        ))  # fmt: skip


STRATEGIES: dict[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy("none", DENSE),
        Strategy("data", DENSE, (DATA,)),
        Strategy("pipeline", DENSE, (PIPELINE,)),
        Strategy("tensor", DENSE, (TENSOR,)),
        Strategy("context", DENSE, (CONTEXT,)),
        Strategy("expert", MIXTURE, (EXPERT_ISOLATED,)),
        Strategy("3d", DENSE, (DATA, PIPELINE, TENSOR)),
        Strategy("5d", MIXTURE, (DATA, PIPELINE, TENSOR, CONTEXT, EXPERT_COUPLED)),
    )
}
