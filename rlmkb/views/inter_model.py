"""Inter-model parallelism as rows: depths of the configurations, model structures and placements side by side."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import sympy

from rlmkb.notation import Role
from rlmkb.theory.algorithms import PPO, Algorithm
from rlmkb.theory.configurations import CONFIGURATIONS, Configuration
from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.formula import Quantity, to_latex
from rlmkb.theory.functions import Maximum
from rlmkb.theory.iteration import BASELINE, iteration_cost
from rlmkb.theory.residency import Live, live_sets, peak
from rlmkb.theory.table_nine import end_to_end

if TYPE_CHECKING:
    import pandas as pd

    from rlmkb.simulation import Simulation
    from rlmkb.simulation.timed import TimedStep
    from rlmkb.theory.graph import IterationGraph, Placement

At = Mapping[str, object]


def readings(at: At, algorithm: Algorithm = PPO) -> list[dict[str, object]]:
    """The end-to-end depth of each configuration as section IV-F has it, and both honest readings of its graph.

    Parameters
    ----------
    at : mapping
        From symbol name to number.
    algorithm : Algorithm
        What runs.

    Returns
    -------
    list of dict
        A row for each configuration: the value of the printed formula, the critical path of one iteration, the period
        in the long run, and which of the two the printed value is.

    Examples
    --------
    >>> point = {"L": 2, "d": 256, "d_ff": 1024, "h": 4, "V": 512, "B": 1, "K": 1, "S": 64, "T": 64, "P_t": 1}
    >>> [row["printed is"] for row in readings(point)][-2:]
    ['period', 'period']
    """
    rows = []
    for configuration in CONFIGURATIONS.values():
        if configuration.id == "ac_shared" and Role.CRITIC not in algorithm.roles:
            continue
        printed = end_to_end(configuration, algorithm)
        parts = configuration.parts(algorithm)
        exprs = configuration.critical_path(algorithm), configuration.period(algorithm)
        path, period = (_value(expr, parts, at) for expr in exprs)
        value = float(printed.evaluate(at))
        rows.append({
            "configuration": configuration.title, "printed (steps)": value, "critical path (steps)": path,
            "period (steps)": period, "printed is": _which(value, path, period),
        })  # fmt: skip
    return rows


def end_to_end_rows(algorithm: Algorithm = PPO) -> list[dict[str, object]]:
    """The end-to-end depth of each configuration, as a formula in the building blocks of table III.

    Examples
    --------
    >>> [row["configuration"] for row in end_to_end_rows()][-1]
    'all combined'
    """
    rows = []
    for configuration in CONFIGURATIONS.values():
        depth = end_to_end(configuration, algorithm)
        rows.append({"configuration": configuration.title, "depth": f"${to_latex(depth.expr, depth.where)}$"})
    return rows


def _value(expr: sympy.Expr, parts: Iterable, at: At) -> float:
    return float(evaluate(expr.xreplace({part.handle: part.explicit for part in parts}), at))


def _which(value: float, path: float, period: float) -> str:
    names = [name for name, other in (("critical path", path), ("period", period)) if abs(value / other - 1) < 1e-12]
    return " = ".join(names) or "neither"


def structure_rows(structures: Mapping[str, tuple[Algorithm, At]]) -> list[dict[str, object]]:
    """Model structures on one device group: what each runs, computes and holds.

    Parameters
    ----------
    structures : mapping
        From a name to the edited algorithm and the sizes of its models.

    Returns
    -------
    list of dict
        Invocations, work over the first structure's, depth, peak memory with idle models moved out, and
        the weights of all models with their training state, in billions of elements.

    Examples
    --------
    >>> point = {"L": 2, "d": 256, "d_ff": 1024, "h": 4, "V": 512, "B": 1, "K": 1, "S": 64, "T": 64}
    >>> rows = structure_rows({"PPO": (PPO, point), "GRPO": (PPO.without(Role.CRITIC), point)})
    >>> [row["invocations"] for row in rows]
    [6, 4]
    """
    rows, first = [], None
    for name, (algorithm, at) in structures.items():
        alone = Configuration(name, name)
        work = float(iteration_cost(algorithm, Quantity.WORK, BASELINE).evaluate(at))
        first = first or work
        rows.append({
            "structure": name, "invocations": len(algorithm.invocations), "work (%)": 100 * work / first,
            "depth (steps)": _value(alone.critical_path(algorithm), alone.parts(algorithm), at),
            "peak ($10^9$)": peak_memory(live_sets(alone, algorithm), at) / 1e9,
            "state ($10^9$)": resident_memory(live_sets(alone, algorithm, offload=False), at) / 1e9,
        })  # fmt: skip
    return rows


def peak_memory(lives: Iterable[Live], at: At, replicas: int = 1) -> float:
    """The largest of several live sets, or that of one of several data-parallel replicas.

    Examples
    --------
    >>> point = {"L": 1, "d": 2, "d_ff": 8, "V": 10, "m": 4, "B": 8, "K": 1, "h": 1}
    >>> lives = live_sets(CONFIGURATIONS["baseline"], PPO)
    >>> [peak_memory(lives, point, replicas) for replicas in (1, 2)]  # 4 (68 + 70) = 552 stay, 128 are shared out
    [680.0, 616.0]
    """
    lives = list(lives)
    return float(evaluate(peak(lives) if replicas == 1 else Maximum(*(one.per_replica(replicas) for one in lives)), at))


def resident_memory(lives: Iterable[Live], at: At) -> float:
    """The most weights, with their training state, that are on a group at one time."""
    return max(_value(one.resident, one.parts, at) for one in lives)


def placement_rows(
    placements: Mapping[str, "Placement"], at: At, algorithm: Algorithm = PPO
) -> list[dict[str, object]]:
    """Placements without any other overlap: critical path, and memory of the fullest group in billions of elements.

    Parameters
    ----------
    placements : mapping
        From a name to a placement of the algorithm.
    at : mapping
        From symbol name to number.
    algorithm : Algorithm
        What runs.

    Examples
    --------
    >>> from rlmkb.theory.graph import co_located, disaggregated
    >>> point = {"L": 2, "d": 256, "d_ff": 1024, "h": 4, "V": 512, "B": 1, "K": 1, "S": 64, "T": 64}
    >>> rows = placement_rows({"one group": co_located(PPO), "four": disaggregated(PPO)}, point)
    >>> [row["groups"] for row in rows], rows[0]["depth (steps)"] > rows[1]["depth (steps)"]
    ([1, 4], True)
    """
    rows = []
    for name, placement in placements.items():
        alone = Configuration(name, name, placement=lambda _, placement=placement: placement)
        moved, kept = (live_sets(alone, algorithm, offload=offload) for offload in (True, False))
        rows.append({
            "placement": name, "groups": len(set(placement.values())),
            "depth (steps)": _value(alone.critical_path(algorithm), alone.parts(algorithm), at),
            "moved out ($10^9$)": peak_memory(moved, at) / 1e9, "all kept ($10^9$)": peak_memory(kept, at) / 1e9,
            "state of all groups ($10^9$)": sum(
                resident_memory([one for one in kept if one.group == group], at)
                for group in dict.fromkeys(one.group for one in kept)
            ) / 1e9,
        })  # fmt: skip
    return rows


def use_rows(results: Mapping[str, "Simulation"], devices: Mapping[str, Mapping[str, float]]) -> list[dict]:
    """How the groups of simulated runs lose time, a row for each group.

    Parameters
    ----------
    results : mapping
        From a name to a simulation.
    devices : mapping
        From the same names to each group's share of the devices.
    """
    return [
        {"placement": name, "group": group, "devices (%)": 100 * devices[name][group],
         # not at full speed; the last digits may be noise around zero
         "slower (%)": round(100 * abs(use.underused), 6), "idle (%)": round(100 * abs(use.idle), 6)}
        for name, result in results.items() for group, use in result.use.items()
    ]  # fmt: skip


def period_rows(
    graphs: Mapping[str, "IterationGraph"], runs: Mapping[str, "Simulation"], step: "TimedStep"
) -> list[dict[str, object]]:
    """Configurations in seconds, a pool of devices for each group: by the graph, and played.

    Parameters
    ----------
    graphs, runs : mapping
        From a configuration's name to its graph, and to a simulation of it.
    step : TimedStep
        Where the seconds are from.

    Returns
    -------
    list of dict
        Critical path and period of the graph, the period as played, and the share of time that groups idle on average.
    """
    from rlmkb.simulation.analytic import period

    rows = []
    for name, graph in graphs.items():
        seconds = step.seconds(graph)
        path = graph.critical_path(lambda node, seconds=seconds: sympy.Float(seconds[node.id])).expr
        idle = [use.idle for use in runs[name].use.values()]
        rows.append({
            "configuration": name, "groups": len(graph.groups), "critical path (s)": float(sympy.N(path.doit())),
            "period (s)": float(period(graph, seconds)), "played (s)": runs[name].period,
            "idle (%)": 100 * sum(idle) / len(idle),
        })  # fmt: skip
    return rows


def timed_step(run: "pd.Series") -> "TimedStep":
    """A row of the file of phase times as a source of seconds; mean lengths rounded to whole tokens.

    Examples
    --------
    >>> from rlmkb.measurements import measurements
    >>> timed_step(measurements("rl_phase_times").iloc[0]).rollouts
    1024
    """
    from rlmkb.simulation.timed import TimedStep

    shape = {name: int(run[name]) for name in ("L", "d", "d_ff", "h", "V", "B", "K")}
    at = {**shape, "S": round(run["S_mean"]), "T": round(run["T_mean"])}
    return TimedStep(at, float(run["generation_s"]), float(run["reference_s"]), float(run["policy_training_s"]))


def by_network(algorithm: Algorithm) -> "Placement":
    """A group for each network: policy and critic share one where they share layers.

    Examples
    --------
    >>> from rlmkb.theory.structures import partly_shared_actor_critic
    >>> sorted(set(by_network(partly_shared_actor_critic(PPO)).values()))
    ['actor and critic', 'reference', 'reward']
    """
    from rlmkb.theory.placements import grouped
    from rlmkb.theory.structures import ACTOR_AND_CRITIC

    joint = (Role.ACTOR_CRITIC, *ACTOR_AND_CRITIC) if Role.ACTOR_CRITIC in algorithm.roles else ()
    groups = {"actor and critic": joint} if joint else {}
    return grouped(algorithm, groups | {role.value: (role,) for role in algorithm.roles if role not in joint})


def moved(step: "TimedStep", *, was: str, rollout: str, trainer: str) -> "TimedStep":
    """A timed step, were it on other devices, one for one and at peak rates.

    Generation goes with memory bandwidth, passes over whole sequences with arithmetic.

    Parameters
    ----------
    step : TimedStep
        As measured.
    was, rollout, trainer : str
        Devices of the catalogue: that of the run, and those for generation and for all other passes.

    Examples
    --------
    >>> from rlmkb.simulation.timed import TimedStep
    >>> step = TimedStep({}, generation=30.0, forward=1.0, training=4.0)
    >>> moved(step, was="h100-sxm5-80gb", rollout="h200-sxm-141gb", trainer="h100-sxm5-80gb").training
    4.0
    """
    from rlmkb.views.strategies import rates

    old, decodes, passes = (rates(device) for device in (was, rollout, trainer))
    slower = old.flops / passes.flops
    return replace(step, generation=step.generation * old.memory / decodes.memory, forward=step.forward * slower,
                   training=step.training * slower)  # fmt: skip
