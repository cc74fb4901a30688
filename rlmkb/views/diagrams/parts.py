"""Ready-made parts of diagrams: paragraphs, boxes, panels, arrows and legends."""

from collections.abc import Sequence

from rlmkb.views.diagrams import text
from rlmkb.views.diagrams.shapes import (
    GAP,
    HEADING,
    PAD,
    SMALL,
    TEXT,
    Drawing,
    Label,
    Line,
    Point,
    Rect,
    Shape,
    column,
    inks,
    row,
)


def lines(*markups: str, size: float = SMALL, ink: str = "ink", anchor: str = "start", bold: bool = False) -> Drawing:
    """Lines of text below each other, around x = 0 as `anchor` says, in a space of whole line heights."""
    step = text.line_height(size)
    labels = tuple(
        Label(0, (index + 0.5) * step, markup, size, bold, ink, anchor) for index, markup in enumerate(markups)
    )
    widest = max(label.extent.w for label in labels)
    left = {"start": 0, "middle": -widest / 2, "end": -widest}[anchor]
    return Drawing(labels, Rect(left, 0, widest, len(markups) * step))


def paragraph(markup: str, room: float, **style) -> Drawing:
    """Text broken into lines of at most `room`; the drawing is `room` wide."""
    size, bold = style.get("size", SMALL), style.get("bold", False)
    drawing = lines(*text.wrap(markup, room, size, bold), **style)
    left = {"start": 0, "middle": -room / 2, "end": -room}[style.get("anchor", "start")]
    return Drawing(drawing.items, Rect(left, 0, room, drawing.extent.h))


def box(
    *markups: str, tone: str = "neutral", width: float | None = None, height: float | None = None,
    size: float = TEXT, note: float = SMALL, bold: bool = False, dashed: bool = False, weight: float = 1.25,
    radius: float = 5, pad: float = PAD, key: str = "",
) -> Drawing:  # fmt: skip
    """A box around centred lines: the first in `size` (and bold if asked), the others in the size `note`."""
    fill, stroke, ink = inks(tone)
    label = lines(markups[0], size=size, bold=bold, ink=ink, anchor="middle")
    if len(markups) > 1:
        label = column(label, lines(*markups[1:], size=note, ink=ink, anchor="middle"), gap=0, align="middle")
    w = width or label.extent.w + 2 * pad
    h = height or label.extent.h + 2 * pad * 0.6
    frame = Shape(Rect(0, 0, w, h), fill, stroke, weight, radius, dashed, key=key)
    placed = label.at((w - label.extent.w) / 2, (h - label.extent.h) / 2)
    return Drawing((frame, *placed.items), frame.extent)


def panel(
    title: str, content: Drawing, *, tone: str = "neutral", width: float | None = None, key: str = "",
    pad: float = 12,
) -> Drawing:  # fmt: skip
    """A card with a coloured title bar above its content."""
    fill, stroke, ink = inks(tone)
    heading = lines(title, size=HEADING, bold=True, ink=ink)
    bar = heading.extent.h + 10
    w = width or max(content.extent.w, heading.extent.w) + 2 * pad
    card = Shape(Rect(0, 0, w, bar + content.extent.h + 2 * pad), "page", stroke, key=key)
    top = Shape(Rect(0, 0, w, bar), fill, stroke, bar=True)
    body = content.at(pad, bar + pad)
    return Drawing((card, top, *heading.at(pad, 5).items, *body.items), card.extent)


def arrow(*points: Point, stroke: str = "muted", **style) -> Line:
    """A line through the points with a head at the last one."""
    return Line(points, stroke=stroke, head=True, **style)


def swatch(tone: str, meaning: str, *, dashed: bool = False, weight: float = 1.25, solid: bool = False) -> Drawing:
    """One entry of a legend: a small box in the tone, and what it means."""
    fill, stroke, _ = inks(tone)
    mark = Drawing((Shape(Rect(0, 0, 20, 13), stroke if solid else fill, stroke, weight, 3, dashed),))
    return row(mark, lines(meaning, ink="muted"), gap=7, align="middle")


def legend(*entries: Drawing, room: float) -> Drawing:
    """Entries in rows no wider than `room`."""
    rows: list[list[Drawing]] = [[]]
    for entry in entries:
        if rows[-1] and sum(e.extent.w + GAP for e in [*rows[-1], entry]) - GAP > room:
            rows.append([])
        rows[-1].append(entry)
    return column(*(row(*entries, gap=GAP, align="middle") for entries in rows), gap=4)


def grid_of(cells: Sequence[Sequence[Drawing]], gap: float = GAP, leading: float | None = None) -> Drawing:
    """Cells in columns as wide as their widest cell, left-aligned; `leading` is the gap between rows."""
    widths = [max(cells_[i].extent.w for cells_ in cells) for i in range(len(cells[0]))]
    padded = (
        row(*(widened(cell, w) for cell, w in zip(cells_, widths, strict=True)), gap=gap, align="middle")
        for cells_ in cells
    )
    return column(*padded, gap=gap if leading is None else leading)


def widened(drawing: Drawing, width: float) -> Drawing:
    """The drawing at the left of a space of the given width."""
    e = drawing.extent
    return Drawing(drawing.items, Rect(e.x, e.y, width, e.h))


def blank(width: float, height: float) -> Drawing:
    """Empty space."""
    return Drawing((), Rect(0, 0, width, height))


def brace(start: Point, end: Point, depth: float = 6) -> Line:
    """A bracket from one point to another: below a horizontal stretch, right of a vertical one."""
    (ax, ay), (bx, by) = start, end
    dx, dy = (0, depth) if ay == by else (depth, 0)
    return Line(((ax, ay), (ax + dx, ay + dy), (bx + dx, by + dy), (bx, by)), "line", 1.25, bend=3)


def cell(x: float, y: float, w: float, h: float, tone: str, solid: bool = False, **style) -> Drawing:
    """A small rectangle of a matrix or a tape, without text; `solid` fills it with the tone's full colour."""
    fill, stroke, _ = inks(tone)
    fill = stroke if solid else fill
    return Drawing((Shape(Rect(x, y, w, h), fill, stroke, **{"weight": 1.0, "radius": 2, **style}),))
