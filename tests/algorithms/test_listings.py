"""The listings as data: they fit the programs, the theory, and the rules of section V."""

import re

import pytest

from rlmkb.algorithms.lines import LISTINGS
from rlmkb.algorithms.listings import PRINTED, Line, Listing, listing
from rlmkb.algorithms.sources import implemented, numbers
from rlmkb.errors import InputError
from rlmkb.notation import Role, Stage
from rlmkb.theory.algorithms import ALGORITHMS, Call
from rlmkb.views.diagrams.dependencies import drawn, spans

every = pytest.mark.parametrize("one", LISTINGS.values(), ids=LISTINGS)


@every
def test_programs_carry_out_every_line_and_no_other(one):
    assert set(implemented(one.id)) == {line.number for line in one.lines}


@every
def test_numbers_rise_and_needs_exist(one):
    have = [line.number for line in one.lines]
    assert have == sorted(set(have))
    assert {need for line in one.lines for need in (*line.needs, *line.starts)} <= set(have)


@every
def test_samples_are_spread_exactly_where_turns_do_not_need_each_other(one):
    loops = [line for line in one.lines if line.loop]
    assert loops
    for loop in loops:
        assert ("DP" in loop.tags.usual) is not one.is_sequential(loop), loop.number


@every
def test_tags_follow_section_v(one):
    for line in one.lines:
        if line.call:
            assert line.tags.usual == ("TP", "PP")
            trains = line.call is Call.TRAIN or (one.id == "dpo" and line.lane is Role.POLICY)
            assert ("SP" in line.tags.possible) is trains
            assert {"CP", "EP"} <= set(line.tags.possible)
            assert line.printed in ((), PRINTED)
        else:
            assert line.tags.every <= {"DP"}


def test_dropped_tags_are_those_we_say():
    dropped = {one.id: {line.number: line.dropped for line in one.departures()} for one in LISTINGS.values()}
    assert dropped == {
        "rollout": {11: ("SP",)},
        "ppo": {1: ("DP",), 13: ("SP",), 19: ("SP",), 26: ("SP",), 40: ("DP",)},
        "grpo": {13: ("SP",), 19: ("SP",), 32: ("DP",)},
        "dpo": {4: ("DP",), 19: ("SP",), 20: ("SP",)},
    }
    assert all(line.note for one in LISTINGS.values() for line in one.departures() if line.loop)


@pytest.mark.parametrize("id", ALGORITHMS)
def test_invocations_are_those_of_the_theory(id):
    theory = {(call.role, call.stage, call.call) for call in ALGORITHMS[id].invocations}
    assert set(listing(id).invocations()) == theory


def test_generation_is_that_of_algorithm_one():
    assert list(listing("rollout").invocations()) == [(Role.POLICY, Stage.GENERATION, Call.GENERATE)]


@pytest.mark.parametrize(
    ("id", "paths"),
    [
        ("ppo", [(13, 19, 26), (48, 55), (64, 76), (70, 78), (48, 78)]),
        ("grpo", [(13, 19)]),
        ("dpo", [(12, 19), (13, 20), (12, 20)]),
    ],
)
def test_regions_marked_concurrent_have_no_path_between_them(id, paths):
    one = listing(id)
    for path in paths:
        assert all(one.concurrent(a, b) for a in path for b in path if a != b)


@every
def test_a_trained_model_runs_on_the_weights_of_its_last_update(one):
    for role in {line.lane for line in one.lines if line.call is Call.TRAIN}:
        update = max(line.number for line in one.lines if line.lane is role and line.call is Call.TRAIN)
        runs = [line for line in one.lines if line.lane is role and line.call]
        assert all(update in line.needs for line in runs)


def test_what_waits_is_not_concurrent():
    ppo = listing("ppo")
    assert not ppo.concurrent(27, 26)
    assert not ppo.concurrent(70, 48)
    assert ppo.ancestors(31) >= {3, 13, 19, 26, 27, 30}
    assert not ppo.ancestors(48) & {70, 78}


def test_a_loop_that_hands_its_weights_on_is_sequential_and_one_that_starts_anew_is_not():
    inner = (
        Line(1, "loop", loop=True), Line(2, "start", indent=1, starts=(4,)), Line(3, "loop", indent=1, loop=True),
        Line(4, "add", (2, 4), indent=2),
    )  # fmt: skip
    one = Listing("x", "x", "x", inner)
    assert one.is_sequential(inner[2])
    assert not one.is_sequential(inner[0])


@every
def test_mathematics_is_closed_and_lanes_have_a_stage(one):
    for line in one.lines:
        assert line.text.count("$") % 2 == 0
        assert line.stage in Stage
        assert line.call is None or line.lane


def test_unknown_listing_is_an_input_error():
    with pytest.raises(InputError, match="no listing 'pgo'; there are: ppo"):
        listing("pgo")


def test_numbers_of_comments():
    assert numbers("# line 7") == (7,)
    assert numbers("# one turn of line 1") == (1,)
    assert numbers("# lines 5-6 and 13: all") == (5, 6, 13)
    assert numbers("# the last token is never fed back") == ()


# --- the figure ------------------------------------------------------------------------------------------------------


@every
def test_figure_draws_every_marked_line_and_describes_it(one):
    from rlmkb.views import diagrams
    from rlmkb.views.diagrams.shapes import Label
    from rlmkb.views.diagrams.shapes import Line as Stroke

    name = f"{one.id}-dependencies"
    items = diagrams.DIAGRAMS[name].draw().items
    shown = {item.markup for item in items if isinstance(item, Label)}
    waits = drawn(one)
    assert {f"line {number}" for number in waits} == {text for text in shown if re.fullmatch(r"line \d+", text)}
    assert sum(isinstance(item, Stroke) and item.head for item in items) == sum(map(len, waits.values()))
    told = {int(number) for number in re.findall(r"\d+", diagrams.description(name))}
    assert told == set(waits)


def test_figure_leaves_out_what_follows_and_keeps_reachability():
    for one in LISTINGS.values():
        waits = drawn(one)
        reach = {}
        for number, earlier in waits.items():
            reach[number] = set(earlier).union(*(reach[before] for before in earlier))
        assert reach == {number: one.ancestors(number) & set(waits) for number in waits}


def test_shared_boxes_cover_the_lanes_they_join():
    ppo = listing("ppo")
    found = spans(ppo, drawn(ppo), ["policy", "critic", "reward", "reference"])
    assert (found[3], found[27], found[31], found[48]) == ((0, 3), (2, 3), (1, 3), (0, 0))
