"""Generation on a group: sequences that decode together, as many as the cache holds."""

from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from rlmkb.errors import InputError
from rlmkb.simulation.services import Decoding
from rlmkb.theory.graph import Node

if TYPE_CHECKING:
    from rlmkb.simulation.loop import Loop
    from rlmkb.simulation.passes import PassWorker


class DecodeWorker:
    """The node that generates.

    All sequences advance together, so a clock that counts tokens says when each one ends; only the pace of that
    clock depends on how many run. The ends up to the next event of the loop are worked through at once.
    """

    def __init__(self, loop: "Loop", node: Node, service: Decoding) -> None:
        self.loop, self.node, self.service = loop, node, service
        self.consumers: list[PassWorker] = []
        self.room = service.max_sequences or loop.rollouts
        self.steps = [float(value) for value in np.broadcast_to(service.step(np.arange(self.room + 1)), self.room + 1)]
        self.lengths: list[int] = loop.lengths.ravel().tolist()
        self.cache: list[int] = loop.sequence_tokens.tolist()
        self.clock_at_start = [0.0] * loop.total
        self.ended = [0.0] * loop.total
        self.loads: list[tuple[float, int]] = [(0.0, 0)]  # clock, version
        self._opened = 0  # iterations that may start
        self._next = 0  # the next rollout to start
        self._running: list[tuple[float, int]] = []  # end on the clock, rollout
        self._cached = 0
        self._clock = 0.0
        self._since = 0.0  # when the clock was read last; later than now while it stands still
        self._version = 0  # of the weights
        self._unfinished = [loop.rollouts] * loop.iterations
        self._event = 0
        if service.max_tokens is not None and max(self.cache) > service.max_tokens:
            raise InputError(f"max_tokens of {node.id} is {service.max_tokens}, but a rollout has {max(self.cache)}"
                             " tokens; give the cache room for the longest")  # fmt: skip

    def open(self, iteration: int) -> None:
        """The iteration's rollouts may start."""
        self._opened = max(self._opened, iteration + 1)
        self.loop.changed(self)

    def poll(self) -> None:
        """Something has changed: bring the clock up to now, load and start what can."""
        now = self.loop.now
        if now > self._since:
            if self._running:
                self._clock += (now - self._since) / self.steps[len(self._running)]
            self._since = now
        self._load_weights()
        self._start(0)
        self._plan()

    def _load_weights(self) -> None:
        """New ones, at once if rollouts may be interrupted, else when none runs and one waits."""
        interrupts = self._running and self.loop.execution.weights == "interrupt"
        needed = not self._running and self._next < self._opened * self.loop.rollouts
        if self._version == self.loop.version or not (interrupts or needed):
            return
        kept = sum(self.loop.prompt + self._clock - self.clock_at_start[sample] for _, sample in self._running)
        self._since += self.service.refit + self.service.prefill_per_token * kept
        self._version = self.loop.version
        self.loads.append((self._clock, self._version))

    def _start(self, ended: int) -> None:
        """Start as many rollouts as may and have room; `ended` of those before may add to the queues."""
        running, lengths = self._running, self.lengths
        drains = self._version < self.loop.version and self.loop.execution.weights == "drain"
        if running and (self.service.waves or drains):
            return
        first = self._next
        fresh = self._version + self.loop.staleness + 1
        last = min(min(self._opened, fresh) * self.loop.rollouts, first + self.room - len(running))
        if self.loop.limited and first < last:
            last = min(last, first + self.loop.places(self._since) - ended)
        limit = self.service.max_tokens
        sample = first
        while sample < last:
            if limit is not None:
                if self._cached + self.cache[sample] > limit:
                    break
                self._cached += self.cache[sample]
            self.clock_at_start[sample] = self._clock
            heappush(running, (self._clock + lengths[sample], sample))
            sample += 1
        if sample > first:
            self._next = sample
            self.loop.begin(first, sample, self._version, self._since)
            self._since += self.service.prefill_per_token * self.loop.prompt * (sample - first)

    def _plan(self) -> None:
        self._event += 1
        if self._running:
            self.loop.at(self._next_end(), self._end, self._event)

    def _next_end(self) -> float:
        # rounding may have carried the clock a little past the end
        left = max(self._running[0][0] - self._clock, 0.0)
        return self._since + left * self.steps[len(self._running)]

    def _end(self, event: int) -> None:
        """Work through the ends of sequences, until something else happens or an iteration is complete."""
        if event != self._event:
            return
        bound, done, complete = self.loop.next_event(), [], []
        running, ended, batch_of = self._running, self.ended, self.loop.batch_of
        overtaking, limit = self.loop.batches.overtaking, self.service.max_tokens
        while running and not complete:
            time = self._next_end()
            if done and time > bound:
                break
            self._clock, self._since = running[0][0], time
            while running and running[0][0] == self._clock:
                sample = heappop(running)[1]
                ended[sample] = time
                done.append(sample)
                if overtaking:
                    self.loop.batches.ended(sample)
                batch = batch_of[sample]
                self._unfinished[batch] -= 1
                if not self._unfinished[batch]:
                    complete.append(batch)
                if limit is not None:
                    self._cached -= self.cache[sample]
            if not running:
                self._load_weights()
            if self.loop.limited and self.loop.places(self._since) <= len(done):
                break
            self._start(len(done))
        samples = np.array(done)
        times = np.array([ended[sample] for sample in done])
        for consumer in self.consumers:
            consumer.arrive(samples, times)
        for batch in complete:
            self.loop.at(float(times[-1]), self.loop.complete, (self, int(batch)))
        self.loop.changed(self)
