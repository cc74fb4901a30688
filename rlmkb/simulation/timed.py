"""A published step as a source of seconds: the same run under another structure, placement or schedule.

Three phases of a synchronous step are taken from its log, generation, one forward pass and one update. The time of any
other pass follows from its work, and a part of the devices takes longer in proportion, while a decoding step never
gets shorter than its fixed part.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rlmkb.notation import Role
from rlmkb.simulation.lengths import ResponseLengths
from rlmkb.simulation.loop import Execution, simulate
from rlmkb.simulation.result import Simulation
from rlmkb.simulation.services import Decoding, Passes, Service, step_time
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import Call
from rlmkb.theory.graph import IterationGraph, Node

MICRO_BATCHES = 16  # of a pass that need not wait for the whole stage before it


@dataclass(frozen=True)
class TimedStep:
    """A step whose phases were timed with all devices doing one thing at a time.

    Parameters
    ----------
    at : mapping
        Shape of the policy and the workload, from symbol name to number: ``L d d_ff h V B K S T``.
    generation, forward, training : float
        Seconds of generation, of the reference's forward pass, and of the policy's update.
    spread : float
        Of the response lengths, whose mean is T; logs do not tell it.
    limit : float
        The longest response, in means.
    saturation : float
        Time of a decoding step with all rollouts on all devices, over its fixed part.
    """

    at: Mapping[str, int]
    generation: float
    forward: float
    training: float
    spread: float = 0.6
    limit: float = 3.0
    saturation: float = 2.0

    @property
    def rollouts(self) -> int:
        """Of an iteration."""
        return self.at["B"] * self.at["K"]

    @cached_property
    def lengths(self) -> ResponseLengths:
        """Of the responses."""
        return ResponseLengths.with_mean(self.at["T"], self.spread, self.limit * self.at["T"])

    def seconds(self, graph: IterationGraph, sizes: Mapping[str, int] | None = None) -> dict[str, float]:
        """Time of each node, were it alone on all devices.

        Parameters
        ----------
        graph : IterationGraph
            Whose nodes are timed.
        sizes : mapping, optional
            Where models differ from the policy, for example ``{"L_V": 16}``.

        Examples
        --------
        >>> from rlmkb.theory.algorithms import GRPO
        >>> from rlmkb.theory.graph import co_located
        >>> shape = {"L": 30, "d": 4096, "d_ff": 11008, "h": 32, "V": 102400}
        >>> step = TimedStep({**shape, "B": 8, "K": 1, "S": 83, "T": 174}, 27.6, 1.5, 6.8)
        >>> times = step.seconds(IterationGraph(GRPO, co_located(GRPO)))
        >>> times["reference/assessment"], round(times["reward/assessment"], 1)  # without a vocabulary head
        (1.5, 1.4)
        """
        return {node.id: self._seconds(node, {**self.at, **(sizes or {})}) for node in graph.nodes}

    def _seconds(self, node: Node, at: Mapping[str, int]) -> float:
        if node.call.call is Call.VERIFY:
            return 0.0
        block, whose, measured = {
            Call.GENERATE: (blocks.generation, Role.POLICY, self.generation),
            Call.FORWARD: (blocks.forward, Role.REFERENCE, self.forward),
            Call.TRAIN: (blocks.training, Role.POLICY, self.training),
        }[node.call.call]
        ratio = block(node.role).evaluate(at) / block(whose).evaluate(self.at)
        return float(measured * ratio * float(node.call.repeats))

    def services(
        self, graph: IterationGraph, devices: Mapping[str, float] | None = None,
        sizes: Mapping[str, int] | None = None,
    ) -> dict[str, Service]:  # fmt: skip
        """Services for `simulate`.

        Parameters
        ----------
        graph : IterationGraph
            Whose nodes are served.
        devices : mapping, optional
            From group to its speed, 1 being that of all devices of the run; default: 1 for each group.
        sizes : mapping, optional
            As of `seconds`.
        """
        times = self.seconds(graph, sizes)
        tokens = self.rollouts * (self.at["S"] + float(self.lengths.mean))
        out: dict[str, Service] = {}
        for node in graph.nodes:
            share = (devices or {}).get(node.group, 1.0)
            if node.call.call is Call.GENERATE:
                out[node.id] = self._decoding(times[node.id], share)
                continue
            waits = node.stage in graph.schedule.stage_barriers
            batch = None if waits else max(self.rollouts // MICRO_BATCHES, 1)
            out[node.id] = Passes(per_token=times[node.id] / share / tokens, batch=batch)
        return out

    def _decoding(self, seconds: float, share: float) -> Decoding:
        rate = self.saturation / self.rollouts
        fixed = seconds / float(self.lengths.decoding_time(self.rollouts, 1.0, rate))
        return Decoding(step_time(fixed, fixed * rate / share))

    def generation_time(self, share: float) -> float:
        """Expected time to generate an iteration's responses on a share of the devices.

        Examples
        --------
        A step that is never bound by arithmetic does not get longer on fewer devices:

        >>> step = TimedStep({"B": 8, "K": 1, "S": 83, "T": 174}, 10.0, 1.0, 5.0, saturation=0.1)
        >>> round(step.generation_time(0.25), 6)
        10.0
        """
        rate = self.saturation / self.rollouts
        longer, base = (self.lengths.decoding_time(self.rollouts, 1.0, each) for each in (rate / share, rate))
        return float(self.generation * longer / base)

    def balanced(self, graph: IterationGraph, sizes: Mapping[str, int] | None = None) -> dict[str, float]:
        """Shares of the devices that make all groups busy for equally long.

        Parameters
        ----------
        graph : IterationGraph
            Whose groups share the devices.
        sizes : mapping, optional
            As of `seconds`.

        Returns
        -------
        dict
            From group to share; they add up to 1, and devices are taken to be divisible.
        """
        from scipy.optimize import brentq

        times = self.seconds(graph, sizes)
        passes = {name: sum(times[node.id] for node in nodes if node.call.call is not Call.GENERATE)
                  for name, nodes in graph.groups.items()}  # fmt: skip
        maker = next((node.group for node in graph.nodes if node.call.call is Call.GENERATE), None)
        if maker is None:
            total = sum(passes.values())
            return {name: seconds / total for name, seconds in passes.items()}
        others = {name: seconds for name, seconds in passes.items() if name != maker}

        def busy(share: float) -> float:
            return self.generation_time(share) + passes[maker] / share

        def excess(share: float) -> float:
            return share + sum(others.values()) / busy(share) - 1

        share = brentq(excess, 1e-3, 1.0) if sum(others.values()) else 1.0
        return {name: share if name == maker else passes[name] / busy(share) for name in graph.groups}

    def run(
        self, graph: IterationGraph, devices: Mapping[str, float] | None = None,
        sizes: Mapping[str, int] | None = None, *, iterations: int = 12, seed: int = 0,
        execution: Execution | None = None,
    ) -> Simulation:  # fmt: skip
        """Simulate the run under a graph.

        Parameters
        ----------
        graph : IterationGraph
            Structure, placement and schedule.
        devices, sizes : mapping, optional
            As of `services`.
        iterations, seed : int
            How many, and the seed of the response lengths.
        execution : Execution, optional
            As of `simulate`.
        """
        lengths = self.lengths.sample((iterations, self.rollouts), seed)
        services = self.services(graph, devices, sizes)
        return simulate(graph, services, np.asarray(lengths), prompt=self.at["S"], execution=execution)
