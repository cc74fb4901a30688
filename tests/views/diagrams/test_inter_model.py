"""Diagrams of the iteration, placements and structures show the graph's groups and invocations."""

from collections import Counter

from rlmkb.notation import Role
from rlmkb.views.diagrams import DIAGRAMS
from rlmkb.views.diagrams.inter_placement import PLACEMENTS, placed
from rlmkb.views.diagrams.inter_structure import PICTURES, structures
from rlmkb.views.diagrams.shapes import Label, Shape


def labels(name):
    return Counter(item.markup for item in DIAGRAMS[name].draw().items if isinstance(item, Label))


def test_every_invocation_stands_between_barriers():
    shown = labels("iteration-graph")
    assert (shown["generates"], shown["runs forward"], shown["is trained"]) == (1, 3, 2)


def test_placements_have_a_frame_for_each_group():
    frames = [item for item in DIAGRAMS["placements"].draw().items if isinstance(item, Shape) and item.fill == "none"]
    assert len(frames) == sum(len(placed(name)) for name, _ in PLACEMENTS) == 1 + 2 + 4 + 6
    shown = labels("placements")
    assert sum(count for label, count in shown.items() if label.endswith((" G", " A", " T"))) == 6 * 4


def test_structures_say_how_many_invocations_are_left():
    found = structures()
    assert list(found) == list(PICTURES)
    shown = labels("model-structures")
    counts = Counter(f"{len(algorithm.invocations)} invocations" for algorithm in found.values())
    assert {label: shown[label] for label in counts} == counts
    # a picture without a critic is of an algorithm without one
    for name, algorithm in found.items():
        drawn = any("critic" in models for models, *_ in PICTURES[name])
        assert drawn == bool({Role.CRITIC, Role.ACTOR_CRITIC} & set(algorithm.roles))
