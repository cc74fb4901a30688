"""Diagrams of pipeline, expert parallelism, ZeRO, checkpointing and ranks show what the theory says."""

from collections import Counter

import pytest

from rlmkb.theory.schedules import SCHEDULES, P_p, n, t_b, t_f, t_w, v
from rlmkb.theory.transforms import Zero, zero_states
from rlmkb.views.diagrams import DIAGRAMS
from rlmkb.views.diagrams.shapes import Label, Shape
from rlmkb.views.diagrams.stages_expert import ACTIVE, CHOICES, EXPERTS, load, received
from rlmkb.views.diagrams.stages_memory import shares
from rlmkb.views.diagrams.stages_pipeline import CHUNKS, MICRO_BATCHES, PLAIN, RANKS, SPLIT, timeline
from rlmkb.views.diagrams.stages_ranks import DEGREES_3D, DEGREES_5D, peers, rank_of


def labels(name):
    return Counter(item.markup for item in DIAGRAMS[name].draw().items if isinstance(item, Label))


@pytest.mark.parametrize("id", PLAIN + SPLIT)
def test_timelines_have_the_idle_time_and_the_live_micro_batches_of_the_formulas(id):
    at = {P_p: RANKS, n: MICRO_BATCHES, v: CHUNKS, t_f: 1, t_b: 1, t_w: 1}
    shown = timeline(id)
    assert shown.bubble == float(SCHEDULES[id].bubble.subs(at))
    assert shown.live == pytest.approx(float(SCHEDULES[id].live.subs(at)))
    name = "pipeline-schedules" if id in PLAIN else "pipeline-zero-bubble"
    assert f"idle {shown.bubble:g}, ends at {shown.end:g}, live {shown.live:g}" in labels(name)
    assert f"idle {shown.bubble:g}" in DIAGRAMS[name].description


def test_every_micro_batch_of_gpipe_is_drawn_twice_on_each_rank():
    shown = labels("pipeline-zero-bubble")
    # zero bubble: forward, backward and weights on four ranks, twice; DualPipe's numbers end at four
    assert shown["8"] >= 2 * 3 * RANKS


def test_decode_is_busy_as_said():
    said = [text for text in labels("pipeline-decode") if "busy" in text]
    assert [text.split()[-4] for text in said] == ["25%", "100%"]


def test_every_chosen_copy_is_drawn_at_its_expert():
    assert all(len(set(chosen)) == ACTIVE for chosen in CHOICES)
    assert sum(len(received(expert)) for expert in range(1, EXPERTS + 1)) == ACTIVE * len(CHOICES)
    assert load(0) + load(1) == ACTIVE * len(CHOICES)
    shown = labels("expert-parallelism")
    assert all(shown[str(token)] == 1 + ACTIVE for token in range(1, len(CHOICES) + 1))


def test_zero_bars_are_to_scale():
    shown = labels("zero-stages")
    for stage in Zero:
        held = float(zero_states(stage, 4))
        assert shown[f"{held:g} {'number' if held == 1 else 'numbers'} a parameter"] == 1
    shapes = [item for item in DIAGRAMS["zero-stages"].draw().items if isinstance(item, Shape) and item.fill != "none"]
    # whole bars and quarters, on four ranks: 12 whole without sharding, 8 and 4 quarters with ZeRO-1
    widths = Counter(round(item.extent.w) for item in shapes)
    assert widths[92] == 12 + 8 + 4
    assert widths[23] == 4 + 8 + 12


def test_recomputation_keeps_ever_less():
    kept = list(shares().values())
    assert kept == sorted(kept, reverse=True)
    assert kept[0] == 1


def test_ranks_are_numbered_once_and_peers_are_marked():
    for name, degrees in (("ranks-3d", DEGREES_3D), ("ranks-5d", DEGREES_5D)):
        shown = labels(name)
        marked = {number for axis in range(len(degrees)) for number in peers((0,) * len(degrees), degrees, axis)}
        numbers = {rank_of(place, degrees) for place in _places(degrees)}
        assert numbers == set(range(len(numbers)))
        bare = {int(text) for text in shown if text.isdigit()}
        assert bare == numbers - (marked - {0})


def _places(degrees):
    places = [()]
    for degree in degrees:
        places = [(*place, i) for place in places for i in range(degree)]
    return places
