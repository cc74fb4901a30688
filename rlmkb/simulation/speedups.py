"""What overlap alone is worth: a system and its baseline on the same devices, with the same times of passes.

Device time is conserved: a part of the devices takes longer for the same passes, in proportion, while a decoding
step never gets shorter than its fixed part. Faster engines, layouts and kernels are outside.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType

import numpy as np
import sympy

from rlmkb.notation import Role, Stage
from rlmkb.simulation.lengths import ResponseLengths
from rlmkb.simulation.loop import Execution, simulate
from rlmkb.simulation.result import Simulation
from rlmkb.simulation.services import Decoding, Passes, Service, step_time
from rlmkb.theory.algorithms import GRPO, PPO, Algorithm
from rlmkb.theory.graph import IterationGraph, Schedule, co_located

ITERATIONS, ROLLOUTS, MEDIAN, SEED = 32, 256, 1000, 0
MICRO_BATCHES = 16  # of a fused update
SHARES = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)

# a verifier in place of the reward model, log-probabilities recomputed in a pass of their own
CRITIC_FREE = GRPO.without(Role.REFERENCE).with_verifier().with_recomputed_log_probs()


@dataclass(frozen=True)
class Setting:
    """One system and its baseline, on the same devices.

    Parameters
    ----------
    generation, assessment, training, other : float
        Seconds of the synchronous baseline, in which all devices do one thing at a time; `other` does not scale.
    spread, limit : float
        Of the response lengths; the limit in medians.
    saturation : float
        Time of a decoding step with all rollouts on all devices, over its fixed part.
    share : float, optional
        Of the devices that generate (fused: that assess while others generate); default: the best one.
    staleness : int
        Updates that weights may be old.
    execution : Execution
        How rollouts move.
    against : Execution, optional
        The baseline is the same system with rollouts that move so; default: the synchronous one.
    own : mapping
        Seconds that the system itself was measured to take for a stage, on the devices that it gives it.
    bubble : float
        Share of a training pass in which devices wait; only fused training fills it.
    fused : bool
        Stage fusion on the same devices in place of a split between generation and training.
    """

    generation: float = 1.0
    assessment: float = 0.1
    training: float = 1.0
    other: float = 0.0
    spread: float = 0.8
    limit: float = 8.0
    saturation: float = 2.0
    share: float | None = None
    staleness: int = 1
    execution: Execution = field(default_factory=Execution)
    against: Execution | None = None
    own: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    bubble: float = 0.0
    fused: bool = False

    @property
    def lengths(self) -> ResponseLengths:
        """Of the responses, in tokens."""
        return _lengths(self.spread, self.limit)

    def decoding(self, devices: float, seconds: float | None = None) -> Decoding:
        """Generation on a share of the devices, or in a given time."""
        per_sequence = self.saturation / ROLLOUTS / devices
        base = self.lengths.decoding_time(ROLLOUTS, 1.0, self.saturation / ROLLOUTS)
        fixed = self.generation / base
        if seconds is not None:
            fixed = seconds / self.lengths.decoding_time(ROLLOUTS, 1.0, per_sequence)
        return Decoding(step_time(float(fixed), float(fixed * per_sequence)))

    def passes(self, seconds: float, devices: float, **options: float) -> Passes:
        """Passes of an iteration that take this long on all devices."""
        return Passes(per_token=float(seconds / devices / ROLLOUTS / self.lengths.mean), **options)


def speedup(setting: Setting) -> float:
    """Time of the baseline's iteration over the system's, in the long run.

    Parameters
    ----------
    setting : Setting
        Both of them.

    Examples
    --------
    Equal lengths and equal halves of an iteration, each on half of the devices, gain nothing:

    >>> even = Setting(assessment=0.0, spread=0.0, saturation=8.0, share=0.5)
    >>> round(speedup(even), 2)
    1.0

    Where a decoding step does not get longer on fewer devices, they do:

    >>> round(speedup(replace(even, saturation=0.25, share=0.25)), 2)
    1.5
    """
    return gains(setting)[0]


def gains(setting: Setting) -> tuple[float, float]:
    """`speedup` and `ceiling` of a setting, for which the baseline runs once.

    Examples
    --------
    >>> found, most = gains(Setting(assessment=0.0, spread=0.0, saturation=8.0, share=0.5))
    >>> round(found, 2), round(most, 2)
    (1.0, 1.0)
    """
    system, baseline = _fused if setting.fused else _split, _reference(setting).period
    if setting.share is None:
        shortest = lowest(lambda place: system(setting, SHARES[place]).period, len(SHARES))
    else:
        shortest = system(setting, setting.share).period
    return baseline / shortest, baseline / _least(setting)


def lowest(value: Callable[[int], float], count: int) -> float:
    """The lowest value on the places 0 to count - 1, of values that fall and then rise: down from the middle.

    Fewer devices make one side of a split slower and the other faster, so periods over `SHARES` are of this kind.

    Examples
    --------
    >>> asked = []
    >>> lowest(lambda place: asked.append(place) or abs(place - 3), 9), asked
    (0, [4, 3, 2])
    """
    middle = count // 2
    best = value(middle)
    for step in (-1, 1):
        place = middle + step
        while 0 <= place < count and (found := value(place)) < best:
            best, place = found, place + step
        if place != middle + step:  # it fell on this side, so it rises on the other
            break
    return best


def ceiling(setting: Setting) -> float:
    """The most that any schedule of the same passes on the same devices could gain over the baseline.

    All devices then work at their best rate all the time.

    Examples
    --------
    >>> round(ceiling(Setting(assessment=0.0, spread=0.0, saturation=8.0)), 2)
    1.0
    """
    return _reference(setting).period / _least(setting)


def _least(setting: Setting) -> float:
    """Device time of an iteration in which all devices work at their best rate."""
    full = float(setting.decoding(1.0).step(10**9)) / 10**9  # of a token where many decode together
    useful = full * float(setting.lengths.mean) * ROLLOUTS
    return useful + setting.assessment + (1 - setting.bubble) * setting.training


def _reference(setting: Setting) -> Simulation:
    """What the system is compared with."""
    if setting.against is None:
        return _baseline(setting)
    return _split(replace(setting, execution=setting.against), setting.share)


@cache
def _lengths(spread: float, limit: float) -> ResponseLengths:
    return ResponseLengths(MEDIAN, spread, limit * MEDIAN)


@cache
def _responses(spread: float, limit: float) -> np.ndarray:
    return _lengths(spread, limit).sample((ITERATIONS, ROLLOUTS), SEED)


def _run(setting: Setting, graph: IterationGraph, services: Mapping[str, Service], execution: Execution) -> Simulation:
    return simulate(graph, services, _responses(setting.spread, setting.limit), execution=execution)


def _services(setting: Setting, algorithm: Algorithm, stages: Mapping[Stage, Callable[[int], Service]]) -> dict:
    """A service for each node, from its stage's, which is told how many nodes share the stage's time."""
    nodes = IterationGraph(algorithm, co_located(algorithm)).nodes
    weights = {node.id: node.role is not Role.VERIFIER for node in nodes}
    count = {stage: sum(weights[node.id] for node in nodes if node.stage is stage) for stage in Stage}
    return {node.id: stages[node.stage](count[node.stage]) if weights[node.id] else Passes() for node in nodes}


def _baseline(setting: Setting) -> Simulation:
    algorithm = PPO if setting.fused else CRITIC_FREE
    services = _services(setting, algorithm, {
        Stage.GENERATION: lambda n: setting.decoding(1.0),
        Stage.ASSESSMENT: lambda n: setting.passes(setting.assessment / n, 1.0),
        Stage.TRAINING: lambda n: setting.passes(setting.training / n, 1.0, overhead=setting.other / n),
    })  # fmt: skip
    return _run(setting, IterationGraph(algorithm, co_located(algorithm)), services, Execution())


def _split(setting: Setting, share: float) -> Simulation:
    """Generation on a share of the devices, everything else on the rest."""
    own = setting.own
    placement = {(call.role, call.stage): "rollout" if call.stage is Stage.GENERATION else "trainer"
                 for call in CRITIC_FREE.invocations}  # fmt: skip
    graph = IterationGraph(CRITIC_FREE, placement, Schedule(frozenset(), staleness=sympy.Integer(setting.staleness)))

    def passes(stage: Stage, seconds: float, **options: float) -> Passes:
        if stage.value in own:
            return setting.passes(own[stage.value], 1.0, **options)
        return setting.passes(seconds, 1 - share, **options)

    services = _services(setting, CRITIC_FREE, {
        Stage.GENERATION: lambda n: setting.decoding(share, own.get("generation")),
        Stage.ASSESSMENT: lambda n: passes(Stage.ASSESSMENT, setting.assessment),
        Stage.TRAINING: lambda n: passes(Stage.TRAINING, setting.training, overhead=own.get("other", setting.other)),
    })  # fmt: skip
    return _run(setting, graph, services, setting.execution)


def _fused(setting: Setting, share: float) -> Simulation:
    """Assessment on a share of the devices while the others generate; then all train, actor and critic in turns."""
    names = {Stage.GENERATION: "generating", Stage.ASSESSMENT: "assessing", Stage.TRAINING: "training"}
    placement = {(call.role, call.stage): names[call.stage] for call in PPO.invocations}
    schedule = Schedule(frozenset({Stage.TRAINING}), interleaved=frozenset({Stage.ASSESSMENT, Stage.TRAINING}))
    services = _services(setting, PPO, {
        Stage.GENERATION: lambda n: setting.decoding(1 - share),
        Stage.ASSESSMENT: lambda n: setting.passes(setting.assessment / n, share, batch=8),
        Stage.TRAINING: lambda n: setting.passes(setting.training / n, 1.0, batch=ROLLOUTS // MICRO_BATCHES,
                                                 bubble=setting.bubble),
    })  # fmt: skip
    return _run(setting, IterationGraph(PPO, placement, schedule), services, Execution())
