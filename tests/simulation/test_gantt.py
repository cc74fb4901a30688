"""Bars of a Gantt chart: they cover what ran, and show the tail."""

import numpy as np
import pytest
import sympy

from rlmkb.errors import InputError
from rlmkb.simulation import Decoding, Execution, Passes, constant_times, simulate, step_time
from rlmkb.simulation.gantt import COLUMNS, compare, gantt
from rlmkb.theory.algorithms import GRPO
from rlmkb.theory.graph import IterationGraph, Schedule, co_located, split_by_stage


def runs(eta):
    graph = IterationGraph(GRPO, split_by_stage(GRPO), Schedule(frozenset(), staleness=sympy.Integer(eta)))
    services = constant_times(graph, {node.id: 6.0 for node in graph.nodes}, rollouts=4, tokens=10)
    services["reward/assessment"] = Passes(per_sample=0.5, batch=1)
    return simulate(graph, services, np.array([[2, 4, 6, 10]] * 5))


def test_bars_are_what_ran():
    bars = gantt(runs(0), iterations=2, slices=5)
    assert tuple(bars.columns) == COLUMNS
    assert bars["iteration"].unique().tolist() == [1, 2]
    generated = bars[(bars["stage"] == "generation") & (bars["iteration"] == 1)]
    assert generated["start"].iloc[0] == 0
    assert generated["end"].iloc[-1] == 6
    assert generated["load"].tolist() == pytest.approx([1, 0.75, 0.5, 0.25, 0.25])  # one ends with each slice
    trained = bars[bars["stage"] == "training"]
    assert (trained["end"] - trained["start"]).tolist() == pytest.approx([6, 6])
    assert (bars["load"] > 0).all()


def test_small_gaps_are_joined_and_leave_their_mark():
    apart = gantt(runs(0), iterations=1, joined=0.0)
    together = gantt(runs(0), iterations=1, joined=1.0)
    passes = [frame[frame["node"] == "reward/assessment"] for frame in (apart, together)]
    assert [len(frame) for frame in passes] == [4, 1]
    assert passes[1]["load"].item() == pytest.approx(2.0 / (6.5 - 1.2))


def test_runs_are_told_apart():
    bars = compare({eta: runs(eta) for eta in (0, 2)}, "eta", iterations=1)
    assert bars["eta"].unique().tolist() == [0, 2]
    with pytest.raises(InputError, match="nothing to compare"):
        compare({}, "eta")
    with pytest.raises(InputError, match="iterations is 0"):
        gantt(runs(0), iterations=0)


def test_a_node_that_takes_no_time_has_no_bar():
    graph = IterationGraph(GRPO.with_verifier(), co_located(GRPO.with_verifier()))
    services = {node.id: Passes(per_sample=1.0) for node in graph.nodes} | {
        "policy/generation": Decoding(step_time(1.0)), "verifier/assessment": Passes()}  # fmt: skip
    assert "verifier/assessment" not in set(gantt(simulate(graph, services, [[3, 4]]))["node"])


def test_where_iterations_overlap_slices_are_of_time():
    graph = runs(2).graph
    services = {node.id: Passes(per_sample=0.1) for node in graph.nodes} | {
        "policy/generation": Decoding(step_time(1.0))
    }
    lengths = np.array([[2, 2, 2, 8]] * 6)
    result = simulate(graph, services, lengths, execution=Execution("continuous"))
    bars = gantt(result, iterations=3, slices=4)
    bars = bars[bars["stage"] == "generation"]
    assert np.diff(bars["end"] - bars["start"]) == pytest.approx(0, abs=1e-9)
    assert (bars["start"].to_numpy()[1:] >= bars["end"].to_numpy()[:-1] - 1e-9).all()
    assert bars["load"].max() == 1
    assert set(bars["iteration"]) >= {1, 2, 3}
