"""Generation against a token-by-token reference, and hand-made cases of waves, caches, interruptions and overtaking."""

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from rlmkb.notation import Role, Stage
from rlmkb.simulation import Decoding, Execution, Passes, simulate, step_time
from rlmkb.simulation.passes import in_order
from rlmkb.theory.algorithms import GRPO
from rlmkb.theory.graph import IterationGraph, Schedule, split_by_stage

PLAIN = GRPO.without(Role.REFERENCE).with_verifier()


def run(lengths, decoding, *, eta=0, train=0.0, prompt=0, **execution):
    graph = IterationGraph(PLAIN, split_by_stage(PLAIN), Schedule(frozenset(), staleness=sympy.Integer(eta)))
    services = {"policy/generation": decoding, "verifier/assessment": Passes(batch=1),
                "policy/training": Passes(overhead=train)}  # fmt: skip
    return simulate(graph, services, lengths, prompt=prompt, execution=Execution(**execution))


def token_by_token(lengths, prompt, decoding):
    """Decode one step after the other; when each sequence ends."""
    waiting, running, ended, now = list(range(len(lengths))), {}, {}, 0.0
    room = decoding.max_sequences or len(lengths)
    cache = decoding.max_tokens or np.inf
    while waiting or running:
        if not (decoding.waves and running):
            while waiting and len(running) < room:
                if sum(lengths[i] + prompt for i in running) + lengths[waiting[0]] + prompt > cache:
                    break
                first = waiting.pop(0)
                running[first] = lengths[first]
                now += decoding.prefill_per_token * prompt
        now += float(decoding.step(len(running)))
        running = {i: left - 1 for i, left in running.items()}
        ended |= {i: now for i, left in running.items() if not left}
        running = {i: left for i, left in running.items() if left}
    return [ended[i] for i in range(len(lengths))]


@given(
    lengths=st.lists(st.integers(1, 30), min_size=1, max_size=25),
    room=st.sampled_from((None, 1, 4)), tokens=st.sampled_from((None, 40, 90)), waves=st.booleans(),
    prefill=st.sampled_from((0.0, 0.01)), prompt=st.integers(0, 9),
)  # fmt: skip
@settings(max_examples=80)
def test_ends_are_those_of_decoding_token_by_token(lengths, room, tokens, waves, prefill, prompt):
    decoding = Decoding(step_time(1.0, 0.3), room, tokens, waves, prefill)
    assert run([lengths], decoding, prompt=prompt).generated == pytest.approx(token_by_token(lengths, prompt, decoding))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), min_size=1, max_size=20), st.integers(0, 9))
def test_passes_follow_each_other(items, free):
    ready, seconds = np.array(items, dtype=float).T
    order, starts = in_order(ready, seconds, free)
    now = float(free)
    for i, start in zip(order, starts, strict=True):
        now = max(now, ready[i])
        assert start == pytest.approx(now)
        now += seconds[i]


def test_waves_wait_for_the_longest_and_continuous_batching_does_not():
    lengths = [[10, 2, 2, 2]]
    waves, continuous = (run(lengths, Decoding(step_time(1.0), 2, waves=waves)) for waves in (True, False))
    assert waves.generated.tolist() == [10, 2, 12, 12]
    assert continuous.generated.tolist() == [10, 2, 4, 6]


def test_a_full_cache_makes_rollouts_wait():
    result = run([[5, 5, 5]], Decoding(step_time(1.0), max_tokens=14), prompt=2)
    assert result.started.tolist() == [0, 0, 5]
    assert result.running(np.array([1.0, 6.0])).tolist() == [2, 1]


def test_interrupted_rollouts_go_on_with_new_weights():
    """Batches of one, a token a second, updates of 6 s; the second rollout sees the first update after 6 of 10 s."""
    stays, goes = (run([[4], [10], [10]], Decoding(step_time(1.0), refit=0.5, prefill_per_token=0.1), eta=1, train=6.0,
                       prompt=5, weights=weights) for weights in ("when_needed", "interrupt"))  # fmt: skip
    # 0.5 s for five prompt tokens, then 4 and 10 tokens
    assert stays.generated[:2].tolist() == [4.5, 15]
    assert goes.generated[0] == 4.5
    # at 10.5 s the update ends: 0.5 s to load, 1.05 s for 5 prompt and 5.5 response tokens
    assert goes.generated[1] == pytest.approx(15 + 0.5 + 1.05)
    assert stays.staleness.tolist() == goes.staleness.tolist() == [0, 1, 1]
    tokens = goes.staleness_histogram * 24
    assert tokens.tolist() == pytest.approx([4 + 4.5 + 4, 5.5 + 6], abs=1.6)
    assert tokens[1] < (stays.staleness_histogram * 24)[1] == pytest.approx(20)


def test_draining_loads_weights_as_soon_as_none_runs():
    lengths = np.full((6, 4), 8)
    lengths[:, 0] = 20
    options = {"eta": 3, "train": 5.0, "rollouts": "first_finished"}
    runs = {weights: run(lengths, Decoding(step_time(1.0)), weights=weights, **options)
            for weights in ("when_needed", "drain", "interrupt")}  # fmt: skip
    means = {weights: (result.staleness_histogram * np.arange(len(result.staleness_histogram))).sum()
             for weights, result in runs.items()}  # fmt: skip
    assert means["interrupt"] < means["drain"] < means["when_needed"]
    assert runs["drain"].makespan > runs["when_needed"].makespan >= runs["interrupt"].makespan


def test_the_first_to_finish_are_trained_on_first():
    """One long rollout of three holds up its own batch, unless others may take its place."""
    lengths = np.array([[30, 2, 2], [2, 2, 2], [2, 2, 2], [2, 2, 2]])
    decoding = Decoding(step_time(1.0))
    batch, continuous, first = (run(lengths, decoding, eta=2, train=1.0, rollouts=rollouts)
                                for rollouts in ("batch", "continuous", "first_finished"))  # fmt: skip
    assert batch.updates[0] == continuous.updates[0] == 31
    assert first.updates[:2].tolist() == [5, 7]  # three have ended at 4, three more at 6
    assert first.batch[0] == 2  # as late as its staleness allows
    assert first.updates[2] == 31
    assert first.makespan <= continuous.makespan <= batch.makespan


def test_places_are_kept_for_those_that_would_get_too_stale():
    """With new weights at once, later rollouts may be trained on later; they must not take the long one's place."""
    lengths = np.full((8, 3), 2)
    lengths[0, 0] = 30
    result = run(lengths, Decoding(step_time(1.0)), eta=1, train=1.0, rollouts="first_finished", weights="interrupt")
    assert result.batch[0] == 1
    assert result.staleness.max() == 1
    assert result.updates[0] < 30 < result.updates[1]


def test_a_group_holds_no_more_than_its_room():
    lengths = np.random.default_rng(1).integers(1, 50, (6, 20))
    for rollouts in ("batch", "continuous", "first_finished"):
        result = run(
            lengths, Decoding(step_time(1.0, 0.2), 7), eta=2, train=3.0, rollouts=rollouts, weights="interrupt"
        )
        assert result.running(result.started + 1e-9).max() <= 7
        assert Stage.GENERATION in {node.stage for node in result.graph.nodes}
