"""Diagrams of stage fusion and asynchrony show what the event loop gives."""

from collections import Counter

import pytest

from rlmkb.notation import Stage
from rlmkb.simulation import Passes, constant_times, simulate
from rlmkb.theory.algorithms import PPO
from rlmkb.theory.graph import IterationGraph, Schedule, co_located
from rlmkb.views.diagrams import DIAGRAMS
from rlmkb.views.diagrams.inter_async import LOADS, SPANS, overlapped, pieces
from rlmkb.views.diagrams.inter_fusion import BUBBLE, LENGTHS, PASSES, SCORE, UPDATE, ends, streamed
from rlmkb.views.diagrams.shapes import Label, Shape


def labels(name):
    return Counter(item.markup for item in DIAGRAMS[name].draw().items if isinstance(item, Label))


def test_streaming_leaves_only_the_longest_to_be_scored():
    behind, along = streamed(True), streamed(False)
    assert behind.makespan == max(LENGTHS) + SCORE * len(LENGTHS) + UPDATE
    assert along.makespan == max(LENGTHS) + SCORE + UPDATE
    shown = labels("inter-stage-fusion")
    for run in (behind, along):
        assert shown[f"last score at {run.makespan - UPDATE:g}, ends at {run.makespan:g}"] == 1
    scored = [item for item in DIAGRAMS["inter-stage-fusion"].draw().items
              if isinstance(item, Shape) and item.stroke == "assessment"]  # fmt: skip
    assert len(scored) == 2 * len(LENGTHS) + 1  # and one in the legend


@pytest.mark.parametrize("turns", [False, True])
def test_passes_in_turns_end_when_the_simulation_says(turns):
    interleaved = frozenset({Stage.TRAINING} if turns else ())
    graph = IterationGraph(PPO, co_located(PPO), Schedule(interleaved=interleaved))
    services = constant_times(graph, {node.id: 0.0 for node in graph.nodes}, rollouts=PASSES, tokens=1)
    for role in ("policy", "critic"):
        services[f"{role}/training"] = Passes(per_sample=1.0, batch=1, bubble=BUBBLE)
    assert simulate(graph, services, [[1] * PASSES]).makespan == pytest.approx(ends(turns))
    assert labels("intra-stage-fusion")[f"ends at {ends(turns):g}"] == 1


def test_timelines_say_the_period_of_the_run():
    shown = labels("asynchronous-execution")
    for staleness in (0, 1):
        done = sum(overlapped(staleness).updates <= 30)
        assert shown[f"an update every {overlapped(staleness).period:g}, {done} by 30"] == 1
    assert shown["2 $v_1$"] == shown["2 $v_0$"] == 1  # the second batch with fresh weights, and with stale ones


def test_pieces_of_a_rollout_cover_it_with_a_version_each():
    for start, end in SPANS:
        parts = pieces(start, end)
        assert [a for a, _, _ in parts] == [start, *(b for _, b, _ in parts[:-1])]
        assert parts[-1][1] == end
        assert [version for _, _, version in parts] == [sum(time <= a for time in LOADS) for a, _, _ in parts]
    drawn = labels("in-flight-weights")
    versions = Counter(f"$v_{version}$" for span in SPANS for _, _, version in pieces(*span))
    versions.update(f"$v_{k + 1}$" for k in range(len(LOADS)))
    assert {name: drawn[name] for name in versions} == dict(versions)


def test_there_are_two_actors_and_one_is_trained():
    actors = [text for text in labels("async-copies") if text.startswith("actor")]
    assert sorted(actors) == ["actor, read only", "actor, trained"]
