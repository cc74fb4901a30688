"""Pipeline schedules: each formula against the schedule played event by event."""

from itertools import pairwise

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from rlmkb.errors import InputError
from rlmkb.theory.schedules import SCHEDULES, P_p, n, t_b, t_f, t_w, v
from rlmkb.theory.timeline import ORDERS, Pass, play

NAMES = list(SCHEDULES)
ONE_DIRECTION = [name for name in NAMES if name != "dualpipe"]


def values(ranks, pieces, times=(1, 1, 1), chunks=1):
    return {P_p: ranks, n: pieces, v: chunks, t_f: times[0], t_b: times[1], t_w: times[2]}


def pieces_of(timeline):
    return [piece for slot in timeline.slots for piece in slot.block]


@st.composite
def cases(draw, names=tuple(NAMES)):
    name = draw(st.sampled_from(names))
    ranks = draw(st.integers(1, 4)) * (2 if name == "dualpipe" else 1)
    chunks = draw(st.integers(2, 4)) if name == "interleaved" else 1
    pieces = ranks * draw(st.integers(2, 4))  # enough for every schedule's formula
    return name, ranks, pieces, chunks


@given(cases())
@settings(max_examples=60)
def test_bubble_and_live_micro_batches_with_equal_times(case):
    name, ranks, pieces, chunks = case
    played, at = play(name, ranks, pieces, chunks=chunks), values(ranks, pieces, chunks=chunks)
    assert played.bubble == pytest.approx(float(SCHEDULES[name].bubble.subs(at)))
    assert played.live == pytest.approx(float(SCHEDULES[name].live.subs(at)))


@given(cases(tuple(ONE_DIRECTION)), st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9)))
@settings(max_examples=60)
def test_unequal_times(case, times):
    """Zero-bubble formulas need the weight gradients to be no longer than the gaps that they fill."""
    name, ranks, pieces, chunks = case
    if name.startswith("zb"):
        times = tuple(sorted(times, key=lambda time: -time))  # t_w last
    played, at = play(name, ranks, pieces, chunks=chunks, times=times), values(ranks, pieces, times, chunks)
    expected = float(SCHEDULES[name].bubble.subs(at))
    assert played.bubble == pytest.approx(expected) or (name == "zb-h2" and played.bubble >= expected)


@given(cases())
def test_every_pass_happens_once_after_what_it_needs(case):
    name, ranks, pieces, chunks = case
    played = play(name, ranks, pieces, chunks=chunks)
    done = {piece: slot.end for slot in played.slots for piece in slot.block}
    assert len(pieces_of(played)) == len(done) == 3 * ranks * chunks * pieces
    for slot in played.slots:
        outside = [need for piece in slot.block for need in piece.needs if need not in slot.block and need in done]
        assert all(done[need] <= slot.start for need in outside)
    for rank in range(ranks):
        slots = played.of(rank)
        assert all(one.end <= other.start for one, other in pairwise(slots))
        assert sum(slot.end - slot.start for slot in slots) == pytest.approx(3 * pieces)


@pytest.mark.parametrize("name", NAMES)
def test_one_rank_never_waits(name):
    if name != "dualpipe":
        assert play(name, 1, 4).bubble == SCHEDULES[name].bubble.subs(P_p, 1) == 0
    else:
        assert play(name, 2, 4).bubble == SCHEDULES[name].bubble.subs(P_p, 2) == 0


def test_the_step_of_gpipe_and_1f1b_takes_work_and_bubble():
    for name in ("gpipe", "1f1b"):
        played, schedule = play(name, 4, 12, times=(1, 2, 1)), SCHEDULES[name]
        assert played.end == (schedule.work_time + schedule.bubble).subs(values(4, 12, (1, 2, 1)))


def test_sources_order_the_schedules():
    """With equal times: half-pipelined DualPipe and H2 wait least, GPipe and 1F1B most."""
    bubbles = {name: SCHEDULES[name].bubble.subs(values(8, 16, chunks=2)) for name in NAMES}
    assert bubbles["zb-h2"] < bubbles["dualpipe"] < bubbles["zb-h1"] < bubbles["interleaved"] < bubbles["1f1b"]
    assert bubbles["1f1b"] == bubbles["gpipe"] == 3 * bubbles["zb-h1"]


def test_the_table_of_deepseek_v3():
    """Its ZB1P is H1; F, B the full backward pass, W its part for weights, F&B without gain F + B."""
    F, W = t_f, t_w
    full = t_b + t_w
    assert sympy.expand(SCHEDULES["1f1b"].bubble - (P_p - 1) * (F + full)) == 0
    assert sympy.expand(SCHEDULES["zb-h1"].bubble - (P_p - 1) * (F + full - 2 * W)) == 0
    assert sympy.expand(SCHEDULES["dualpipe"].bubble - (P_p / 2 - 1) * ((F + full) + full - 3 * W)) == 0
    assert [SCHEDULES[name].live.subs(n, 1000).subs(P_p, 16) for name in ("1f1b", "zb-h1", "dualpipe")] == [16, 16, 17]


def test_forward_and_backward_share_a_slot_in_dualpipe_alone():
    mixed = {name: any(Pass.FORWARD in {piece.kind for piece in slot.block} and len(slot.block) > 1
                       for slot in play(name, 4, 8).slots) for name in NAMES}  # fmt: skip
    assert [name for name, both in mixed.items() if both] == ["dualpipe"]


def test_formulas_and_orders_have_the_same_names():
    assert list(ORDERS) == NAMES


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ({"schedule": "gpip"}, "no schedule is named 'gpip'; allowed: gpipe"),
        ({"ranks": 0}, "ranks is 0"),
        ({"micro_batches": 2.5}, "micro_batches is 2.5"),
        ({"chunks": 2}, "only the interleaved"),
        ({"schedule": "interleaved", "micro_batches": 6}, "a multiple of the 4 ranks"),
        ({"schedule": "dualpipe", "micro_batches": 6}, "at least twice the ranks"),
        ({"times": (1, 1)}, "three numbers"),
    ],
)
def test_what_cannot_be_played_is_refused(call, told):
    with pytest.raises(InputError, match=told):
        play(**{"schedule": "1f1b", "ranks": 4, "micro_batches": 8} | call)
