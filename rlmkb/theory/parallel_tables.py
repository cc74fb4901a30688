"""Tables V to VIII: each strategy's work, depth and memory, on one rank and over all ranks.

Everything is derived from `rlmkb.theory.partition`; where the paper prints another form than its own appendix, the
printed reading is taken here and said in the cell's note.
"""

from dataclasses import dataclass
from enum import StrEnum

import sympy

from rlmkb.notation import symbol
from rlmkb.theory.formula import Formula, Quantity, Terms
from rlmkb.theory.functions import Log2
from rlmkb.theory.partition import STRATEGIES, B, L, Part, Strategy, V, d, d_e, d_ff, m

E, E_a = symbol("E"), symbol("E_a")


class Scope(StrEnum):
    """One rank, or all ranks together."""

    PER_RANK = "per_rank"
    GLOBAL = "global"


@dataclass(frozen=True)
class PrintedTable:
    """Which half of the results a table prints."""

    id: str
    scope: Scope
    explicit: bool
    title: str


PRINTED = {
    table.id: table
    for table in (
        PrintedTable("V", Scope.PER_RANK, False, "Intra-model parallelism, one rank (asymptotic)"),
        PrintedTable("VI", Scope.GLOBAL, False, "Intra-model parallelism, all ranks (asymptotic)"),
        PrintedTable("VII", Scope.PER_RANK, True, "Intra-model parallelism, one rank (explicit)"),
        PrintedTable("VIII", Scope.GLOBAL, True, "Intra-model parallelism, all ranks (explicit)"),
    )
}

ASSUMPTIONS = (
    "a generic training step: forward and backward of the layers, without the head's work",
    "communication, bubbles and load imbalance left out",
    "Adam, no activation checkpointing",
)
GLOBAL_DEPTH_NOTE = (
    "Printed without $P_t$, as if the step were not sharded; appendix B-C keeps $P_t^2$, because shards stay short."
)
VOCABULARY_NOTE = "$4 V d$ sits on the boundary ranks of a pipeline, so it is not divided by $P_p$."

_LEADING = {
    Part.PROJECTIONS: d**2, Part.FFN: d**2, Part.EXPERTS: E_a * d * d_e, Part.ATTENTION: m * d,
    Part.PROJECTION_STATE: L * d**2, Part.FFN_STATE: L * d**2, Part.EXPERT_STATE: L * E * d * d_e,
    Part.VOCABULARY_STATE: V * d, Part.ACTIVATIONS: B * m * L * d,
}  # fmt: skip


def parallel_formula(strategy: Strategy, scope: Scope, quantity: Quantity) -> Formula:
    """One cell of tables V to VIII.

    Parameters
    ----------
    strategy : Strategy
        The row.
    scope : Scope
        One rank (V, VII) or all (VI, VIII).
    quantity : Quantity
        Work, depth or memory.

    Returns
    -------
    Formula
        The explicit form, with the asymptotic one beside it.

    Examples
    --------
    >>> cell = parallel_formula(STRATEGIES["data"], Scope.PER_RANK, Quantity.MEMORY)
    >>> cell.evaluate(B=8, m=4, L=1, d=2, d_ff=8, V=10, P_d=4)  # 64 + 128 + 80 + 8*4*2/4
    288.0
    """
    make = {Quantity.WORK: _work, Quantity.DEPTH: _depth, Quantity.MEMORY: _memory}[quantity]
    expr, asymptotic, note = make(strategy, scope)
    letter = {Quantity.WORK: "W", Quantity.DEPTH: "D", Quantity.MEMORY: "M"}[quantity]
    where = "rank" if scope is Scope.PER_RANK else "global"
    return Formula(
        f"{quantity}_{strategy.name}_{scope}", rf"{letter}^{{\mathrm{{{where}}}}}_{{\mathrm{{{strategy.name}}}}}", expr,
        quantity, f"{quantity} of one training step, {'one rank' if scope is Scope.PER_RANK else 'all ranks'}",
        "Tables V and VII" if scope is Scope.PER_RANK else "Tables VI and VIII", per="training step",
        asymptotic=asymptotic, assumptions=ASSUMPTIONS, note=note,
    )  # fmt: skip


# what a term is without parallelism, for both kinds of layer
_WHOLE = {
    Part(term.name): term.expr
    for name in ("none", "expert")
    for cost in (STRATEGIES[name].step.work, STRATEGIES[name].step.memory)
    for term in cost
}


def _brackets(cost: Terms, outside: sympy.Expr, inside: dict[Part, sympy.Expr]) -> sympy.Expr:
    """The sum as the paper writes it: `outside` times, for each way of division, one bracket; equal terms once."""
    groups: dict[sympy.Expr, dict[sympy.Expr, None]] = {}
    for term in cost:
        part = Part(term.name)
        groups.setdefault(term.expr / _WHOLE[part], {})[inside[part]] = None
    return sympy.Add(*(factor * outside * sympy.Add(*terms) for factor, terms in groups.items()))


def _work(strategy: Strategy, scope: Scope) -> tuple[sympy.Expr, sympy.Expr, str | None]:
    cost = strategy.rank_work if scope is Scope.PER_RANK else strategy.global_work
    per_layer = {part: whole / (6 * B * m * L) for part, whole in _WHOLE.items()}
    return _brackets(cost, 6 * B * m * L, per_layer), _brackets(cost, B * m * L, _LEADING), None


def _memory(strategy: Strategy, scope: Scope) -> tuple[sympy.Expr, sympy.Expr, str | None]:
    cost = strategy.rank_memory if scope is Scope.PER_RANK else strategy.global_memory
    pipelined = any(axis.boundary for axis in strategy.axes)
    note = VOCABULARY_NOTE if pipelined and scope is Scope.PER_RANK else None
    return _brackets(cost, sympy.S.One, _WHOLE), _brackets(cost, sympy.S.One, _LEADING), note


def _depth(strategy: Strategy, scope: Scope) -> tuple[sympy.Expr, sympy.Expr, str | None]:
    if scope is Scope.GLOBAL:
        # printed as if no dimension were sharded
        plain = Strategy(strategy.name, strategy.step)
        note = GLOBAL_DEPTH_NOTE if strategy.tensor_degree != 1 else None
        return plain.rank_depth.total, _depth_order(plain), note
    return strategy.rank_depth.total, _depth_order(strategy), None


def _depth_order(strategy: Strategy) -> sympy.Expr:
    """The chain as the paper's Big-O has it: one logarithm for each width, and every d of the chain is d / P_t."""
    piece = d / strategy.tensor_degree
    widths = dict.fromkeys(link.length.subs({d: piece, d_ff: piece, d_e: piece}) for link in strategy.step.chain)
    return strategy.rank_layers * sympy.Add(*map(Log2, widths)) + Log2(strategy.rank_tokens)
