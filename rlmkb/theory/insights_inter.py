"""The seven insights of section IV-G as statements about the iteration's graph, with the numbers behind them.

All of them are about PPO, as in the paper. Depth is generation's, nearly all of it, so what schedules gain shows in
its last digits; `rlmkb.theory.derivations.disagreements_configurations.in_seconds` has the same in seconds.
"""

from dataclasses import replace

import sympy

from rlmkb.notation import Role, Stage, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import PPO
from rlmkb.theory.configurations import CONFIGURATIONS, Configuration, shared_actor_critic
from rlmkb.theory.formula import Quantity
from rlmkb.theory.functions import Maximum
from rlmkb.theory.insights import Insight, Measure
from rlmkb.theory.iteration import BASELINE, DISAGGREGATED, Reading, iteration_cost, stage_cost
from rlmkb.theory.residency import ADAM_STATES, live_sets, peak
from rlmkb.theory.table_nine import cells, end_to_end

eta = symbol("eta")
ROWS = CONFIGURATIONS
BASE, SHARED, APART, FUSED, ASYNC, COMBINED = (
    ROWS[id] for id in ("baseline", "ac_shared", "disaggregated", "stage_fusion", "async", "combined")
)
ANY_STALENESS = replace(ASYNC, schedule=replace(ASYNC.schedule, staleness=eta))
SAME_WORK = ("disaggregated", "hybrid", "stage_fusion", "async", "combined")
_SAME = 1e-9


def _insight(id: str, title: str, claim: str, measures: dict[str, sympy.Expr], test, caveat: str | None = None):
    return Insight(id, title, claim, tuple(Measure(meaning, expr) for meaning, expr in measures.items()), test,
                   "Section IV-G", caveat)  # fmt: skip


def _explicit(configuration: Configuration, expr: sympy.Expr) -> sympy.Expr:
    return expr.xreplace({part.handle: part.explicit for part in configuration.parts(PPO)})


def _path(configuration: Configuration) -> sympy.Expr:
    """Depth of one iteration alone."""
    return _explicit(configuration, configuration.critical_path(PPO))


def _period(configuration: Configuration) -> sympy.Expr:
    """Depth between iterations in the long run."""
    return _explicit(configuration, configuration.period(PPO))


def _printed(id: str) -> sympy.Expr:
    """Depth of an iteration as section IV-F writes it."""
    return end_to_end(ROWS[id]).explicit


def _peak(configuration: Configuration, *, offload: bool = True) -> sympy.Expr:
    """Elements of the fullest group at its fullest time."""
    return peak(live_sets(configuration, PPO, offload=offload))


def _work(id: str) -> sympy.Expr:
    found = (cell.printed for cell in cells() if cell.row == id and cell.printed.quantity is Quantity.WORK)
    return sympy.Add(*(formula.explicit for formula in found))


def _without_generation(algorithm=PPO, reading: Reading = BASELINE) -> sympy.Expr:
    """Depth of assessment and training."""
    stages = (Stage.ASSESSMENT, Stage.TRAINING)
    return sympy.Add(*(stage_cost(algorithm, stage, Quantity.DEPTH, reading).explicit for stage in stages))


def _shared_work() -> sympy.Expr:
    return iteration_cost(shared_actor_critic(PPO), Quantity.WORK).explicit / _work("baseline")


QUARTER = "Sharing costs more work where the critic has less than a quarter of the policy's cost per token."


def _work_stays() -> Insight:
    return _insight(
        "work", "Most schemes reduce depth, not work",
        "Placement, layouts, fusion and asynchrony keep the work; a shared actor-critic of equal models has less.",
        {
            "largest work of the five other rows over the baseline": Maximum(
                *(_work(id) / _work("baseline") for id in SAME_WORK)
            ),
            "work, shared over separate models": _shared_work(),
            "assessment and training depth, side by side over in a row":
                _without_generation(reading=DISAGGREGATED) / _without_generation(),
            "critical path, fused over disaggregated": _path(FUSED) / _path(APART),
        },
        lambda work, shared, depth, path: abs(work - 1) < _SAME and shared < 1 and depth < 1 and path <= 1 + _SAME,
        caveat=f"{QUARTER} Fusion and asynchrony change the time between iterations, and leave the critical path.",
    )  # fmt: skip


def _placement() -> Insight:
    return _insight(
        "placement", "Disaggregation is for memory and concurrency, not a speedup on its own",
        "Groups of their own need less memory and run side by side; with barriers the iteration is hardly shorter.",
        {
            "peak memory of a group over the co-located one, nothing offloaded":
                _peak(APART, offload=False) / _peak(BASE, offload=False),
            "assessment and training depth over co-located":
                _without_generation(reading=DISAGGREGATED) / _without_generation(),
            "iteration depth over co-located": _path(APART) / _path(BASE),
            "period over critical path, with barriers": _period(APART) / _path(APART),
            "share of the path in which the reference's group waits":
                1 - blocks.depth_forward(Role.REFERENCE).explicit / _path(APART),
        },
        lambda memory, stages, iteration, period, idle: (
            memory < 1 and stages < 1 and iteration > 0.9 and abs(period - 1) < _SAME and idle > 0.5
        ),
        caveat="Where models leave when their stage ends and the caches of generation are the peak, memory stays too.",
    )  # fmt: skip


def _barriers() -> Insight:
    both = replace(COMBINED, sharded=frozenset(), schedule=replace(COMBINED.schedule, staleness=eta + 1))
    return _insight(
        "barriers", "Stage fusion and asynchrony attack different barriers",
        "Fusion overlaps stages of an iteration, asynchrony iterations; each gains, and both together gain more.",
        {
            "fused, as printed, over disaggregated": _printed("stage_fusion") / _path(APART),
            "period at staleness eta over disaggregated": _period(ANY_STALENESS) / _path(APART),
            "period of both at staleness eta + 1 over asynchrony alone": _period(both) / _period(ANY_STALENESS),
            "critical path, fused and asynchronous, over disaggregated":
                Maximum(_path(FUSED), _path(ANY_STALENESS)) / _path(APART),
        },
        lambda fused, stale, together, path: fused < 1 and stale < 1 and together < 1 and abs(path - 1) < _SAME,
        caveat="Neither shortens one iteration: the fused form is a throughput, the asynchronous one a period.",
    )  # fmt: skip


def _actor() -> Insight:
    generation = blocks.depth_generation_tp().explicit
    return _insight(
        "actor",
        "The actor remains the bottleneck",
        "Everything else hides behind generation, and its chain of decode steps remains.",
        {
            "period of the combined row over sharded generation": _period(COMBINED) / generation,
            "generation, sharded over not": generation / blocks.depth_generation().explicit,
            "generation's share of the baseline's path": blocks.depth_generation().explicit / _path(BASE),
        },
        lambda period, sharded, share: abs(period - 1) < _SAME and sharded > 0.5 and share > 0.5,
        caveat="The combined row needs a staleness of two to be that short in general.",
    )


def _freshness() -> Insight:
    weights = blocks.parameter_count(Role.POLICY).explicit
    printed = next(cell for cell in cells() if (cell.row, cell.printed.quantity) == ("async", Quantity.MEMORY))
    return _insight(
        "freshness", "Asynchrony trades freshness for utilisation and memory",
        "The period falls from a sum to a maximum; samples are up to eta updates old, and a copy is kept.",
        {
            "period over synchronous": _period(ANY_STALENESS) / _path(APART),
            "updates that a sample may be old": eta,
            "elements of the actor, copy and training state, over the state": (weights + ADAM_STATES * weights)
            / (ADAM_STATES * weights),
            "peak memory of a group as printed, over the graph's": printed.printed.explicit / printed.honest.explicit,
        },
        lambda period, age, copies, memory: period < 1 and age > 0 and 1 < copies < 2 and memory >= 1,
        caveat="Table IX counts three actors where section IV-E describes two. Drift is no count: what staleness does"
               " to learning has to be measured.",
    )  # fmt: skip


def _roles() -> Insight:
    groups: dict[str, list] = {}
    for live in live_sets(APART, PPO):
        groups.setdefault(live.group, []).append(live)
    peaks = {name: peak(own) for name, own in groups.items()}
    breadth = {stage: stage_cost(PPO, stage, Quantity.WORK, BASELINE).explicit
               / stage_cost(PPO, stage, Quantity.DEPTH, BASELINE).explicit for stage in Stage}  # fmt: skip
    single = Maximum(*(1 / _printed(id) for id in ("disaggregated", "hybrid", "stage_fusion", "async")))
    return _insight(
        "roles", "The best systems are aware of stages and roles",
        "Stages differ in how much can be done at once, roles in what they keep; combining beats each part alone.",
        {
            "work per step of depth, training over generation": breadth[Stage.TRAINING] / breadth[Stage.GENERATION],
            "memory, the policy's group over the reference's": peaks["policy"] / peaks["reference"],
            "depth of the combined row over the best single one, as printed": _printed("combined") * single,
            "peak memory, combined over disaggregated": _peak(COMBINED) / _peak(APART),
        },
        lambda breadth, memory, depth, peak: breadth > 10 and memory > 1 and depth < 1,
        caveat="The paper adds that combining has the smallest peak memory; as printed it has a copy more than"
               " disaggregated models.",
    )  # fmt: skip


def _scarce() -> Insight:
    shared = shared_actor_critic(PPO)
    trained = {algorithm: sum(blocks.parameter_count(role).explicit for role in algorithm.trained_roles)
               for algorithm in (PPO, shared)}  # fmt: skip
    in_a_row = _without_generation(shared)
    return _insight(
        "scarce",
        "A shared actor-critic is effective under resource constraints",
        "On one group it has less state, less work and less depth; against models side by side it is deeper.",
        {
            "trained parameters, shared over separate": trained[shared] / trained[PPO],
            "work, shared over separate": _shared_work(),
            "assessment and training depth, shared over separate, one group": in_a_row / _without_generation(),
            "the same over separate models side by side": in_a_row / _without_generation(reading=DISAGGREGATED),
        },
        lambda state, work, together, apart: state < 1 and work < 1 and together < 1 < apart,
        caveat=QUARTER,
    )


INSIGHTS_INTER: dict[str, Insight] = {
    insight.id: insight
    for insight in (
        _work_stays(), _placement(), _barriers(), _actor(), _freshness(), _roles(), _scarce(),
    )
}  # fmt: skip
