"""Cost of a stage, from the invocations that it makes and where they run.

The same list gives table IV (work, depth and memory of PPO, GRPO and DPO) and the first rows of table IX.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import sympy

from rlmkb.notation import Stage, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import Algorithm, Call, Invocation
from rlmkb.theory.formula import Formula, Quantity
from rlmkb.theory.functions import Maximum

m = symbol("m")


@dataclass(frozen=True)
class Reading:
    """How the models of a stage share devices, and what is counted.

    Parameters
    ----------
    name : str
        Row id in table IX, or ``"table_iv"``.
    source : str
        Where the paper prints it.
    side_by_side : bool
        Models of a stage run at the same time, on devices of their own: depth is the longest, not the sum.
    per_group : bool
        Memory is that of the fullest device group, not of all models together.
    states : int
        Numbers kept per trained parameter: 4 under Adam (weight, gradient, two moments), 1 as table IV prints.
    pair_as_one : bool
        Work and memory count a preference pair as one sequence, as table IV prints.
    assumptions : tuple of str
        In words.
    """

    name: str
    source: str
    side_by_side: bool
    per_group: bool
    states: int
    pair_as_one: bool
    assumptions: tuple[str, ...]


ADAM = "training keeps 4 numbers per parameter: weight, gradient and Adam's two moments"
PAIR_AS_TWO = "two sequences per preference pair; policy forward in assessment and again in training, as printed"
PAIR_AS_ONE = "a preference pair counts as one sequence of S + T tokens in work and memory, as printed"

TABLE_IV = Reading(
    "table_iv", "Table IV", True, False, 1, True,
    ("depth: every model has devices of its own", "memory: each model counted once"),
)  # fmt: skip
BASELINE = Reading(
    "baseline", "Table IX", False, False, 4, False,
    ("all models share the same devices and run one after the other", ADAM),
)  # fmt: skip
DISAGGREGATED = Reading(
    "disaggregated", "Table IX", True, True, 4, False,
    ("every model has a device group of its own", "memory: the fullest group", ADAM),
)  # fmt: skip

def stage_cost(algorithm: Algorithm, stage: Stage, quantity: Quantity, reading: Reading = TABLE_IV) -> Formula:
    """Work, depth or memory of one stage of one iteration.

    Parameters
    ----------
    algorithm : Algorithm
        Its invocations are summed up.
    stage : Stage
        Which of them.
    quantity : Quantity
        What to count.
    reading : Reading
        Placement and conventions.

    Returns
    -------
    Formula
        In terms of the building blocks of table III; zero where the stage makes no invocation.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import GRPO
    >>> cell = stage_cost(GRPO, Stage.GENERATION, Quantity.WORK)
    >>> cell.latex
    'B K C_{\\\\mathrm{gen}}^{\\\\mathrm{roll}}(\\\\pi_\\\\theta)'
    """
    calls = tuple(call for call in algorithm.at(stage) if call.role.has_transformer)
    count = {Quantity.WORK: _work, Quantity.DEPTH: _depth, Quantity.MEMORY: _memory}[quantity]
    expr, parts = count(calls, reading) if calls else (sympy.Integer(0), ())
    return Formula(
        f"{quantity}_{stage}", rf"{_LETTERS[quantity]}_{{\mathrm{{{stage}}}}}", expr, quantity,
        f"{quantity} of {stage} in one iteration of {algorithm.name}", reading.source, asymptotic=expr,
        where=parts, assumptions=_assumptions(algorithm, parts, reading),
        note=None if calls else f"{algorithm.name} makes no call of a language model in {stage}.",
    )  # fmt: skip


_LETTERS = {Quantity.WORK: "W", Quantity.DEPTH: "D", Quantity.MEMORY: "M"}


def _assumptions(algorithm: Algorithm, parts: Iterable[Formula], reading: Reading) -> tuple[str, ...]:
    of_parts = [text for part in parts for text in part.assumptions]
    pairs = () if algorithm.online else (PAIR_AS_ONE if reading.pair_as_one else PAIR_AS_TWO,)
    return tuple(dict.fromkeys([*of_parts, *reading.assumptions, *pairs]))


def iteration_cost(algorithm: Algorithm, quantity: Quantity, reading: Reading = BASELINE) -> Formula:
    """Work or depth of a whole iteration: the stages one after the other.

    Raises
    ------
    ValueError
        For memory, which does not add up over stages.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import DPO
    >>> iteration_cost(DPO, Quantity.DEPTH).evaluate(L=2, d=256, d_ff=1024, h=4, m=128, B_pairs=1)  # 2*102+102+110
    416.0
    """
    if quantity is Quantity.MEMORY:
        raise ValueError("memory is a peak per stage, not a sum over stages")
    stages = tuple(stage_cost(algorithm, stage, quantity, reading) for stage in Stage)
    return Formula(
        f"{quantity}_iteration", _LETTERS[quantity], sympy.Add(*(stage.expr for stage in stages)), quantity,
        f"{quantity} of one iteration of {algorithm.name}", reading.source,
        where=_unique(part for stage in stages for part in stage.where),
        assumptions=_assumptions(algorithm, stages, reading),
    )  # fmt: skip


def _tokens(call: Invocation, reading: Reading) -> sympy.Expr:
    return _batch(call, reading) * m


def _batch(call: Invocation, reading: Reading) -> sympy.Expr:
    return call.examples if reading.pair_as_one else call.sequences


def _work(calls: tuple[Invocation, ...], reading: Reading) -> tuple[sympy.Expr, tuple[Formula, ...]]:
    per_token = {Call.FORWARD: blocks.forward, Call.TRAIN: blocks.training}
    by_factor: dict[sympy.Expr, list[Formula]] = {}
    for call in calls:
        if call.call is Call.GENERATE:
            block, times = blocks.generation(call.role), _batch(call, reading)
        else:
            block, times = per_token[call.call](call.role), _tokens(call, reading)
        by_factor.setdefault(times * call.repeats, []).append(block)
    expr = sympy.Add(*(factor * _sum(parts) for factor, parts in by_factor.items()))
    return expr, _unique(part for parts in by_factor.values() for part in parts)


def _depth(calls: tuple[Invocation, ...], reading: Reading) -> tuple[sympy.Expr, tuple[Formula, ...]]:
    chains, parts = [], []
    for call in calls:
        if call.call is Call.GENERATE:
            block = blocks.depth_generation(call.role)
        elif call.call is Call.FORWARD:
            block = blocks.depth_forward(call.role)
        else:
            block = blocks.depth_training(call.role, call.sequences)
        # epochs follow each other; repeated forward passes (steps scored) do not wait for one another
        chains.append(block.handle * (call.repeats if call.call is Call.TRAIN else 1))
        parts.append(block)
    return (Maximum(*chains) if reading.side_by_side else sympy.Add(*chains)), _unique(parts)


def _memory(calls: tuple[Invocation, ...], reading: Reading) -> tuple[sympy.Expr, tuple[Formula, ...]]:
    groups = [(call,) for call in calls] if reading.per_group else [calls]
    peaks, parts = zip(*(_group_memory(group, reading) for group in groups), strict=True)
    return Maximum(*peaks), _unique(part for group in parts for part in group)


def _group_memory(calls: tuple[Invocation, ...], reading: Reading) -> tuple[sympy.Expr, tuple[Formula, ...]]:
    """Weights of the models in a group, with their training state, and what one batch adds."""
    counts = {call.role: blocks.parameter_count(call.role) for call in calls}
    trained = {call.role for call in calls if call.call is Call.TRAIN}
    resident = {
        times: [count for role, count in counts.items() if (reading.states if role in trained else 1) == times]
        for times in (1, reading.states)
    }
    weights = sympy.Add(*(times * _sum(models) for times, models in resident.items() if models))
    batch, parts = _batch_memory(calls, reading)
    return weights + batch, (*counts.values(), *parts)


def _batch_memory(calls: tuple[Invocation, ...], reading: Reading) -> tuple[sympy.Expr, tuple[Formula, ...]]:
    if calls[0].call is Call.GENERATE:
        cache = blocks.cache_memory(calls[0].role)
        return _batch(calls[0], reading) * cache.handle, (cache,)
    tokens = _tokens(calls[0], reading)
    kept = [call for call in calls if call.call is Call.TRAIN or call.keeps_activations]
    if kept:  # a forward-only buffer of d beside activations of L d is left out, as the paper does
        parts = tuple(blocks.activation_memory(call.role) for call in kept)
        return tokens * _sum(parts), parts
    parts = tuple(blocks.inference_memory(call.role) for call in calls)
    return tokens * Maximum(*(part.handle for part in parts)), parts


def _sum(parts: Iterable[Formula]) -> sympy.Expr:
    return sympy.Add(*(part.handle for part in parts))


def _unique(parts: Iterable[Formula]) -> tuple[Formula, ...]:
    return tuple({part.handle: part for part in parts}.values())
