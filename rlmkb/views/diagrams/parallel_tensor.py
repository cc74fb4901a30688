"""Tensor parallelism: columns of one matrix, rows of the next, and an operator on either side."""

from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import arrow, box, cell, grid_of, legend, lines, paragraph, swatch
from rlmkb.views.diagrams.shapes import SMALL, Drawing, Line, Rect, Shape, column, row

RANKS = 2
# operator, what it does in the forward and in the backward pass
OPERATORS = (("f", "hand on", "all-reduce"), ("g", "all-reduce", "hand on"))
# the two parts of a layer: matrices cut in columns, what happens on a rank alone, matrix cut in rows
PARTS = (
    ("attention", "$W_Q$ $W_K$ $W_V$", ("heads 1 to 4", "heads 5 to 8"), "$W_O$"),
    ("feed-forward", "$W_{up}$", ("activation",) * RANKS, "$W_{down}$"),
)

_ROOM, _GAP = 412, 16
_SIDE = (_ROOM - _GAP) / RANKS


def _cut(name: str, rank: int, columns: bool, copies: int = 1) -> Drawing:
    """A matrix of which this rank has one half, as columns or as rows."""
    side, drawing = 26, Drawing()
    for copy in range(copies):
        for half in range(RANKS):
            mine = half == rank
            x, y, w, h = (half * side / 2, 0, side / 2, side) if columns else (0, half * side / 2, side, side / 2)
            drawing += cell(copy * (side + 6) + x, y, w, h, "work" if mine else "neutral", solid=mine, radius=0)
    return row(drawing, lines(name), gap=9, align="middle")


def _rank(rank: int, first: str, inside: str, second: str) -> Drawing:
    """What one rank does between f and g."""
    entries = (
        _cut(first, rank, columns=True),
        box(inside, tone="work", width=116, height=26, size=SMALL),
        _cut(second, rank, columns=False),
    )
    return column(*entries, gap=9)


def _part(name: str, first: str, inside: tuple[str, ...], second: str, index: int) -> Drawing:
    ranks = [_rank(rank, first, inside[rank], second) for rank in range(RANKS)]
    high = ranks[0].extent.h + 2 * 12
    drawing = box(f"$f$: {name}", tone="accent", width=_ROOM, height=26, size=SMALL, key=f"f{index}")
    for rank, content in enumerate(ranks):
        x = rank * (_SIDE + _GAP)
        drawing += Shape(Rect(x, 26 + 18, _SIDE, high), "none", "hairline", key=f"rank{index}{rank}")
        drawing += content.at(x + 18, 26 + 18 + 12)
    bar = box(f"$g$: sum of both ranks’ {name}", tone="accent", width=_ROOM, height=26, size=SMALL, key=f"g{index}")
    drawing += bar.at(0, 26 + 18 + high + 18)
    for rank in range(RANKS):
        x = drawing[f"rank{index}{rank}"].centre
        drawing += arrow((x, 26), (x, 44))
        drawing += arrow((x, 44 + high), (x, 44 + high + 18))
    return drawing


def _whole(words: str) -> Drawing:
    return box(words, tone="memory", width=_ROOM, height=28, size=SMALL)


def _layer() -> Drawing:
    parts = (
        _whole("$X$: all tokens, full width, on both ranks"),
        _part(*PARTS[0], 0),
        _whole("add to $X$, norm: the same on both ranks"),
        _part(*PARTS[1], 1),
        _whole("add, norm: the same on both ranks"),
    )
    return column(*parts, gap=10)


def _operators() -> Drawing:
    header = tuple(lines(word, bold=True) for word in ("operator", "forward", "backward"))
    rows = [
        (lines(f"${name}$"), *(lines(word, ink="ink" if word == "all-reduce" else "muted") for word in does))
        for name, *does in OPERATORS
    ]
    grid = grid_of((header, *rows), gap=34, leading=7)
    rule = header[0].extent.h + 3
    return grid + Line(((0, rule), (grid.extent.w, rule)), "hairline", 1)


def _tensor() -> Drawing:
    heads = row(*(lines(f"rank {rank + 1}", bold=True) for rank in range(RANKS)), gap=_SIDE + _GAP - 42)
    key = legend(
        swatch("work", "this rank’s half", solid=True), swatch("accent", "both ranks meet"),
        swatch("memory", "held whole by both"), room=_ROOM,
    )  # fmt: skip
    note = paragraph(
        "In each layer the ranks meet twice in the forward pass (both $g$) and twice in the backward pass (both $f$).",
        _ROOM,
    )
    return column(heads, _layer(), _operators(), key, note, gap=14)


TENSOR = Diagram(
    "parallel-tensor",
    "Tensor parallelism: column cut, row cut, and two operators",
    "A layer on two ranks, from top to bottom. Both hold the whole input X. Operator f hands it to both. In attention, "
    "each rank has half of the columns of the query, key and value matrices, hence half of the heads, and half of the "
    "rows of the output matrix. Operator g adds the two partial results, so that both ranks have the whole sum. Norm "
    "and addition are done by both. The feed-forward part repeats the pattern: columns of the up matrix, activation, "
    "rows of the down matrix. A small table: f hands on in the forward pass and is an all-reduce in the backward pass; "
    "g is an all-reduce in the forward pass and hands on in the backward pass.",
    _tensor,
)
