"""Small pictures of the ways to split work, each 40 by 40 units.

What one of two devices holds is in the accent colour; roles and stages have their own colours.
"""

from collections.abc import Callable

from rlmkb.views.diagrams.parts import cell
from rlmkb.views.diagrams.shapes import Drawing, Rect

SIDE = 40


def _cells(columns: int, rows: int, mine: Callable[[int, int], bool], gap: float = 3) -> Drawing:
    """A grid over the whole glyph; `mine(column, row)` says which cells one device holds."""
    w, h = (SIDE + gap) / columns, (SIDE + gap) / rows
    drawing = Drawing()
    for j in range(rows):
        for i in range(columns):
            here = mine(i, j)
            drawing += cell(i * w, j * h, w - gap, h - gap, "accent" if here else "neutral", solid=here)
    return drawing


def _bars(*bars: tuple[float, float, float, float, str]) -> Drawing:
    """Rectangles given as x, y, width, height and tone."""
    drawing = Drawing()
    for x, y, w, h, tone in bars:
        drawing += cell(x, y, w, h, tone, solid=tone != "neutral")
    return drawing


def _data() -> Drawing:
    return _cells(4, 4, lambda i, j: j < 2)


def _tensor() -> Drawing:
    return _cells(4, 1, lambda i, j: i < 2)


def _sequence() -> Drawing:
    tokens = [(i * 10.75, y, 7.75, 7, "accent" if i < 2 else "neutral") for y in (0, 33) for i in range(4)]
    return _bars(*tokens, (0, 11, SIDE, 18, "neutral"))


def _context() -> Drawing:
    return _cells(4, 4, lambda i, j: i < 2)


def _pipeline() -> Drawing:
    return _cells(1, 4, lambda i, j: j < 2)


def _expert() -> Drawing:
    experts = ((i * 10.75, 12, 7.75, 28, "accent" if i < 2 else "neutral") for i in range(4))
    return _bars((0, 0, SIDE, 8, "neutral"), *experts)


def _zero() -> Drawing:
    return _cells(4, 2, lambda i, j: j == 1)  # weights, gradients and two moments, each cut in two


def _checkpointing() -> Drawing:
    drawing = Drawing()
    for j in range(4):
        kept = j in (0, 3)
        drawing += cell(0, j * 10.75, SIDE, 7.75, "memory" if kept else "faint", solid=kept, dashed=not kept)
    return drawing


def _structure() -> Drawing:
    return _bars((0, 0, 18.5, 12, "policy"), (21.5, 0, 18.5, 12, "critic"), (0, 15, SIDE, 25, "neutral"))


def _placement() -> Drawing:
    groups = _bars((0, 0, 18.5, SIDE, "neutral"), (21.5, 0, 18.5, SIDE, "neutral"))
    return groups + _bars(
        (4, 4, 10.5, 32, "policy"), (25.5, 4, 10.5, 8.5, "reward"), (25.5, 15.75, 10.5, 8.5, "critic"),
        (25.5, 27.5, 10.5, 8.5, "reference"),
    )  # fmt: skip


def _fusion() -> Drawing:
    lengths = (12, 28, 8, 20)
    return _bars(
        *(
            bar
            for j, length in enumerate(lengths)
            for bar in (
                (0, j * 10.75, length, 7.75, "generation"), (length + 2, j * 10.75, 10, 7.75, "assessment"),
            )
        )
    )  # fmt: skip


def _hybrid() -> Drawing:
    left = ((i * 10, 0, 8, SIDE, "generation") for i in range(2))
    right = ((21.5, j * 14, 18.5, 12, "training") for j in range(3))
    return _bars(*left, *right)


def _asynchrony() -> Drawing:
    return _bars(
        (0, 4, 12, 14, "generation"), (14, 4, 12, 14, "generation"), (28, 4, 12, 14, "generation"),
        (14, 22, 12, 14, "training"), (28, 22, 12, 14, "training"),
    )  # fmt: skip


_GLYPHS = {
    "data": _data, "tensor": _tensor, "sequence": _sequence, "context": _context, "pipeline": _pipeline,
    "expert": _expert, "zero": _zero, "checkpointing": _checkpointing, "structure": _structure,
    "placement": _placement, "fusion": _fusion, "hybrid": _hybrid, "asynchrony": _asynchrony,
}  # fmt: skip


def glyph(name: str) -> Drawing:
    """The small picture of a strategy, in a space of 40 by 40."""
    return Drawing(_GLYPHS[name]().items, Rect(0, 0, SIDE, SIDE))
