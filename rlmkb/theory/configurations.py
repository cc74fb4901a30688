"""Table IX: configurations of an iteration, and the reading that each printed row takes.

A configuration is a model structure, a placement, a schedule and a layout per stage. Its work, critical path, period
and memory follow from the graph; what the paper prints is one reading of them, and is said so.
"""

from collections.abc import Callable
from dataclasses import dataclass

import sympy

from rlmkb.notation import Stage
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import Algorithm, Call
from rlmkb.theory.chains import Chains, longest
from rlmkb.theory.formula import Formula
from rlmkb.theory.functions import Maximum
from rlmkb.theory.graph import (
    SYNCHRONOUS,
    IterationGraph,
    Node,
    Placement,
    Schedule,
    co_located,
    disaggregated,
    split_by_stage,
)
from rlmkb.theory.structures import shared_actor_critic


def _unchanged(algorithm: Algorithm) -> Algorithm:
    return algorithm


@dataclass(frozen=True)
class Configuration:
    """One row of table IX.

    Parameters
    ----------
    id, title : str
        Row id and name in words.
    structure : callable
        Edit of the algorithm's invocations.
    placement : callable
        From an algorithm to its placement.
    schedule : Schedule
        Which barriers stand.
    sharded : frozenset of Stage
        Stages in a tensor-parallel layout.
    depth_reading : str
        What the printed depth is.
    caveat : str, optional
        Where the printed row and the graph differ.
    """

    id: str
    title: str
    structure: Callable[[Algorithm], Algorithm] = _unchanged
    placement: Callable[[Algorithm], Placement] = co_located
    schedule: Schedule = SYNCHRONOUS
    sharded: frozenset[Stage] = frozenset()
    depth_reading: str = "critical path, stage by stage"
    caveat: str | None = None

    def graph(self, algorithm: Algorithm) -> IterationGraph:
        """The graph of an algorithm under this configuration."""
        edited = self.structure(algorithm)
        return IterationGraph(edited, self.placement(edited), self.schedule)

    def depth_of(self, node: Node) -> Formula:
        """The building block that is a node's depth, in the layout of its stage.

        Examples
        --------
        >>> from rlmkb.theory.algorithms import GRPO
        >>> CONFIGURATIONS["hybrid"].depth_of(CONFIGURATIONS["hybrid"].graph(GRPO).nodes[0]).name
        'D_gen_tp'
        """
        sharded = node.stage in self.sharded
        if node.call.call is Call.GENERATE:
            return (blocks.depth_generation_tp if sharded else blocks.depth_generation)(node.role)
        if node.call.call is Call.FORWARD:
            return (blocks.depth_forward_tp if sharded else blocks.depth_forward)(node.role)
        return blocks.depth_training(node.role, node.call.sequences)

    def _duration(self, node: Node) -> sympy.Expr:
        repeats = node.call.repeats if node.call.call is Call.TRAIN else 1
        return sympy.S.Zero if node.call.call is Call.VERIFY else repeats * self.depth_of(node).handle

    def critical_path(self, algorithm: Algorithm) -> sympy.Expr:
        """Depth of one iteration alone, in the handles of table III.

        Examples
        --------
        >>> from rlmkb.theory.algorithms import GRPO
        >>> same = CONFIGURATIONS["baseline"].critical_path(GRPO) == CONFIGURATIONS["async"].critical_path(GRPO)
        >>> same  # asynchrony changes the period; side by side, assessment is a maximum
        False
        """
        return self.graph(algorithm).critical_path(self._duration).expr

    def period(self, algorithm: Algorithm) -> sympy.Expr:
        """Depth between iterations in the long run."""
        return self.graph(algorithm).period(self._duration)

    def stage_depth(self, algorithm: Algorithm, stage: Stage) -> sympy.Expr:
        """Depth of one stage alone."""
        return self.graph(algorithm).stage_path(stage, self._duration).expr

    def streamed_depth(self, algorithm: Algorithm, stages: tuple[Stage, ...]) -> sympy.Expr:
        """Depth of stages that run at the same time on a stream of samples: the longest of all their parts."""
        graph = self.graph(algorithm)
        parts = (Chains.of(self._duration(node)) for stage in stages for node in graph.at(stage))
        return longest(parts).expr if stages else Maximum(sympy.S.Zero)

    def parts(self, algorithm: Algorithm) -> tuple[Formula, ...]:
        """The formulas whose handles the depths are written in."""
        nodes = (node for node in self.graph(algorithm).nodes if node.call.call is not Call.VERIFY)
        return tuple({formula.handle: formula for formula in map(self.depth_of, nodes)}.values())


G, A, T = Stage.GENERATION, Stage.ASSESSMENT, Stage.TRAINING
NO_BARRIER = frozenset()

CONFIGURATIONS: dict[str, Configuration] = {
    configuration.id: configuration
    for configuration in (
        Configuration("baseline", "co-located baseline"),
        Configuration("ac_shared", "shared actor-critic", structure=shared_actor_critic,
                      caveat="Costs more work than separate models where C_f(V) < C_f(pi)/4."),
        Configuration("disaggregated", "disaggregated models", placement=disaggregated),
        Configuration("hybrid", "a layout per stage", sharded=frozenset({G, A}),
                      caveat="The buffer for resharding (appendix B-D5) is not in the printed memory."),
        Configuration(
            "stage_fusion", "stage fusion", placement=disaggregated,
            schedule=Schedule(NO_BARRIER, interleaved=frozenset({T})),
            depth_reading="ideal throughput of a stream of samples: the longest part",
            caveat="No single chain: the longest rollout ends before it is scored, so the critical path is"
                   " generation plus the longest assessment. Both are live together: their memory adds up.",
        ),
        Configuration(
            "async", "asynchronous execution", placement=split_by_stage,
            schedule=Schedule(staleness=sympy.S.One, rollout_barrier=True),
            depth_reading="period in the long run at staleness 1, assessment before the next generation",
            caveat="Not a critical path. The generation group is printed with the policy and its shadow copy:"
                   " three actors where section IV-E describes two.",
        ),
        Configuration(
            "combined", "all combined", placement=split_by_stage,
            schedule=Schedule(NO_BARRIER, staleness=sympy.Integer(2)), sharded=frozenset({G}),
            depth_reading="period in the long run at staleness 2 or more, samples streamed",
            caveat="Not a critical path. At staleness 1 the period is half a critical path where that is longer.",
        ),
    )
}  # fmt: skip
