"""One iteration as a graph: invocations, what waits for what, and which group of devices runs what.

Time has two readings. The critical path is how long one iteration takes from its first prompt to its last update.
The period is the time between iterations in the long run; overlap across iterations shortens it, not the path.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations_with_replacement, groupby, pairwise
from types import MappingProxyType

import sympy

from rlmkb.errors import InputError
from rlmkb.notation import Role, Stage
from rlmkb.theory.algorithms import Algorithm, Call, Invocation
from rlmkb.theory.chains import ZERO, Chains, longest
from rlmkb.theory.functions import Maximum

STAGES = tuple(Stage)


@dataclass(frozen=True)
class Node:
    """One invocation in an iteration.

    `id` is unique in the graph, for example ``"reward/assessment"``.
    """

    id: str
    call: Invocation
    group: str

    @property
    def role(self) -> Role:
        """The model that runs."""
        return self.call.role

    @property
    def stage(self) -> Stage:
        """The stage that it belongs to."""
        return self.call.stage


@dataclass(frozen=True)
class Edge:
    """`after` waits for `before` of the same iteration, or of `lag` iterations ago.

    `reason` is ``"data"``, ``"barrier"``, ``"group"`` (one thing at a time on a device group) or ``"freshness"``
    (weights that must be recent enough).
    """

    before: str
    after: str
    lag: sympy.Expr
    reason: str


Placement = Mapping[tuple[Role, Stage], str]


def co_located(algorithm: Algorithm) -> Placement:
    """All invocations on one group.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import PPO
    >>> set(co_located(PPO).values())
    {'all'}
    """
    return MappingProxyType({(call.role, call.stage): "all" for call in algorithm.invocations})


def disaggregated(algorithm: Algorithm) -> Placement:
    """A group for each model, which runs all of that model's invocations.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import GRPO
    >>> sorted(set(disaggregated(GRPO).values()))
    ['policy', 'reference', 'reward']
    """
    return MappingProxyType({(call.role, call.stage): call.role.value for call in algorithm.invocations})


def split_by_stage(algorithm: Algorithm) -> Placement:
    """A group for each model and stage: rollout and training of the policy on different devices.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import GRPO
    >>> split_by_stage(GRPO)[Role.POLICY, Stage.TRAINING]
    'policy/training'
    """
    return MappingProxyType(
        {(call.role, call.stage): f"{call.role.value}/{call.stage.value}" for call in algorithm.invocations}
    )


@dataclass(frozen=True)
class Schedule:
    """Which barriers stand.

    Parameters
    ----------
    stage_barriers : frozenset of Stage
        Stages that start only when the whole stage before has ended. Without one, data dependencies alone count.
    interleaved : frozenset of Stage
        Stages whose invocations share a group by taking turns in micro-batches, so that none waits for another.
    staleness : sympy.Expr
        eta: generation may use weights that are this many updates old; 0 is synchronous.
    rollout_barrier : bool
        Generation of the next batch waits until this one's assessment has ended, as table IX's async row assumes.
    """

    stage_barriers: frozenset[Stage] = frozenset({Stage.ASSESSMENT, Stage.TRAINING})
    interleaved: frozenset[Stage] = frozenset()
    staleness: sympy.Expr = sympy.S.Zero
    rollout_barrier: bool = False


SYNCHRONOUS = Schedule()


@dataclass(frozen=True)
class IterationGraph:
    """An algorithm on device groups.

    Parameters
    ----------
    algorithm : Algorithm
        Its invocations are the nodes.
    placement : mapping
        From (role, stage) to the name of a device group.
    schedule : Schedule
        Which barriers stand.

    Raises
    ------
    InputError
        If the placement leaves an invocation out.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import GRPO
    >>> graph = IterationGraph(GRPO, disaggregated(GRPO))
    >>> graph.critical_path(lambda node: sympy.Symbol(node.id)).expr
    policy/generation + policy/training + max(reference/assessment, reward/assessment)
    """

    algorithm: Algorithm
    placement: Placement
    schedule: Schedule = field(default=SYNCHRONOUS)

    def __post_init__(self) -> None:
        missing = [f"{call.role} in {call.stage}" for call in self.algorithm.invocations
                   if (call.role, call.stage) not in self.placement]  # fmt: skip
        if missing:
            raise InputError(f"the placement names no device group for {', '.join(missing)}")

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The invocations, in the order in which a group runs them."""
        order = sorted(self.algorithm.invocations, key=lambda call: STAGES.index(call.stage))
        return tuple(Node(f"{call.role.value}/{call.stage.value}", call, self.placement[call.role, call.stage])
                     for call in order)  # fmt: skip

    def at(self, stage: Stage) -> tuple[Node, ...]:
        """The nodes of a stage."""
        return tuple(node for node in self.nodes if node.stage is stage)

    @cached_property
    def groups(self) -> dict[str, tuple[Node, ...]]:
        """The device groups and what each runs, in order."""
        names = dict.fromkeys(node.group for node in self.nodes)
        return {name: tuple(node for node in self.nodes if node.group == name) for name in names}

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """Everything that waits for something, within an iteration and across them."""
        return (*self._data(), *self._barriers(), *self._turns(), *self._freshness())

    def _data(self) -> Iterator[Edge]:
        generated = self.at(Stage.GENERATION)
        for node in self.at(Stage.ASSESSMENT):
            yield from (Edge(source.id, node.id, sympy.S.Zero, "data") for source in generated)
        for node in self.at(Stage.TRAINING):
            sources = [source for source in (*generated, *self.at(Stage.ASSESSMENT)) if _feeds(source, node)]
            yield from (Edge(source.id, node.id, sympy.S.Zero, "data") for source in sources)

    def _barriers(self) -> Iterator[Edge]:
        for earlier, stage in pairwise(STAGES):
            if stage in self.schedule.stage_barriers:
                yield from (Edge(before.id, after.id, sympy.S.Zero, "barrier")
                            for before in self.at(earlier) for after in self.at(stage))  # fmt: skip
        if self.schedule.rollout_barrier:
            yield from (Edge(before.id, after.id, sympy.S.One, "barrier")
                        for before in self.at(Stage.ASSESSMENT) for after in self.at(Stage.GENERATION))  # fmt: skip

    @cached_property
    def turns(self) -> tuple[tuple[Node, ...], ...]:
        """What a group runs as one turn: a node, or the nodes of a stage that interleave on it."""
        return tuple(
            turn
            for nodes in self.groups.values()
            for stage, run in groupby(nodes, key=lambda node: node.stage)
            for turn in ([tuple(run)] if stage in self.schedule.interleaved else [(node,) for node in run])
        )

    def _turns(self) -> Iterator[Edge]:
        for group in self.groups:
            mine = [turn for turn in self.turns if turn[0].group == group]
            following = [(one, two, sympy.S.Zero) for one, two in pairwise(mine)] + [(mine[-1], mine[0], sympy.S.One)]
            yield from (Edge(before.id, after.id, lag, "group")
                        for one, two, lag in following for before in one for after in two)  # fmt: skip

    def _freshness(self) -> Iterator[Edge]:
        # an update counts when all of the iteration's training has ended, of the critic too
        lag = self.schedule.staleness + 1
        for trained in self.at(Stage.TRAINING):
            readers = (node for node in self.nodes if node.stage is self.nodes[0].stage)
            yield from (Edge(trained.id, node.id, lag, "freshness") for node in readers)
            yield Edge(trained.id, trained.id, sympy.S.One, "freshness")

    def critical_path(self, duration: Callable[[Node], sympy.Expr]) -> Chains:
        """Time of one iteration alone, from the first prompt to the last update.

        Parameters
        ----------
        duration : callable
            From a node to its time or depth.
        """
        finish: dict[str, Chains] = {}
        for node in self.nodes:
            waits = [finish[edge.before] for edge in self.edges
                     if edge.after == node.id and edge.lag == 0 and edge.before in finish]  # fmt: skip
            finish[node.id] = longest(waits) + Chains.of(duration(node))
        return longest(finish.values())

    def stage_path(self, stage: Stage, duration: Callable[[Node], sympy.Expr]) -> Chains:
        """Time of one stage alone: its groups side by side, each one after the other."""
        chains = []
        for nodes in self.groups.values():
            mine = [Chains.of(duration(node)) for node in nodes if node.stage is stage]
            chains.append(longest(mine) if stage in self.schedule.interleaved else sum(mine, ZERO))
        return longest(chains)

    @cached_property
    def cycles(self) -> tuple[tuple[tuple[str, ...], sympy.Expr], ...]:
        """The simple cycles of the graph across iterations, each with the iterations that it spans."""
        out: dict[tuple[frozenset[str], sympy.Expr], tuple[str, ...]] = {}
        successors: dict[str, list[Edge]] = {}
        for edge in self.edges:
            successors.setdefault(edge.before, []).append(edge)

        def walk(path: tuple[str, ...], lag: sympy.Expr) -> None:
            for edge in successors.get(path[-1], []):
                if edge.after == path[0]:
                    out.setdefault((frozenset(path), lag + edge.lag), path)
                elif edge.after not in path and edge.after > path[0]:  # each cycle once, from its smallest node
                    walk((*path, edge.after), lag + edge.lag)

        for node in sorted(node.id for node in self.nodes):
            walk((node,), sympy.S.Zero)
        return tuple((path, lag) for (_, lag), path in out.items() if lag != 0)

    def period(self, duration: Callable[[Node], sympy.Expr]) -> sympy.Expr:
        """Time between iterations in the long run: the largest mean of a cycle.

        The busiest group is one cycle; generation, assessment and training of one batch, over the eta + 1 batches
        that may be under way, are another.

        Examples
        --------
        >>> from rlmkb.theory.algorithms import GRPO
        >>> graph = IterationGraph(GRPO, co_located(GRPO))
        >>> graph.period(lambda node: sympy.Symbol(node.id))  # one group: everything in a row
        policy/generation + policy/training + reference/assessment + reward/assessment
        """
        times = {node.id: duration(node) for node in self.nodes}
        cycles = [(Counter(times[id] for id in path), lag) for path, lag in self.cycles]
        means: dict[sympy.Expr, Chains] = {}
        for chain, lag in undominated(cycles):
            means[lag] = means.get(lag, ZERO) | Chains(frozenset({tuple(chain.items())}))
        ordered = sorted(means.items(), key=lambda item: sympy.default_sort_key(item[0]))
        return Maximum(*(part for lag, chains in ordered for part in _parts(chains.expr, lag)))


def _parts(expr: sympy.Expr, lag: sympy.Expr) -> tuple[sympy.Expr, ...]:
    """The arguments of a largest-of, each over the same lag; so that one largest-of does not hold another."""
    return tuple(part / lag for part in (expr.args if isinstance(expr, Maximum) else (expr,)))


Cycle = tuple[Counter, sympy.Expr]


def undominated(cycles: list[Cycle]) -> list[Cycle]:
    """The cycles whose mean can be the largest.

    A cycle goes if up to three others together hold all its durations and span no more iterations: their common mean
    is never above the largest of their means.

    Examples
    --------
    >>> a, b = sympy.symbols("a b", positive=True)
    >>> one, two = sympy.Integer(1), sympy.Integer(2)
    >>> undominated([(Counter([a]), one), (Counter([b]), one), (Counter([a, b]), two)])
    [(Counter({a: 1}), 1), (Counter({b: 1}), 1)]
    """
    kept = list(cycles)
    for cycle in sorted(cycles, key=lambda item: -len(list(item[0].elements()))):
        others = [other for other in kept if other is not cycle]
        near = [other for other in others if other[0].keys() & cycle[0].keys()]
        if any(_covers(chosen, cycle) for size in (1, 2, 3) for chosen in combinations_with_replacement(near, size)):
            kept = others
    return kept


def _covers(chosen: tuple[Cycle, ...], cycle: Cycle) -> bool:
    chains, lags = zip(*chosen, strict=True)
    return _spans(cycle[1], lags) and cycle[0] <= sum(chains, Counter())


@cache
def _spans(lag: sympy.Expr, others: tuple[sympy.Expr, ...]) -> bool:
    """Whether a lag is at least the sum of others, for every staleness; few lags are asked for many times."""
    return (lag - sympy.Add(*others)).is_nonnegative is True


def _feeds(source: Node, target: Node) -> bool:
    """Whether a result goes into an update: the critic learns from rewards and values, the policy from all."""
    if source.stage is Stage.GENERATION:
        return True
    critics = {Role.CRITIC: Role.REWARD, Role.COST_CRITIC: Role.COST_MODEL}
    if target.role in critics:
        return source.role in (target.role, critics[target.role], Role.REFERENCE, Role.VERIFIER)
    return True


def depth_of(node: Node):
    """The building block that is a node's depth; see `rlmkb.theory.building_blocks`.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import GRPO
    >>> depth_of(IterationGraph(GRPO, co_located(GRPO)).nodes[0]).name
    'D_gen'
    """
    from rlmkb.theory import building_blocks as blocks

    if node.call.call is Call.GENERATE:
        return blocks.depth_generation(node.role)
    if node.call.call is Call.FORWARD:
        return blocks.depth_forward(node.role)
    return blocks.depth_training(node.role, node.call.sequences)
