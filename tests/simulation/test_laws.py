"""What holds of every run: the event loop against the graph's critical path and period, work, freshness, fusion."""

import itertools
import time

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from rlmkb.errors import InputError
from rlmkb.notation import Role, Stage, symbol
from rlmkb.simulation import Decoding, Execution, Passes, ResponseLengths, constant_times, simulate, step_time
from rlmkb.simulation.analytic import period
from rlmkb.theory.algorithms import DPO, GRPO, PPO
from rlmkb.theory.configurations import CONFIGURATIONS
from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.graph import IterationGraph, Schedule, co_located, disaggregated, split_by_stage

G, A, T = Stage
FREE, STAGED = frozenset(), frozenset({A, T})
PLACEMENTS = (co_located, disaggregated, split_by_stage)
ETAS = (0, 1, 2, 4)
SECONDS = st.lists(st.integers(1, 60), min_size=6, max_size=6)


def graph_of(algorithm=PPO, placement=split_by_stage, barriers=FREE, eta=0, **schedule):
    return IterationGraph(algorithm, placement(algorithm), Schedule(barriers, staleness=sympy.Integer(eta), **schedule))


def times_of(graph, seconds):
    return {node.id: float(value) for node, value in zip(graph.nodes, itertools.cycle(seconds), strict=False)}


def earliest(graph, times, iterations):
    """Start every node as early as the graph's edges allow: what the loop must do with constant times."""
    end = {}
    for k in range(iterations):
        for node in graph.nodes:
            waits = [end.get((edge.before, k - int(edge.lag)), 0.0) for edge in graph.edges if edge.after == node.id]
            end[node.id, k] = max(waits, default=0.0) + times[node.id]
    return end


def mixed(graph, *, batch=None, per_token=0.004, **decoding):
    """Services of an ordinary run."""
    return {node.id: Decoding(step_time(0.01, 0.001), **decoding) if node.stage is G
            else Passes(per_token=per_token / 4 if node.stage is A else per_token, overhead=0.01,
                        batch=batch if node.stage is A else None)
            for node in graph.nodes}  # fmt: skip


def lengths(iterations=8, rollouts=24, spread=0.9, seed=0):
    return ResponseLengths(100, spread, 900).sample((iterations, rollouts), seed)


@pytest.mark.parametrize(
    ("placement", "algorithm"), [*itertools.product(PLACEMENTS, (PPO, DPO)), (disaggregated, GRPO)]
)
@given(seconds=SECONDS, eta=st.sampled_from(ETAS), barriers=st.sampled_from((FREE, frozenset({A}), STAGED)))
@settings(max_examples=8)
def test_with_constant_times_every_node_ends_when_the_graph_says(placement, algorithm, seconds, eta, barriers):
    graph = graph_of(algorithm, placement, barriers, eta)
    times = times_of(graph, seconds)
    result = simulate(graph, constant_times(graph, times, rollouts=5, tokens=40), np.full((9, 5), 40))
    for (node, k), end in earliest(graph, times, 9).items():
        (found,) = result.segments[node][result.segments[node][:, 0] == k]
        assert found[2] == pytest.approx(end, rel=1e-12)


@pytest.mark.parametrize("row", CONFIGURATIONS)
def test_with_depths_for_times_an_iteration_takes_its_critical_path(row):
    configuration = CONFIGURATIONS[row]
    graph = configuration.graph(PPO)
    point = {"B": 4, "K": 2, "S": 64, "T": 128, "V": 1000, "P_t": 2, "L": 4, "d": 64, "d_ff": 256, "h": 4}
    times = {node.id: float(evaluate(configuration.depth_of(node).explicit, point)) for node in graph.nodes}
    path = graph.critical_path(lambda node: sympy.Float(times[node.id])).expr
    services = constant_times(graph, times, rollouts=8, tokens=128)
    assert simulate(graph, services, np.full((1, 8), 128)).makespan == pytest.approx(float(path))
    shorter = simulate(graph, services, np.minimum(lengths(1, 8, seed=3), 100))
    assert shorter.makespan < float(path)


@given(seconds=SECONDS, eta=st.sampled_from(ETAS), placement=st.sampled_from(PLACEMENTS), seed=st.integers(0, 99))
@settings(max_examples=12)
def test_an_iteration_never_takes_less_than_its_critical_path(seconds, eta, placement, seed):
    graph = graph_of(PPO, placement, eta=eta)
    times = times_of(graph, seconds)
    drawn = lengths(seed=seed)
    result = simulate(graph, constant_times(graph, times, rollouts=24, tokens=900), drawn)
    longest = drawn.max(axis=1) / 900
    for k in range(len(drawn)):
        own = times | {graph.nodes[0].id: times[graph.nodes[0].id] * longest[k]}
        path = float(graph.critical_path(lambda node, own=own: sympy.Float(own[node.id])).expr)
        assert result.updates[k] - result.started[result.batch == k].min() >= path - 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("barriers", [FREE, STAGED], ids=["free", "staged"])
def test_the_long_run_is_the_graphs_period(placement, barriers):
    graph = IterationGraph(PPO, placement(PPO), Schedule(barriers, staleness=symbol("eta")))
    seconds = np.random.default_rng(5).integers(1, 30, (6, 2)).astype(float)
    named = dict(zip((node.id for node in graph.nodes), seconds, strict=True))
    laws = period(graph, named, eta=np.array(ETAS)[:, None])  # a row for each staleness, a column for each case
    for (row, eta), case in itertools.product(enumerate(ETAS), range(2)):
        own = graph_of(PPO, placement, barriers, eta)
        services = constant_times(own, times_of(own, seconds[:, case]), rollouts=1, tokens=9)
        run = simulate(own, services, np.full((81, 1), 9))
        assert run.period == pytest.approx(laws[row, case], rel=0.03)


@given(seconds=SECONDS, eta=st.sampled_from(ETAS))
@settings(max_examples=15)
def test_the_period_meets_the_bound_of_the_busiest_group_and_of_the_path(seconds, eta):
    graph = graph_of(eta=eta)
    times = times_of(graph, seconds)
    run = simulate(graph, constant_times(graph, times, rollouts=1, tokens=9), np.full((61, 1), 9))
    path = float(graph.critical_path(lambda node: sympy.Float(times[node.id])).expr)
    bound = max(max(times.values()), path / (eta + 1))
    assert run.period >= bound * (1 - 0.05)
    assert run.period == pytest.approx(bound, rel=0.05)


EXECUTIONS = st.builds(
    Execution, st.sampled_from(("batch", "continuous", "first_finished")),
    st.sampled_from(("when_needed", "drain", "interrupt")),
)  # fmt: skip


@given(
    execution=EXECUTIONS, eta=st.sampled_from(ETAS), seed=st.integers(0, 999),
    room=st.sampled_from((None, 3, 24, 40)), batch=st.sampled_from((1, 5, None)), placement=st.sampled_from(PLACEMENTS),
)  # fmt: skip
@settings(max_examples=40)
def test_nothing_is_too_stale_and_work_is_conserved(execution, eta, seed, room, batch, placement):
    graph = graph_of(GRPO, placement, eta=eta)
    drawn = lengths(seed=seed)
    services = mixed(graph, batch=batch, max_sequences=room, refit=0.3, prefill_per_token=0.0001)
    run = simulate(graph, services, drawn, prompt=50, execution=execution)
    # freshness
    assert run.staleness.min() >= 0
    assert run.staleness.max() <= eta
    assert len(run.staleness_histogram) <= eta + 1
    assert run.staleness_histogram.sum() == pytest.approx(1)
    # every sample is trained on once, after what it needs, and every pass is made
    assert np.bincount(run.batch).tolist() == [24] * 8
    assert (run.started <= run.generated).all()
    assert (run.generated <= run.assessed + 1e-9).all()
    assert (run.assessed <= run.updates[run.batch] + 1e-9).all()
    assert (np.diff(run.updates) > 0).all()
    tokens = drawn.sum() + 50 * drawn.size
    for node in graph.nodes[1:]:
        service = services[node.id]
        parts = run.segments[node.id]
        whole = (parts[:, 2] - parts[:, 1]).sum()
        passes = -(-24 // (service.batch or 24)) * 8
        assert whole == pytest.approx(service.per_token * tokens + service.overhead * passes)
    # a group does one thing at a time
    for name, use in run.use.items():
        assert 0 <= use.useful <= 1 + 1e-9
        assert use.underused >= -1e-9
        assert use.idle >= -1e-9, name
        assert use.useful + use.underused + use.idle == pytest.approx(1)


@given(execution=EXECUTIONS, seed=st.integers(0, 99), placement=st.sampled_from(PLACEMENTS))
@settings(max_examples=20)
def test_staleness_zero_is_synchronous(execution, seed, placement):
    graph = graph_of(GRPO, placement)
    plain, other = (
        simulate(graph, mixed(graph, batch=4), lengths(seed=seed), execution=e) for e in (Execution(), execution)
    )
    assert other.updates == pytest.approx(plain.updates)
    assert (other.staleness == 0).all()
    for k in range(7):  # an iteration starts when the update before has ended
        assert other.started[other.batch == k + 1].min() >= other.updates[k] - 1e-9


@given(
    seed=st.integers(0, 999), eta=st.sampled_from(ETAS), batch=st.sampled_from((1, 4, None)),
    placement=st.sampled_from((disaggregated, split_by_stage)), per_token=st.sampled_from((0.001, 0.01)),
)  # fmt: skip
@settings(max_examples=30)
def test_fusion_never_costs_throughput(seed, eta, batch, placement, per_token):
    """The same micro-batches, with and without the barriers between stages."""
    drawn = lengths(seed=seed)
    staged, fused = (graph_of(PPO, placement, barriers, eta) for barriers in (STAGED, FREE))
    runs = [simulate(graph, mixed(graph, batch=batch, per_token=per_token), drawn) for graph in (staged, fused)]
    assert (runs[1].updates <= runs[0].updates + 1e-9).all()


def test_fusion_may_cost_latency():
    """Without the barrier the period falls from 10 s to 6 s, but a sample waits 18 s for its update, not 12 s."""
    algorithm = GRPO.without(Role.REFERENCE)
    seconds = {"policy/generation": 4.0, "reward/assessment": 6.0, "policy/training": 2.0}
    runs = []
    for barriers, rollout_barrier in ((STAGED, True), (FREE, False)):
        graph = graph_of(algorithm, split_by_stage, barriers, 2, rollout_barrier=rollout_barrier)
        runs.append(simulate(graph, constant_times(graph, seconds, rollouts=4, tokens=8), np.full((40, 4), 8)))
    staged, fused = runs
    assert (staged.period, fused.period) == (10, 6)
    late = slice(40, 120)
    assert (staged.latency[late].mean(), fused.latency[late].mean()) == (12, 18)


def test_larger_micro_batches_wait_longer_and_small_ones_cost_more():
    graph = graph_of(GRPO.without(Role.REFERENCE))
    services = mixed(graph)
    drawn = lengths(rollouts=64)
    waits, busy = [], []
    for batch in (1, 8, 64):
        services["reward/assessment"] = Passes(per_sample=0.002, overhead=0.02, batch=batch)
        run = simulate(graph, services, drawn)
        waits.append((run.assessed - run.generated)[:8].mean())
        busy.append(run.useful_seconds["reward/assessment"])
    assert busy == sorted(busy, reverse=True)
    assert waits[2] > waits[1] > 0


def test_more_devices_or_staleness_never_slow_with_constant_times():
    seconds = (9, 2, 3, 4, 5, 6)
    runs = {}
    for placement, eta in itertools.product(PLACEMENTS, ETAS):
        graph = graph_of(PPO, placement, eta=eta)
        services = constant_times(graph, times_of(graph, seconds), rollouts=3, tokens=9)
        runs[placement, eta] = simulate(graph, services, np.full((30, 3), 9)).makespan
    for eta in ETAS:
        assert runs[split_by_stage, eta] <= runs[disaggregated, eta] <= runs[co_located, eta]
    for placement in PLACEMENTS:
        assert [runs[placement, eta] for eta in ETAS] == sorted((runs[placement, eta] for eta in ETAS), reverse=True)


def test_the_same_seed_gives_the_same_run():
    graph = graph_of(eta=2)
    execution = Execution("first_finished", "interrupt")
    one, two = (simulate(graph, mixed(graph, batch=3), lengths(seed=7), execution=execution) for _ in range(2))
    assert (one.updates == two.updates).all()
    assert (one.batch == two.batch).all()
    other = simulate(graph, mixed(graph, batch=3), lengths(seed=8), execution=execution)
    assert other.makespan != one.makespan


def interleaved(bubble, batch=None):
    placement = {(call.role, call.stage): "all" if call.stage is T else call.role.value for call in PPO.invocations}
    graph = IterationGraph(PPO, placement, Schedule(FREE, interleaved=frozenset({T})))
    services = constant_times(graph, dict.fromkeys((node.id for node in graph.nodes), 8.0), rollouts=4, tokens=10)
    for node in graph.at(T):
        services[node.id] = Passes(per_sample=2.0, batch=batch, bubble=bubble)
    return simulate(graph, services, np.full((3, 4), 10))


def test_interleaved_models_fill_each_others_bubbles():
    assert interleaved(0.0).makespan == 3 * (8 + 8 + 16)
    assert interleaved(1.0).makespan == 3 * (8 + 8 + 8)  # the graph's reading: neither waits
    half = interleaved(0.5, batch=1)
    assert half.makespan == 3 * (8 + 8 + 9)  # in turns, the second one micro-batch's half later
    assert half.use["all"].useful == pytest.approx(3 * 8 / half.makespan)


def test_interleaved_models_on_a_shared_group_wait_for_what_had_it():
    graph = IterationGraph(PPO, co_located(PPO), Schedule(FREE, interleaved=frozenset({A, T})))
    services = {node.id: Decoding(step_time(0.5)) if node.stage is G else Passes(per_sample=2.0, batch=1)
                for node in graph.nodes}  # fmt: skip
    run = simulate(graph, services, np.array([[4, 8, 12]] * 2))
    for node in graph.at(A):
        assert run.segments[node.id][0, 1] >= 6  # the first rollout ends at 2, but generation has the devices
    assert run.makespan == 2 * 6 * 6
    assert run.use["all"].idle == pytest.approx(0)


QUEUE_MESSAGE = "holds 3, but policy/training waits for 24"


def test_backpressure_bounds_the_queue_and_costs_throughput_not_latency():
    graph = graph_of(GRPO, eta=4)
    slow = mixed(graph, batch=4, max_sequences=4)
    slow["policy/training"] = Passes(per_token=0.02)
    drawn = lengths(iterations=12)
    free, bound = (simulate(graph, slow, drawn, execution=Execution("continuous", queues=queues))
                   for queues in ({}, {T: 24}))  # fmt: skip
    assert bound.latency.mean() < free.latency.mean()
    assert bound.makespan >= free.makespan - 1e-9

    def most_waiting(run):
        begun = {int(k): start for k, start, _ in run.segments["policy/training"]}
        starts = np.array([begun[k] for k in run.batch])
        return max(((run.assessed <= now) & (starts > now)).sum() for now in run.assessed)

    assert most_waiting(bound) <= 24 + 4 + 4  # those that run, and a micro-batch, may come on top
    assert most_waiting(free) > 40
    with pytest.raises(InputError, match=QUEUE_MESSAGE):
        simulate(graph, slow, drawn, execution=Execution(queues={T: 3}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lengths": np.ones(3, int)}, r"lengths have the shape \(3,\)"),
        ({"lengths": np.zeros((1, 3), int)}, "not all whole numbers of tokens of at least 1"),
        ({"lengths": np.ones((1, 3))}, "not all whole numbers"),
        ({"services": {}}, "no time is given for policy/generation"),
        ({"services": {"policy/trainin": Passes()}}, "'policy/trainin' is no node of the graph"),
        ({"services": {"policy/generation": Passes()}}, r"policy/generation is Passes; give Decoding\(...\)"),
        ({"services": {"policy/generation": Decoding(step_time(1.0), max_tokens=20)}}, "a rollout has 47 tokens"),
        ({"graph": IterationGraph(GRPO, co_located(GRPO), Schedule(staleness=symbol("eta")))}, "staleness is eta"),
    ],
)
def test_wrong_input_is_told(change, message):
    graph = change.get("graph", graph_of(GRPO))
    services = change.get("services")
    given = mixed(graph) | services if services else mixed(graph) if services is None else {}
    with pytest.raises(InputError, match=message):
        simulate(graph, given, change.get("lengths", np.full((2, 3), 40)), prompt=7)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Execution("stream"), "rollouts is 'stream'; allowed: "),
        (lambda: Execution(weights="never"), "weights is 'never'"),
        (lambda: Execution(queues={G: 3}), "the queue in front of generation is 3"),
        (lambda: Passes(per_token=-1.0), "per_token is -1.0; give seconds"),
        (lambda: Passes(batch=0), "batch is 0"),
        (lambda: Passes(bubble=1.5), "bubble is 1.5"),
        (lambda: Decoding(step_time(1.0), max_sequences=0), "max_sequences is 0"),
        (lambda: step_time(-1.0), "fixed is -1.0"),
    ],
)
def test_wrong_settings_are_told(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 64])
def test_fifty_iterations_of_ten_thousand_rollouts_take_less_than_ten_seconds(batch):
    graph = CONFIGURATIONS["combined"].graph(PPO)
    drawn = ResponseLengths(2000, 1.0, 16000).sample((50, 10_000), seed=0)
    begun = time.process_time()
    run = simulate(graph, mixed(graph, batch=batch, per_token=1e-6, max_sequences=4000), drawn,
                   execution=Execution("first_finished", "interrupt"))  # fmt: skip
    assert time.process_time() - begun < 10
    assert run.staleness.max() <= 2
