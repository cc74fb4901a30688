"""Table IX: what the paper prints for each configuration, as a reading of the graph, with the honest value beside."""

from dataclasses import dataclass
from functools import cache

import sympy

from rlmkb.notation import Stage
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import PPO, Algorithm, Call
from rlmkb.theory.configurations import CONFIGURATIONS, Configuration
from rlmkb.theory.formula import Formula, Quantity
from rlmkb.theory.functions import Maximum
from rlmkb.theory.graph import disaggregated
from rlmkb.theory.iteration import BASELINE, DISAGGREGATED, stage_cost
from rlmkb.theory.residency import ADAM_STATES, live_sets, shadow_copy

G, A, T = Stage
SOURCE = "Table IX"
LETTERS = {Quantity.WORK: "W", Quantity.DEPTH: "D", Quantity.MEMORY: "M"}


@dataclass(frozen=True)
class RowCell:
    """One cell: the printed reading and, where it idealises, the honest value.

    `stage` is generation, assessment, training, inter, intra or aggregate.
    """

    row: str
    stage: str
    printed: Formula
    honest: Formula | None = None


def _formula(
    configuration: Configuration, stage: str, quantity: Quantity, expr: sympy.Expr, parts: tuple[Formula, ...],
    note: str | None = None,
) -> Formula:  # fmt: skip
    used = tuple(part for part in dict.fromkeys(parts) if expr.has(part.handle))
    assumptions = dict.fromkeys(text for part in used for text in part.assumptions)
    return Formula(
        f"{quantity}_{configuration.id}_{stage}", rf"{LETTERS[quantity]}_{{\mathrm{{{stage}}}}}", expr, quantity,
        f"{quantity} of {stage}, {configuration.title}", SOURCE, where=used, assumptions=tuple(assumptions), note=note,
    )  # fmt: skip


@cache
def cells(algorithm: Algorithm = PPO) -> tuple[RowCell, ...]:
    """All rows of table IX for an algorithm.

    Parameters
    ----------
    algorithm : Algorithm
        PPO in the paper; GRPO and DPO by their own invocations.

    Returns
    -------
    tuple of RowCell
        Three quantities for each row and stage.

    Examples
    --------
    >>> len(cells())
    48
    """
    return tuple(cell for configuration in CONFIGURATIONS.values() for cell in _row(configuration, algorithm))


def _row(configuration: Configuration, algorithm: Algorithm) -> tuple[RowCell, ...]:
    if configuration.id == "stage_fusion":
        return (*_fused(configuration, algorithm), *_stage(configuration, algorithm, T, "intra"))
    if configuration.id in ("async", "combined"):
        return _aggregate(configuration, algorithm)
    return tuple(cell for stage in Stage for cell in _stage(configuration, algorithm, stage, stage.value))


def _stage(configuration: Configuration, algorithm: Algorithm, stage: Stage, name: str) -> tuple[RowCell, ...]:
    """A stage on its own: work and memory by placement, depth from the graph."""
    edited = configuration.structure(algorithm)
    # the fused row prints the co-located training memory beside the side-by-side depth
    apart = configuration.placement is disaggregated and configuration.id != "stage_fusion"
    reading = DISAGGREGATED if apart else BASELINE
    work, memory = (stage_cost(edited, stage, quantity, reading) for quantity in (Quantity.WORK, Quantity.MEMORY))
    depth = _formula(configuration, name, Quantity.DEPTH, configuration.stage_depth(algorithm, stage),
                     configuration.parts(algorithm), f"Reading: {configuration.depth_reading}.")  # fmt: skip
    return tuple(RowCell(configuration.id, name, part) for part in (work, depth, memory))


def _total_work(configuration: Configuration, algorithm: Algorithm, stages: tuple[Stage, ...], name: str) -> Formula:
    edited = configuration.structure(algorithm)
    costs = [stage_cost(edited, stage, Quantity.WORK, BASELINE) for stage in stages]
    parts = tuple(part for cost in costs for part in cost.where)
    return _formula(configuration, name, Quantity.WORK, sympy.Add(*(cost.expr for cost in costs)), parts)


def _fused(configuration: Configuration, algorithm: Algorithm) -> tuple[RowCell, ...]:
    parts = configuration.parts(algorithm)
    streamed = configuration.streamed_depth(algorithm, (G, A))
    chain = configuration.stage_depth(algorithm, G) + configuration.stage_depth(algorithm, A)
    depth = _formula(configuration, "inter", Quantity.DEPTH, streamed, parts,
                     f"Reading: {configuration.depth_reading}. {configuration.caveat}")  # fmt: skip
    honest = _formula(configuration, "inter", Quantity.DEPTH, chain, parts,
                      "Critical path: the longest rollout, then its own assessment.")  # fmt: skip
    edited = configuration.structure(algorithm)
    generation = stage_cost(edited, G, Quantity.MEMORY, BASELINE)
    weights = tuple(blocks.parameter_count(call.role) for call in edited.at(A) if call.role.has_transformer)
    assessed = sympy.Add(*(part.handle for part in weights))
    printed = _formula(configuration, "inter", Quantity.MEMORY, Maximum(generation.expr, assessed),
                       (*generation.where, *weights), configuration.caveat)  # fmt: skip
    live = [live for live in live_sets(configuration, algorithm) if A in live.when]
    # all live at once on the devices that the printed row shares
    summed = sympy.Add(*(one.expr for one in live))
    together = _formula(configuration, "inter", Quantity.MEMORY, summed, tuple(p for one in live for p in one.parts),
                        "Both stages live together, with their buffers and the queue between them.")  # fmt: skip
    return (
        RowCell(configuration.id, "inter", _total_work(configuration, algorithm, (G, A), "inter")),
        RowCell(configuration.id, "inter", depth, honest),
        RowCell(configuration.id, "inter", printed, together),
    )


def _aggregate(configuration: Configuration, algorithm: Algorithm) -> tuple[RowCell, ...]:
    parts, note = configuration.parts(algorithm), f"Reading: {configuration.depth_reading}. {configuration.caveat}"
    depth = _formula(configuration, "aggregate", Quantity.DEPTH, configuration.period(algorithm), parts, note)
    path = _formula(configuration, "aggregate", Quantity.DEPTH, configuration.critical_path(algorithm), parts,
                    "Critical path of one iteration.")  # fmt: skip
    printed, printed_parts = _asynchronous_memory(configuration, algorithm)
    lives = live_sets(configuration, algorithm)
    honest = _formula(
        configuration, "aggregate", Quantity.MEMORY, Maximum(*(live.expr for live in lives)),
        tuple(part for live in lives for part in live.parts),
        "The generation group holds the inference copy alone; frozen models have their buffers.",
    )  # fmt: skip
    return (
        RowCell(configuration.id, "aggregate", _total_work(configuration, algorithm, (G, A, T), "aggregate")),
        RowCell(configuration.id, "aggregate", depth, path),
        RowCell(configuration.id, "aggregate", _formula(configuration, "aggregate", Quantity.MEMORY, printed,
                                                        printed_parts, configuration.caveat), honest),
    )  # fmt: skip


def _asynchronous_memory(configuration: Configuration, algorithm: Algorithm) -> tuple[sympy.Expr, tuple[Formula, ...]]:
    """As printed: the generation group with its own copy beside the shadow copy, frozen models without buffers."""
    groups, parts = [], []
    for node in configuration.graph(algorithm).nodes:
        if node.call.call is Call.VERIFY:
            continue
        size, kept = blocks.parameter_count(node.role), blocks.activation_memory(node.role)
        tokens = node.call.sequences * blocks.m
        if node.call.call is Call.GENERATE:
            shadow, cache = shadow_copy(node.role), blocks.cache_memory(node.role)
            groups.append(size.handle + node.call.sequences * cache.handle + shadow.handle)
            parts += [size, shadow, cache]
        elif node.call.call is Call.TRAIN:
            groups.append(ADAM_STATES * size.handle + tokens * kept.handle)
            parts += [size, kept]
        else:
            groups.append(size.handle + (tokens * kept.handle if node.call.keeps_activations else 0))
            parts += [size, kept]
    return Maximum(*groups), tuple(parts)


def end_to_end(configuration: Configuration, algorithm: Algorithm = PPO) -> Formula:
    """Depth of an iteration as section IV-F writes it.

    Parameters
    ----------
    configuration : Configuration
        The row.
    algorithm : Algorithm
        What runs.

    Examples
    --------
    >>> from rlmkb.theory.iteration import iteration_cost
    >>> depth = end_to_end(CONFIGURATIONS["baseline"])
    >>> depth.explicit == iteration_cost(PPO, Quantity.DEPTH).explicit
    True
    """
    if configuration.id == "stage_fusion":
        expr = configuration.streamed_depth(algorithm, (G, A)) + configuration.stage_depth(algorithm, T)
    elif configuration.id in ("async", "combined"):
        expr = configuration.period(algorithm)
    else:
        expr = configuration.critical_path(algorithm)
    return _formula(configuration, "iteration", Quantity.DEPTH, expr, configuration.parts(algorithm),
                    f"Reading: {configuration.depth_reading}.")  # fmt: skip
