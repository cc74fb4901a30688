"""Forward and training passes on a group: micro-batches, served in the order in which they are ready.

Nothing that comes later changes when a micro-batch that is ready is served, so its end is known at once and samples
are handed on with the time at which they will be there. Only the end of an iteration is an event.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rlmkb.simulation.services import Passes
from rlmkb.theory.graph import Node

if TYPE_CHECKING:
    from rlmkb.simulation.loop import Loop


@dataclass(frozen=True)
class MicroBatches:
    """Micro-batches that can be served; `samples` holds those of the first, then of the second, and so on."""

    iteration: np.ndarray
    samples: np.ndarray
    sizes: np.ndarray
    ready: np.ndarray
    seconds: np.ndarray


class PassWorker:
    """A node of forward or training passes.

    The loop tells it when an iteration may start (`open`), when samples arrive (`arrive`), and to serve what it can
    (`poll`).
    """

    def __init__(self, loop: "Loop", node: Node, sources: int, service: Passes) -> None:
        self.loop, self.node, self.service = loop, node, service
        self.consumers: list[PassWorker] = []
        self.together: list[PassWorker] = [self]  # those that fill each other's bubbles
        self.batch = min(service.batch or loop.rollouts, loop.rollouts)
        self.free = 0.0  # when the last pass ends
        self.devices_free = 0.0  # when its bubble begins
        self.opened: dict[int, float] = {}
        self.segments: list[np.ndarray] = []  # rows of iteration, start, end
        self.arrivals: list[float] = []
        self.starts: list[float] = []
        self._pending: list[list[np.ndarray]] = [[] for _ in range(loop.iterations)]
        self._left = [loop.rollouts] * loop.iterations
        self._missing = np.full(loop.total, sources)
        self._ready = np.zeros(loop.total)

    def open(self, iteration: int) -> None:
        """The iteration may start."""
        self.opened[iteration] = self.loop.now
        self.loop.changed(self)

    def arrive(self, samples: np.ndarray, times: np.ndarray) -> None:
        """A stage before has done, or will have done, its part of these samples at these times."""
        self._ready[samples] = np.maximum(self._ready[samples], times)
        self._missing[samples] -= 1
        samples = samples[self._missing[samples] <= 0]
        batches = self.loop.batch_of[samples]
        for iteration in np.unique(batches):
            self._pending[iteration].append(samples[batches == iteration])
        if self.loop.limited:
            new = self._ready[samples].tolist()
            in_order = not self.arrivals or not new or self.arrivals[-1] <= new[0]
            self.arrivals += new
            if not in_order:
                self.arrivals.sort()
        self.loop.changed(self)

    def poll(self) -> None:
        """Serve all micro-batches that are complete and of iterations that may start."""
        found = [(worker, batches) for worker in self.together if (batches := worker._micro_batches())]
        if len(found) == 1:
            ((worker, batches),) = found
            free = max(worker.free, *(other.devices_free for other in self.together))
            worker._book(batches, *in_order(batches.ready, batches.seconds, free))
        elif found:
            for (worker, batches), (order, starts) in zip(found, interleave(found), strict=True):
                worker._book(batches, order, starts)

    def waiting(self, now: float) -> int:
        """Samples that wait for a pass."""
        return bisect_right(self.arrivals, now) - bisect_right(self.starts, now)

    def next_below(self, limit: int, now: float) -> float | None:
        """When, by what is known, fewer than a number of samples wait."""
        begun = bisect_right(self.arrivals, now) - limit
        return self.starts[begun] if 0 <= begun < len(self.starts) else None

    def _micro_batches(self) -> MicroBatches | None:
        parts = [part for iteration in self.opened if (part := self._of_iteration(iteration))]
        if not parts:
            return None
        columns = ("iteration", "samples", "sizes", "ready", "seconds")
        return MicroBatches(*(np.concatenate([getattr(part, name) for part in parts]) for name in columns))

    def _of_iteration(self, iteration: int) -> MicroBatches | None:
        pending = self._pending[iteration]
        count = sum(map(len, pending))
        if count < self._left[iteration]:  # else the last micro-batch may be smaller
            count -= count % self.batch
        if not count:
            return None
        samples = np.concatenate(pending)
        self._pending[iteration] = [samples[count:]]
        self._left[iteration] -= count
        samples = samples[:count]
        firsts = np.arange(0, count, self.batch)
        sizes = np.diff(firsts, append=count)
        ready = np.maximum(np.maximum.reduceat(self._ready[samples], firsts), self.opened[iteration])
        tokens = np.add.reduceat(self.loop.sequence_tokens[samples], firsts)
        seconds = self.service.seconds(sizes, tokens)
        return MicroBatches(np.full(len(sizes), iteration), samples, sizes, ready, seconds)

    def _book(self, batches: MicroBatches, order: np.ndarray, starts: np.ndarray) -> None:
        """Take down the starts, hand the samples on, and plan the ends of iterations."""
        ends = starts + batches.seconds[order]
        self.free = float(ends[-1])
        self.devices_free = max(self.devices_free, float((ends - self.service.bubble * batches.seconds[order]).max()))
        self._note(batches.iteration[order], starts, ends)
        firsts = np.cumsum(batches.sizes) - batches.sizes
        sizes = batches.sizes[order]
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        samples = batches.samples[np.repeat(firsts[order], sizes) + within]
        self.loop.passed(self, samples, np.repeat(starts, sizes), np.repeat(ends, sizes))
        for consumer in self.consumers:
            consumer.arrive(samples, np.repeat(ends, sizes))
        for iteration in np.unique(batches.iteration).tolist():
            if not self._left[iteration]:
                del self.opened[iteration]
                end = float(ends[batches.iteration[order] == iteration].max())
                self.loop.at(end, self.loop.complete, (self, iteration))
        if self.loop.limited:
            self.starts += np.repeat(starts, sizes).tolist()

    def _note(self, iterations: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> None:
        """One segment for passes of an iteration that follow each other without a gap."""
        new = np.append(True, (starts[1:] > ends[:-1]) | (np.diff(iterations) != 0))
        last = np.append(new[1:], True)
        self.segments.append(np.stack([iterations[new], starts[new], ends[last]], axis=1))


def in_order(ready: np.ndarray, seconds: np.ndarray, free: float) -> tuple[np.ndarray, np.ndarray]:
    """Serve one after the other, in the order of readiness.

    Returns
    -------
    order, starts : numpy.ndarray
        Which goes first, and the start of each in that order.

    Examples
    --------
    >>> order, starts = in_order(np.array([5.0, 0.0, 1.0]), np.array([1.0, 3.0, 3.0]), free=0.5)
    >>> order.tolist(), starts.tolist()
    ([1, 2, 0], [0.5, 3.5, 6.5])
    """
    order = np.argsort(ready, kind="stable")
    before = np.cumsum(seconds[order]) - seconds[order]
    return order, np.maximum.accumulate(np.maximum(ready[order], free) - before) + before


def interleave(found: Sequence[tuple[PassWorker, MicroBatches]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Serve passes of several models on the same devices: whichever can start first, in the bubble of another too."""
    devices = max(worker.devices_free for worker in found[0][0].together)
    free = [worker.free for worker, _ in found]
    orders = [np.argsort(batches.ready, kind="stable") for _, batches in found]
    starts: list[list[float]] = [[] for _ in found]
    served = [0] * len(found)
    for _ in range(sum(map(len, orders))):
        can, _, one = min(
            (max(devices, free[i], batches.ready[orders[i][len(starts[i])]]), served[i], i)
            for i, (_, batches) in enumerate(found) if len(starts[i]) < len(orders[i])
        )  # fmt: skip
        worker, batches = found[one]
        seconds = batches.seconds[orders[one][len(starts[one])]]
        starts[one].append(can)
        served[one] += 1
        free[one] = can + seconds
        devices = can + (1 - worker.service.bubble) * seconds
    return [(order, np.array(start)) for order, start in zip(orders, starts, strict=True)]
