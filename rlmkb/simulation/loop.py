"""One event loop over device groups: the iteration graph with seconds in place of depths, sample by sample.

Edges between whole nodes (barriers, turns on a group, freshness of weights) open an iteration of a node; data edges
hand over samples. So the graph that gives the critical path and the period is the one that runs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf
from types import MappingProxyType
from typing import Any

import numpy as np

from rlmkb.errors import InputError, nearest
from rlmkb.notation import Stage
from rlmkb.simulation.batches import BatchesInOrder, FirstFinished
from rlmkb.simulation.decoding import DecodeWorker
from rlmkb.simulation.passes import PassWorker
from rlmkb.simulation.result import Simulation, collect
from rlmkb.simulation.services import Decoding, Passes, Service, check_nodes
from rlmkb.theory.algorithms import Call
from rlmkb.theory.graph import Edge, IterationGraph

ROLLOUTS = ("batch", "continuous", "first_finished")
WEIGHTS = ("when_needed", "drain", "interrupt")

Worker = DecodeWorker | PassWorker


@dataclass(frozen=True)
class Execution:
    """How samples move, where the graph leaves it open.

    Parameters
    ----------
    rollouts : str
        ``"batch"``: an iteration's rollouts start when all of the one before have ended. ``"continuous"``: as soon as
        there is room, also while older ones still run. ``"first_finished"``: so too, and an iteration trains on the
        rollouts that end first, as far as none of the others gets too stale.
    weights : str
        When new weights are loaded. ``"when_needed"``: when no rollout runs, and none starts with weights that are too
        old. ``"drain"``: as soon as they are there, no rollout starts until those that run have ended.
        ``"interrupt"``: at once; partial rollouts pause and go on with them.
    queues : mapping
        Samples that may wait in front of a stage; while as many do, no new rollout starts. Those that run end, so a
        queue can get longer by as many.

    Examples
    --------
    >>> Execution(rollouts="continuous", queues={Stage.TRAINING: 64}).weights
    'when_needed'
    """

    rollouts: str = "batch"
    weights: str = "when_needed"
    queues: Mapping[Stage, int] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        for name, allowed in (("rollouts", ROLLOUTS), ("weights", WEIGHTS)):
            value = getattr(self, name)
            if value not in allowed:
                raise InputError(f"{name} is {value!r}; allowed: {nearest(str(value), allowed)}")
        for stage, limit in self.queues.items():
            if stage not in (Stage.ASSESSMENT, Stage.TRAINING) or limit < 1:
                raise InputError(f"the queue in front of {stage} is {limit}; give at least 1, before assessment or"
                                 " training")  # fmt: skip


def simulate(
    graph: IterationGraph,
    services: Mapping[str, Service],
    lengths: np.ndarray,
    *,
    prompt: int = 0,
    execution: Execution | None = None,
) -> Simulation:
    """Run the iterations of a graph, rollout by rollout.

    Parameters
    ----------
    graph : IterationGraph
        Algorithm, placement and schedule, for example ``CONFIGURATIONS["async"].graph(PPO)``.
    services : mapping
        From node id to `Decoding` (generation) or `Passes` (the others).
    lengths : array of int
        Tokens of each response; one row an iteration, for example of `ResponseLengths.sample`. Without generation
        (DPO) the lengths of the sequences that are compared.
    prompt : int
        Tokens of each prompt.
    execution : Execution, optional
        How samples move; default: batch by batch, no interruption, queues without limit.

    Returns
    -------
    Simulation
        Times, versions and segments; the same for the same arguments.

    Raises
    ------
    InputError
        If a node has no service or one of the wrong kind, a length is not positive, the staleness is a symbol, or a
        limit brings everything to a standstill.

    Examples
    --------
    Responses of 3 and 5 tokens at a second a token, then an update of 4 s; twice:

    >>> from rlmkb.notation import Role
    >>> from rlmkb.simulation.services import step_time
    >>> from rlmkb.theory.algorithms import GRPO
    >>> from rlmkb.theory.graph import co_located
    >>> algorithm = GRPO.without(Role.REFERENCE).with_verifier()
    >>> services = {"policy/generation": Decoding(step_time(1.0)), "verifier/assessment": Passes(),
    ...             "policy/training": Passes(per_sample=2.0)}
    >>> simulate(IterationGraph(algorithm, co_located(algorithm)), services, [[3, 5], [5, 1]]).makespan
    18.0
    """
    if prompt < 0:
        raise InputError(f"prompt is {prompt}; give its tokens, 0 or more")
    loop = Loop(graph, services, _lengths(lengths), prompt, execution or Execution())
    loop.run()
    return collect(loop)


class Loop:
    """What the workers share: time and events, who may start, and what has been done to each sample."""

    def __init__(
        self,
        graph: IterationGraph,
        services: Mapping[str, Service],
        lengths: np.ndarray,
        prompt: int,
        execution: Execution,
    ) -> None:
        check_nodes(graph, services)
        self.graph, self.execution, self.lengths, self.prompt = graph, execution, lengths, prompt
        self.iterations, self.rollouts = lengths.shape
        self.total = lengths.size
        self.sequence_tokens = lengths.ravel() + prompt
        self.staleness = _staleness(graph)
        self.now, self.version = 0.0, 0
        self.started, self.assessed = np.zeros(self.total), np.zeros(self.total)
        self.versions = np.zeros(self.total, dtype=int)
        self.updates = np.zeros(self.iterations)
        overtaking = execution.rollouts == "first_finished" and graph.at(Stage.GENERATION)
        self.batches = (FirstFinished if overtaking else BatchesInOrder)(self.iterations, self.rollouts, self.staleness)
        self.batch_of = self.batches.batch_of
        self._events: list[tuple[float, int, Callable, Any]] = []
        self._planned = 0
        self._changed: dict[Worker, None] = {}
        self.limited: list[tuple[PassWorker, int]] = []
        self.workers = self._make_workers(services)
        self.decoder = next((worker for worker in self.workers.values() if isinstance(worker, DecodeWorker)), None)
        self._limit()
        self._gates, self._opens = self._make_gates()
        self._to_train = [len(graph.at(Stage.TRAINING))] * self.iterations

    def _make_workers(self, services: Mapping[str, Service]) -> dict[str, Worker]:
        data = [edge for edge in self.graph.edges if edge.reason == "data"]
        assessed = {edge.after for edge in data if edge.before.endswith(Stage.ASSESSMENT)}
        workers: dict[str, Worker] = {}
        for node in self.graph.nodes:
            service = services[node.id]
            kind = Decoding if node.call.call is Call.GENERATE else Passes
            if not isinstance(service, kind):
                raise InputError(f"the service of {node.id} is {type(service).__name__}; give {kind.__name__}(...)")
            # what has been assessed has been generated
            sources = [edge.before for edge in data if edge.after == node.id
                       and not (node.id in assessed and edge.before.endswith(Stage.GENERATION))]  # fmt: skip
            if kind is Decoding:
                workers[node.id] = DecodeWorker(self, node, service)
            else:
                workers[node.id] = PassWorker(self, node, len(sources), service)
            for source in sources:
                workers[source].consumers.append(workers[node.id])
        for block in self.graph.turns:
            if len(block) > 1:
                together = [workers[node.id] for node in block]
                for worker in together:
                    worker.together = together
        return workers

    def _limit(self) -> None:
        for worker in self.workers.values():
            limit = self.execution.queues.get(worker.node.stage)
            if limit is None or not isinstance(worker, PassWorker):
                continue
            if limit < worker.batch:
                raise InputError(
                    f"the queue in front of {worker.node.stage} holds {limit}, but {worker.node.id}"
                    f" waits for {worker.batch} samples; lengthen it, or make the micro-batch smaller"
                )
            self.limited.append((worker, limit))

    def _make_gates(self) -> tuple[dict[str, list[int]], dict[str, list[tuple[Worker, int]]]]:
        """How many whole-node edges each iteration of a node waits for, and whom the end of one lets start."""
        gates = {node.id: [0] * self.iterations for node in self.graph.nodes}
        opens: dict[str, list[tuple[Worker, int]]] = {node.id: [] for node in self.graph.nodes}
        for edge in dict.fromkeys(self.graph.edges):
            if edge.reason == "data" or self._orders_itself(edge):
                continue
            lag = int(edge.lag)
            opens[edge.before].append((self.workers[edge.after], lag))
            for iteration in range(lag, self.iterations):
                gates[edge.after][iteration] += 1
        return gates, opens

    def _orders_itself(self, edge: Edge) -> bool:
        """Alone on its group a worker takes sample after sample, so that iterations may overlap."""
        alone = edge.reason == "group" and edge.before == edge.after
        return alone and (self.workers[edge.after] is not self.decoder or self.execution.rollouts != "batch")

    def run(self) -> None:
        """Until every iteration has been trained on."""
        for name, worker in self.workers.items():
            for iteration, gate in enumerate(self._gates[name]):
                if not gate:
                    worker.open(iteration)
            if self.decoder is None and worker.node.stage is self.graph.nodes[0].stage:
                worker.arrive(np.arange(self.total), np.zeros(self.total))
        self._poll()
        events = self._events
        while events:
            self.now, _, call, argument = heappop(events)
            call(argument)
            self._poll()
        if self.version < self.iterations:
            raise InputError(f"nothing can go on after {self.version} of {self.iterations} updates: what waits is of"
                             " later iterations; make the queues longer")  # fmt: skip

    def _poll(self) -> None:
        changed = self._changed
        while changed:
            worker = next(iter(changed))
            del changed[worker]
            worker.poll()

    def at(self, time: float, call: Callable, argument: Any) -> None:
        """Plan an event; of two at the same time the one planned first comes first."""
        self._planned += 1
        heappush(self._events, (time, self._planned, call, argument))

    def next_event(self) -> float:
        """When something else happens."""
        return self._events[0][0] if self._events else inf

    def changed(self, worker: Worker) -> None:
        """Have a worker look again before time goes on."""
        self._changed[worker] = None

    def begin(self, first: int, last: int, version: int, time: float) -> None:
        """Rollouts have started, with weights of a version."""
        self.started[first:last] = time
        self.versions[first:last] = version
        self.batches.started(first, last, version)

    def passed(self, worker: PassWorker, samples: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> None:
        """Samples have a pass from start to end."""
        if worker.node.stage is Stage.ASSESSMENT:
            self.assessed[samples] = np.maximum(self.assessed[samples], ends)
        if self.decoder is None and worker.node.stage is self.graph.nodes[0].stage:
            earlier = self.started[samples]
            self.started[samples] = np.where(earlier > 0, np.minimum(earlier, starts), starts)
        if self.limited:
            self.changed(self.decoder)

    def places(self, now: float) -> int:
        """Samples that the queues still take; where there is none, the generator is told when there is."""
        places = [(limit - worker.waiting(now), worker, limit) for worker, limit in self.limited]
        for free, worker, limit in places:
            if free <= 0 and (time := worker.next_below(limit, now)) is not None:
                self.at(time, self.changed, self.decoder)
        return max(min(free for free, _, _ in places), 0)

    def complete(self, what: tuple[Worker, int]) -> None:
        """A node has done an iteration: an update may be complete, and others may start."""
        worker, iteration = what
        if worker.node.stage is Stage.TRAINING:
            self._to_train[iteration] -= 1
            if not self._to_train[iteration]:
                self.version = iteration + 1
                self.updates[iteration] = self.now
                if self.decoder is not None:
                    self.changed(self.decoder)
        for other, lag in self._opens[worker.node.id]:
            later = iteration + lag
            if later < self.iterations:
                gates = self._gates[other.node.id]
                gates[later] -= 1
                if not gates[later]:
                    other.open(later)


def _staleness(graph: IterationGraph) -> int:
    eta = graph.schedule.staleness
    if not (eta.is_Integer and eta >= 0):
        raise InputError(f"the schedule's staleness is {eta}; to simulate, give a whole number of updates, 0 or more")
    return int(eta)


def _lengths(lengths: np.ndarray) -> np.ndarray:
    given = np.asarray(lengths)
    if given.ndim != 2 or not given.size:
        raise InputError(f"lengths have the shape {given.shape}; give one row an iteration, one column a rollout")
    if not np.issubdtype(given.dtype, np.integer) or given.min() < 1:
        raise InputError("lengths are not all whole numbers of tokens of at least 1; round them, and drop empty ones")
    return given
