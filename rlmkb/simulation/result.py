"""What a simulation has found: times and versions of every sample, and what follows from them."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rlmkb.notation import Stage
from rlmkb.theory.graph import IterationGraph

if TYPE_CHECKING:
    from rlmkb.simulation.loop import Loop


@dataclass(frozen=True)
class GroupUse:
    """How a group spends its time, as shares that sum to 1.

    Parameters
    ----------
    useful : float
        At full speed: passes without their bubbles; decoding at the highest rate of tokens that it reaches.
    underused : float
        Something runs, but slower than the devices could: the tail of generation, bubbles of a pipeline.
    idle : float
        Nothing runs, or new weights are being loaded.
    """

    useful: float
    underused: float
    idle: float


@dataclass(frozen=True, eq=False)
class Simulation:
    """The outcome of `simulate`; arrays over samples are in the order in which samples started.

    Parameters
    ----------
    graph : IterationGraph
        What ran.
    started, generated, assessed : numpy.ndarray
        When each sample started, when its response was complete, and when all of its assessment was done.
    batch : numpy.ndarray of int
        The iteration that trained on each sample, from 0.
    version : numpy.ndarray of int
        Updates that the weights had seen with which each sample was started.
    updates : numpy.ndarray
        When each iteration's training ended, of all models.
    segments : dict of str to numpy.ndarray
        From node to rows of iteration, start and end. Generation of an iteration lasts from the start of its first
        rollout to the end of its last; other nodes have a row for passes that follow each other without a gap.
    loads : numpy.ndarray
        The clock of generation, in tokens, and the version, at each load of new weights.
    spans : numpy.ndarray
        Clock at each sample's start and end; two columns, no row without generation.
    useful_seconds : dict of str to float
        From node to the time its work takes at full speed.
    """

    graph: IterationGraph
    started: np.ndarray
    generated: np.ndarray
    assessed: np.ndarray
    batch: np.ndarray
    version: np.ndarray
    updates: np.ndarray
    segments: dict[str, np.ndarray]
    loads: np.ndarray
    spans: np.ndarray
    useful_seconds: dict[str, float]

    @property
    def makespan(self) -> float:
        """When the last iteration's training ended."""
        return float(self.updates[-1])

    @property
    def period(self) -> float:
        """Time between updates in the long run: over the middle half of the iterations.

        At the start nothing is under way yet, at the end nothing new begins.
        """
        last = len(self.updates) - 1
        skip = last // 4
        if not last:
            return self.makespan
        return float((self.updates[last - skip] - self.updates[skip]) / (last - 2 * skip))

    @property
    def latency(self) -> np.ndarray:
        """Time of each sample from its start to the end of the update that trains on it."""
        return self.updates[self.batch] - self.started

    @property
    def staleness(self) -> np.ndarray:
        """Updates between the weights with which each sample was started and those that it trains."""
        return self.batch - self.version

    @property
    def most_waiting(self) -> int:
        """Samples that were complete but not yet assessed, at most: what lies between the stages."""
        ends = np.sort(self.generated)
        complete = np.arange(1, len(ends) + 1)
        return int((complete - np.searchsorted(np.sort(self.assessed), ends, side="right")).max())

    @cached_property
    def staleness_histogram(self) -> np.ndarray:
        """Share of the tokens trained on by their own staleness, from 0 up; of the samples without generation.

        An interrupted response has tokens of several versions.
        """
        if not len(self.spans):
            return np.bincount(self.staleness) / len(self.batch)
        clocks, versions = self.loads.T
        ends = np.append(clocks[1:], np.inf)
        first = np.searchsorted(clocks, self.spans[:, 0], side="right") - 1
        histogram = np.zeros(int(self.staleness.max()) + 1)
        going = np.arange(len(first))
        load = first
        while len(going):  # one load after the other, for the samples that lived to see it
            begin, end = np.maximum(self.spans[going, 0], clocks[load]), np.minimum(self.spans[going, 1], ends[load])
            stale = (self.batch[going] - versions[load]).astype(int)
            np.add.at(histogram, np.maximum(stale, 0), np.maximum(end - begin, 0))
            more = self.spans[going, 1] > ends[load]
            going, load = going[more], load[more] + 1
        return histogram / histogram.sum()

    @cached_property
    def use(self) -> dict[str, GroupUse]:
        """How each group spends its time until the last update."""
        return {name: self._use(name) for name in self.graph.groups}

    def _use(self, group: str) -> GroupUse:
        nodes = self.graph.groups[group]
        useful = sum(self.useful_seconds[node.id] for node in nodes) / self.makespan
        passes = [self.segments[node.id][:, 1:] for node in nodes if node.stage is not Stage.GENERATION]
        decoding = [np.stack([self.started, self.generated], axis=1)] if len(passes) < len(nodes) else []
        busy = covered(*np.concatenate(passes + decoding).T) / self.makespan
        return GroupUse(useful, busy - useful, 1 - busy)

    def running(self, times: np.ndarray) -> np.ndarray:
        """How many rollouts are being generated at given times."""
        started, ended = np.sort(self.started), np.sort(self.generated)
        return np.searchsorted(started, times, side="right") - np.searchsorted(ended, times, side="right")


def covered(starts: np.ndarray, ends: np.ndarray) -> float:
    """Total length of the union of intervals.

    Examples
    --------
    >>> covered(np.array([0.0, 1.0, 5.0]), np.array([2.0, 3.0, 6.0]))
    4.0
    """
    order = np.argsort(starts)
    starts, reached = starts[order], np.maximum.accumulate(ends[order])
    gaps = np.maximum(starts[1:] - reached[:-1], 0).sum()
    return float(reached[-1] - starts[0] - gaps)


def collect(loop: "Loop") -> Simulation:
    """The outcome of a loop that has run."""
    segments, useful = {}, {}
    started, version = loop.started, loop.versions
    for name, worker in loop.workers.items():
        if worker is not loop.decoder:
            parts = np.concatenate(worker.segments)
            useful[name] = float((1 - worker.service.bubble) * (parts[:, 2] - parts[:, 1]).sum())
            segments[name] = parts
    if loop.decoder is None:
        version = np.searchsorted(loop.updates, started, side="right")
        return Simulation(loop.graph, started, started, loop.assessed, loop.batch_of, version, loop.updates, segments,
                          np.zeros((1, 2)), np.zeros((0, 2)), useful)  # fmt: skip
    decoder = loop.decoder
    ended, begin = np.array(decoder.ended), np.array(decoder.clock_at_start)
    order = np.argsort(loop.batch_of, kind="stable").reshape(loop.lengths.shape)
    iterations = np.arange(loop.iterations)
    rates = [count / step for count, step in enumerate(decoder.steps) if count and step]
    useful[decoder.node.id] = float(loop.lengths.sum() / max(rates)) if rates else 0.0
    segments[decoder.node.id] = np.stack([iterations, started[order].min(axis=1), ended[order].max(axis=1)], axis=1)
    return Simulation(
        loop.graph, started, ended, loop.assessed, loop.batch_of, version, loop.updates, segments,
        np.array(decoder.loads), np.stack([begin, begin + loop.lengths.ravel()], axis=1), useful,
    )  # fmt: skip
