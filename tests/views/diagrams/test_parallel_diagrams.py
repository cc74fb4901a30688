"""Figures of intra-model parallelism: what they draw is what the theory says."""

from collections import Counter
from itertools import pairwise

import pytest

from rlmkb.theory.partition import CONTEXT, DATA, EXPERT_COUPLED, PIPELINE, STATE, STRATEGIES, TENSOR, WORK
from rlmkb.theory.sequence import kept as kept_by
from rlmkb.theory.traffic import Collective, Phase, messages
from rlmkb.views.diagrams import DIAGRAMS, parallel_axes, parallel_context, parallel_data, parallel_sequence
from rlmkb.views.diagrams import parallel_tensor as tensor
from rlmkb.views.diagrams.shapes import Label, Shape


def labels(name):
    return Counter(item.markup for item in DIAGRAMS[name].draw().items if isinstance(item, Label))


def test_the_map_has_every_axis_and_what_it_divides():
    drawn = {axis.name: axis for _, _, axis, _, _ in parallel_axes.ENTRIES}
    assert drawn == {axis.name: axis for axis in (DATA, TENSOR, CONTEXT, PIPELINE, EXPERT_COUPLED)}
    shares = {name: parallel_axes.held(axis, STATE) for name, axis in drawn.items()}
    assert shares == {"data": "whole", "context": "whole", "tensor": "piece", "pipeline": "mixed", "expert": "mixed"}
    assert {parallel_axes.held(axis, WORK) for axis in drawn.values()} == {"piece"}


def test_gradients_leave_when_their_layer_is_done_and_one_after_the_other():
    pieces = {name: (start, end) for name, start, end in parallel_data.timeline()}
    layers = range(parallel_data.LAYERS, 0, -1)
    assert all(pieces[f"bucket {layer}"][0] >= pieces[f"backward {layer}"][1] for layer in layers)
    for lane in ("backward", "bucket"):
        times = [pieces[f"{lane} {layer}"] for layer in layers]
        assert all(before[1] <= after[0] for before, after in pairwise(times))
    hidden = [layer for layer in layers if pieces[f"bucket {layer}"][1] <= pieces["backward 1"][1]]
    assert hidden == [4, 3, 2]  # the last bucket is left, as the description says


def test_both_replicas_hold_all_and_share_the_batch():
    shown = labels("parallel-data")
    assert shown["all weights"] == parallel_data.RANKS
    share = parallel_data.SEQUENCES // parallel_data.RANKS
    assert shown[f"gradients of {share} sequences"] == parallel_data.RANKS


@pytest.mark.parametrize("phase", [Phase.FORWARD, Phase.BACKWARD])
def test_operators_meet_as_often_as_the_traffic_counts(phase):
    column = {Phase.FORWARD: 1, Phase.BACKWARD: 2}[phase]
    drawn = [operator[column] for operator in tensor.OPERATORS].count("all-reduce") * len(tensor.PARTS)
    found = [message for message in messages(STRATEGIES["tensor"]) if message.phase is phase]
    assert [message.kind for message in found] == [Collective.ALL_REDUCE]
    assert str(found[0].count) == f"{drawn}*L"


def test_every_rank_has_its_half_of_every_matrix():
    items = DIAGRAMS["parallel-tensor"].draw().items
    halves = [item.extent for item in items if isinstance(item, Shape) and item.fill == item.stroke == "work"]
    matrices = tensor.RANKS * 2 * len(tensor.PARTS)
    assert len(halves) == matrices + 1  # and one in the legend
    assert Counter(half.w > half.h for half in halves[:matrices]) == {True: matrices / 2, False: matrices / 2}


def test_sequence_parallelism_cuts_what_the_theory_calls_token_wise():
    cut_by = {name: together for name, _, together, _ in parallel_sequence.PLACES}
    alone = {name: share for name, share, _, _ in parallel_sequence.PLACES}
    assert [alone[name] for name, share in cut_by.items() if share == parallel_sequence.TOKENS] == ["whole", "whole"]
    assert alone["heads, inner width"] == cut_by["heads, inner width"] == parallel_sequence.WIDTH
    token_wise = {entry.token_wise for entry in kept_by(STRATEGIES["none"].step) if "value" in entry.name}
    assert token_wise == {True, False}  # the input of the products is token-wise, what they make is not
    with_it = messages(STRATEGIES["tensor"], sequence_parallel=True)
    assert {message.kind.value for message in with_it} == {joint for _, joint in parallel_sequence.JOINTS} - {
        "cut columns"
    }


def test_the_ring_brings_every_block_to_every_rank_once():
    ranks = range(parallel_context.RANKS)
    for rank in ranks:
        assert sorted(parallel_context.block_at(step, rank) for step in ranks) == list(ranks)
        assert parallel_context.block_at(0, rank) == rank
    for step in ranks[1:]:  # a block moves to the right neighbour
        assert all(
            parallel_context.block_at(step, rank) == parallel_context.block_at(step - 1, (rank - 1) % len(ranks))
            for rank in ranks
        )


def test_causal_meetings_are_drawn_as_work():
    items = DIAGRAMS["parallel-ring"].draw().items
    boxes = Counter(item.stroke for item in items if isinstance(item, Shape) and item.extent.w == 62)
    n = parallel_context.RANKS
    assert boxes["work"] == n * (n + 1) // 2
    assert boxes["line"] == n * (n - 1) // 2 + n  # skipped ones, and the queries
