"""No diagram has what a reader would call ugly: text out of its box, overlaps, arrows through words, crossing lines."""

from itertools import combinations, pairwise

import pytest

from rlmkb.views import diagrams
from rlmkb.views.diagrams.parts import arrow, box, lines
from rlmkb.views.diagrams.shapes import Drawing, Label, Line, Rect, Shape

every = pytest.mark.parametrize("name", diagrams.names())


def clips(start, end, rect: Rect) -> bool:
    """Whether a straight piece enters the rectangle."""
    (x, y), (dx, dy) = start, (end[0] - start[0], end[1] - start[1])
    low, high = 0.0, 1.0
    for delta, near, far in ((dx, rect.x - x, rect.right - x), (dy, rect.y - y, rect.bottom - y)):
        if delta == 0:
            if near >= 0 or far <= 0:
                return False
            continue
        a, b = sorted((near / delta, far / delta))
        low, high = max(low, a), min(high, b)
    return low < high


def _side(a, b, c) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def cross(a, b, c, d) -> bool:
    """Whether two straight pieces cross; touching at an end is allowed."""
    return _side(a, b, c) * _side(a, b, d) < 0 and _side(c, d, a) * _side(c, d, b) < 0


def pieces(line: Line):
    """The straight pieces of a line."""
    return pairwise(line.points)


def findings(drawing: Drawing) -> list[str]:
    """Every flaw of a drawing, in words."""
    labels = [item for item in drawing.items if isinstance(item, Label)]
    shapes = [item for item in drawing.items if isinstance(item, Shape)]
    strokes = [item for item in drawing.items if isinstance(item, Line)]
    whole = drawing.extent.grown(0.01)
    found = [f"outside of the drawing: {one.markup}" for one in labels if not whole.holds(one.extent)]
    for label in labels:
        e = label.extent
        centre = Rect(e.centre, e.middle, 0, 0)
        boxes = [shape.extent for shape in shapes if shape.extent.holds(centre)]
        if boxes and not min(boxes, key=lambda box: box.w * box.h).grown(-1).holds(e):
            found.append(f"text out of its box: {label.markup}")
        found += [
            f"a line runs through: {label.markup}"
            for line in strokes
            if any(clips(*piece, e.grown(1)) for piece in pieces(line))
        ]
    for one, other in combinations(labels, 2):
        if one.extent.meets(other.extent):
            found.append(f"texts overlap: {one.markup} / {other.markup}")
    for shape in shapes:
        if shape.fill == "none" or shape.extent.w < 8:  # a dot where a line branches
            continue
        inside = shape.extent.grown(-1.5)
        found += [
            f"a line runs through the box at {shape.extent}: {line.points}"
            for line in strokes
            if not shape.extent.holds(line.extent) and any(clips(*piece, inside) for piece in pieces(line))
        ]
    for one, other in combinations(strokes, 2):
        if any(cross(*a, *b) for a in pieces(one) for b in pieces(other)):
            found.append(f"lines cross: {one.points} / {other.points}")
    return found


@every
def test_has_no_overlap_and_no_text_out_of_its_box(name):
    assert findings(diagrams.DIAGRAMS[name].draw()) == []


@every
def test_is_narrow_and_its_text_is_large(name):
    drawing = diagrams.DIAGRAMS[name].draw()
    assert drawing.extent.w <= 420  # a phone of 390 pixels shows it whole, its smallest text near 11
    assert min(item.size for item in drawing.items if isinstance(item, Label)) >= 13


def test_lint_finds_each_kind_of_flaw():
    narrow = box("far too long", width=40)
    assert any("out of its box" in each for each in findings(narrow))
    assert any("overlap" in each for each in findings(lines("one") + lines("two")))
    through = lines("word") + Line(((-5, 9), (60, 9)))
    assert any("runs through: word" in each for each in findings(through))
    crossing = Drawing((Line(((0, 0), (9, 9))), Line(((0, 9), (9, 0)))))
    assert any("cross" in each for each in findings(crossing))
    behind = box("a", width=40, height=30) + arrow((-20, 4), (80, 4))
    assert any("through the box" in each for each in findings(behind))
