"""Sequence parallelism: what tensor parallelism leaves whole is cut by tokens."""

from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import blank, box, cell, legend, lines, paragraph, swatch
from rlmkb.views.diagrams.shapes import SMALL, Drawing, Label, column, row

WHOLE, TOKENS, WIDTH = "whole", "tokens", "width"
# place in a layer; what rank 1 has of it under tensor parallelism alone, and with sequence parallelism; kept there
PLACES = (
    ("residual, norm", WHOLE, TOKENS, True),
    ("input of the products", WHOLE, WHOLE, False),
    ("heads, inner width", WIDTH, WIDTH, True),
    ("residual, dropout", WHOLE, TOKENS, True),
)
# what joins one place to the next: under tensor parallelism alone, and with sequence parallelism
JOINTS = (("", "all-gather"), ("cut columns", "cut columns"), ("all-reduce", "reduce-scatter"))

_ROOM = 412
_MIDDLE, _TILE = 156, (56, 44)  # of the names between the columns; of a tile: width by tokens
_SIDE = (_ROOM - _MIDDLE) / 2
_SPLIT = 2


def _tile(share: str, kept: bool) -> Drawing:
    """An array, tokens downwards and width to the right; what rank 1 has is filled."""
    w, h = _TILE
    x = (_SIDE - w) / 2
    drawing = blank(_SIDE, h)
    if share == WHOLE:
        return drawing + cell(x, 0, w, h, "memory", solid=kept, radius=0)
    for half in range(_SPLIT):
        mine = half == 0
        place = (x, half * h / 2, w, h / 2) if share == TOKENS else (x + half * w / 2, 0, w / 2, h)
        drawing += cell(*place, "memory" if mine else "neutral", solid=mine and kept, radius=0)
    return drawing


def _names(words: str) -> Drawing:
    label = lines(words, anchor="middle")
    high = _TILE[1]
    return blank(_MIDDLE, high) + label.at((_MIDDLE - label.extent.w) / 2, (high - label.extent.h) / 2)


def _joint(left: str, right: str) -> Drawing:
    drawing = blank(_ROOM, 22)
    for words, centre in ((left, _SIDE / 2), (right, _ROOM - _SIDE / 2)):
        if words:
            ink = "muted" if words.startswith("cut") else "ink"
            drawing += Label(centre, 11, f"↓ {words}", SMALL, ink=ink)
    return drawing


def _places() -> Drawing:
    heads = row(
        box("tensor", tone="quiet", width=_SIDE, height=26, size=SMALL, bold=True),
        blank(_MIDDLE, 26),
        box("with sequence", tone="accent", width=_SIDE, height=26, size=SMALL, bold=True),
        gap=0,
    )
    stack = [heads]
    for index, (name, alone, together, kept) in enumerate(PLACES):
        stack.append(row(_tile(alone, kept or alone == WHOLE), _names(name), _tile(together, kept), gap=0))
        if index < len(JOINTS):
            stack.append(_joint(*JOINTS[index]))
    return column(*stack, gap=6)


def _sequence() -> Drawing:
    key = legend(
        swatch("memory", "kept by rank 1", solid=True), swatch("memory", "gathered, not kept"),
        swatch("neutral", "on rank 2"), room=_ROOM,
    )  # fmt: skip
    note = paragraph(
        "Each tile is an array: tokens downwards, width to the right. The gathered input is dropped and gathered again "
        "in the backward pass.",
        _ROOM,
    )
    return column(_places(), key, note, gap=16)


SEQUENCE = Diagram(
    "parallel-sequence",
    "Sequence parallelism: the places that tensor parallelism leaves whole",
    "Two columns of tiles show what rank 1 of two keeps at four places of a layer. Under tensor parallelism alone it "
    "keeps residual, norm, dropout and the input of the products whole, and only heads and inner width are cut in "
    "half. With sequence parallelism residual, norm and dropout are cut by tokens: an all-gather makes the whole input "
    "before the products, which is not kept, and a reduce-scatter after them leaves each rank its own tokens. The two "
    "together replace the all-reduce.",
    _sequence,
)
