"""Where the paper's statements about schedules and placements (table IX, section IV, B-D) differ from each other."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import sympy

from rlmkb.notation import Role, Stage, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import PPO, Algorithm
from rlmkb.theory.configurations import CONFIGURATIONS, Configuration, shared_actor_critic
from rlmkb.theory.derivations.disagreement import Disagreement
from rlmkb.theory.formula import Formula, Quantity
from rlmkb.theory.functions import Log2, Maximum
from rlmkb.theory.graph import Node
from rlmkb.theory.iteration import BASELINE, iteration_cost, stage_cost
from rlmkb.theory.residency import reshard_buffer, shadow_copy
from rlmkb.theory.table_nine import RowCell, cells

B, K, m = (symbol(name) for name in ("B", "K", "m"))
ROLLOUTS = B * K
POLICY = blocks.parameter_count(Role.POLICY)
CACHE = blocks.cache_memory()


def _cell(row: str, stage: str, quantity: Quantity) -> RowCell:
    return next(cell for cell in cells() if (cell.row, cell.stage, cell.printed.quantity) == (row, stage, quantity))


def _parts(*formulas: Formula) -> tuple[Formula, ...]:
    return tuple(dict.fromkeys(part for formula in formulas for part in formula.where))


def _two_readings(
    id: str, title: str, cell: RowCell, ours_source: str, other_source: str, why: str
) -> Disagreement:
    """A cell that the table prints as an idealisation, against what the graph of the iteration gives."""
    return Disagreement(
        id, title, cell.printed.quantity, ours_source, cell.honest.expr, other_source, cell.printed.expr, why,
        _parts(cell.honest, cell.printed),
    )  # fmt: skip


def _fusion_depth() -> Disagreement:
    return _two_readings(
        "fusion_depth", "Depth of generation fused with assessment",
        _cell("stage_fusion", "inter", Quantity.DEPTH),
        "critical path: the longest rollout, then its own score", "table IX and B-D6: the larger of both",
        "An outcome is scored when the response has ended, so the longest chain has both; the maximum is what a long"
        " stream of samples approaches per batch.",
    )  # fmt: skip


def _fusion_memory() -> Disagreement:
    return _two_readings(
        "fusion_memory", "Memory of generation fused with assessment",
        _cell("stage_fusion", "inter", Quantity.MEMORY),
        "IV-C and B-D6: both stages live, with buffers and queue", "table IX: the larger of both",
        "A maximum over stages is right where one ends before the other starts, which fusion removes.",
    )  # fmt: skip


def _fusion_roles() -> Disagreement:
    scored = [blocks.depth_forward(role) for role in (Role.REFERENCE, Role.REWARD, Role.CRITIC)]
    generation = blocks.depth_generation()
    return Disagreement(
        "fusion_roles", "Assessment in the fused row", Quantity.DEPTH,
        "depth of models that share a group: their sum",
        generation.handle + sympy.Add(*(part.handle for part in scored)),
        "table IX: the largest, beside memory that adds up their weights",
        generation.handle + Maximum(*(part.handle for part in scored)),
        "Either the three have devices of their own, or their weights lie together; the row takes the better half of"
        " each.",
        (generation, *scored),
    )  # fmt: skip


def _async_depth() -> Disagreement:
    return _two_readings(
        "async_depth", "Depth of an asynchronous iteration", _cell("async", "aggregate", Quantity.DEPTH),
        "critical path of one iteration", "table IX and B-D7: the longer half",
        "What is printed is the time between iterations in the long run; staleness overlaps iterations and leaves"
        " each as long as before.",
    )  # fmt: skip


def _combined_period() -> Disagreement:
    combined = CONFIGURATIONS["combined"]
    once = replace(combined, schedule=replace(combined.schedule, staleness=sympy.S.One))
    return Disagreement(
        "combined_period", "Period of the combined configuration", Quantity.DEPTH,
        "at staleness 1: not below half a critical path", once.period(PPO),
        "table IX and B-D8: the longest part alone", combined.period(PPO),
        r"A batch under way is at most $\eta$ updates old, so $\eta + 1$ periods hold a whole path; the printed form"
        r" needs $\eta \ge 2$ unless one part is half of it.",
        combined.parts(PPO),
    )  # fmt: skip


def _combined_training() -> Disagreement:
    training = blocks.depth_training(Role.POLICY, ROLLOUTS)
    sharded = blocks.depth_forward_tp(Role.POLICY)
    return Disagreement(
        "combined_training", "Training in the combined configuration", Quantity.DEPTH,
        "table IX: as without sharding", training.handle,
        "B-D8: sharded", 2 * sharded.handle + Log2(ROLLOUTS * m),
        "We take the table's row; the appendix has another one, which also drops assessment.",
        (training, sharded),
    )  # fmt: skip


def _hybrid_memory() -> Disagreement:
    generation, buffer = stage_cost(PPO, Stage.GENERATION, Quantity.MEMORY, BASELINE), reshard_buffer()
    return Disagreement(
        "hybrid_memory", "Memory with a layout per stage", Quantity.MEMORY,
        r"B-D5: with the buffer $M_{\mathrm{reshard}}$", generation.expr + buffer.handle,
        "table IX: as the baseline", generation.expr,
        "Both layouts of the weights exist while one is filled from the other.",
        (*generation.where, buffer),
    )  # fmt: skip


def _async_actors() -> Disagreement:
    shadow = shadow_copy()
    copies = ROLLOUTS * CACHE.handle + shadow.handle
    return Disagreement(
        "async_actors", "The generation group under asynchrony", Quantity.MEMORY,
        "IV-E: the inference copy and the caches", copies,
        r"table IX and B-D7: $|\pi_\theta|$ as well", POLICY.handle + copies,
        "With the four numbers per parameter in training the row has three actors; section IV-E describes a pair.",
        (POLICY, CACHE, shadow),
    )  # fmt: skip


def _async_peak() -> Disagreement:
    printed = _cell("combined", "aggregate", Quantity.MEMORY).printed
    apart = [_cell("disaggregated", stage.value, Quantity.MEMORY).printed for stage in Stage]
    return Disagreement(
        "smallest_peak", "Smallest peak memory of a group in table IX", Quantity.MEMORY,
        "table IX, disaggregated row", Maximum(*(cell.expr for cell in apart)),
        "B-D8: the combined row", printed.expr,
        "Combined adds an inference copy to a group of the disaggregated row and takes nothing away.",
        _parts(printed, *apart),
    )  # fmt: skip


def _buffers() -> Disagreement:
    weights, buffer = blocks.parameter_count(Role.REFERENCE), blocks.inference_memory(Role.REFERENCE)
    return Disagreement(
        "dropped_buffers", "The reference's group under asynchrony", Quantity.MEMORY,
        r"disaggregated row: weights and $M_{\mathrm{Inf}}$", weights.handle + ROLLOUTS * m * buffer.handle,
        "fused, asynchronous and combined rows: weights", weights.handle,
        "The same passes need the same buffers, whatever runs beside them.",
        (weights, buffer),
    )  # fmt: skip


def _shared() -> Disagreement:
    shared, separate = (iteration_cost(algorithm, Quantity.WORK) for algorithm in (shared_actor_critic(PPO), PPO))
    return Disagreement(
        "shared_actor_critic", "Work of a shared actor-critic", Quantity.WORK,
        "table IX's own cells, shared", shared.expr,
        "separate models, which IV-A and B-D3 call dearer", separate.expr,
        "Sharing replaces four passes of a critic by one more of the policy, so it costs more where the critic has"
        " less than a quarter of the policy's work.",
        _parts(shared, separate),
    )  # fmt: skip


CONFIGURATION_DISAGREEMENTS: dict[str, Disagreement] = {
    entry.id: entry
    for entry in (
        _shared(), _hybrid_memory(), _fusion_depth(), _fusion_memory(), _fusion_roles(), _async_depth(),
        _async_actors(), _buffers(), _combined_period(), _combined_training(), _async_peak(),
    )
}  # fmt: skip


def in_seconds(algorithm: Algorithm, seconds: Mapping[str, float]) -> list[dict[str, object]]:
    """The readings of table IX's schedules with measured times in place of depths.

    Parameters
    ----------
    algorithm : Algorithm
        What ran.
    seconds : mapping
        From a node's id, for example ``"critic/assessment"``, to its time; what is missing took none.

    Returns
    -------
    list of dict
        For each configuration that runs models side by side: the critical path of one iteration, the period in the
        long run, and what the table prints (for the fused row the longest of generation and assessment, then
        training). At staleness 1 the combined row is listed once more.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import GRPO
    >>> times = {"policy/generation": 4, "reference/assessment": 3, "policy/training": 3}
    >>> [(row["configuration"], row["critical path"], row["printed"]) for row in in_seconds(GRPO, times)][1]
    ('stage fusion', 10.0, 7.0)
    """
    rows = []
    for configuration, nodes, path, period in _readings(algorithm):
        at = {_time(node): sympy.Float(seconds.get(node.id, 0)) for node in nodes}
        longest = {stage: max((float(at[_time(node)]) for node in nodes if node.stage is stage), default=0.0)
                   for stage in Stage}  # fmt: skip
        streamed = max(longest[Stage.GENERATION], longest[Stage.ASSESSMENT]) + longest[Stage.TRAINING]
        alone, often = (float(expr.xreplace(at)) for expr in (path, period))
        printed = {"disaggregated": alone, "stage_fusion": streamed, "combined": max(longest.values())}
        rows.append({
            "configuration": configuration.title, "critical path": alone, "period": often,
            "printed": printed.get(configuration.id, often),
        })  # fmt: skip
    return rows


@cache
def _readings(algorithm: Algorithm) -> tuple[tuple[Configuration, tuple[Node, ...], sympy.Expr, sympy.Expr], ...]:
    """Configurations with their nodes, critical path and period, in the nodes' times."""
    combined = CONFIGURATIONS["combined"]
    once = replace(combined, title="all combined, staleness 1",
                   schedule=replace(combined.schedule, staleness=sympy.S.One))  # fmt: skip
    chosen = (*(CONFIGURATIONS[id] for id in ("disaggregated", "stage_fusion", "async", "combined")), once)
    graphs = ((configuration, configuration.graph(algorithm)) for configuration in chosen)
    return tuple((configuration, graph.nodes, graph.critical_path(_time).expr, graph.period(_time))
                 for configuration, graph in graphs)  # fmt: skip


def _time(node: Node) -> sympy.Symbol:
    return sympy.Symbol(node.id, positive=True)
