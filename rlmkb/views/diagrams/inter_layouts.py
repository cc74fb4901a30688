"""Two layouts of one model on the same devices: what each holds, what it receives, and when."""

from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import arrow, cell, legend, paragraph, swatch
from rlmkb.views.diagrams.shapes import SMALL, Drawing, Label, Rect, Shape, column

_ROOM, _LEFT, _WIDE, _HIGH = 412, 96, 68, 20
RANKS, DEGREE = 4, 2  # shards of training; ranks that share a copy in generation


def piece(rank: int) -> set[int]:
    """The quarters of the weights that a rank holds in generation: its own training shard is one of them.

    Examples
    --------
    >>> [sorted(piece(rank)) for rank in range(4)]
    [[0, 1], [0, 1], [2, 3], [2, 3]]
    """
    size = RANKS // DEGREE
    first = rank // size * size
    return set(range(first, first + size))


def _x(rank: int) -> float:
    return _LEFT + rank * (_ROOM - _LEFT + 10) / RANKS


def _bar(rank: int, y: float, tones: dict[int, tuple[str, bool]]) -> Drawing:
    """The weights as four quarters; those in `tones` are held."""
    drawing, step = Drawing(), _WIDE / RANKS
    for quarter in range(RANKS):
        tone, solid = tones.get(quarter, ("empty", False))
        drawing += cell(_x(rank) + quarter * step, y, step - 2, _HIGH, tone, solid)
    return drawing


def _weights() -> Drawing:
    drawing = Drawing()
    for rank in range(RANKS):
        middle = _x(rank) + _WIDE / 2 - 1
        own = {rank: ("training", True)}
        drawing += Label(middle, 8, f"rank {rank}", SMALL, ink="muted")
        drawing += _bar(rank, 22, own)
        drawing += arrow((middle, 48), (middle, 72))
        drawing += _bar(rank, 78, dict.fromkeys(piece(rank), ("generation", True)) | own)
        drawing += Label(middle, 110, f"replica {rank % DEGREE + 1}", SMALL, ink="muted")
    for y, (name, ink) in zip((32, 60, 88), (("training", "training-ink"), ("resharding", "muted"),
                                             ("generation", "generation-ink")), strict=True):  # fmt: skip
        drawing += Label(0, y, name, SMALL, ink=ink, anchor="start")
    return drawing


_TIMES = (("reshard", "neutral", 62), ("generation", "generation", 100), ("assessment", "assessment", 84),
          ("training", "training", 70))  # fmt: skip


def _time() -> Drawing:
    drawing, x = Drawing(), float(_LEFT)
    for name, tone, width in _TIMES:
        fill, ink = ("surface", "ink") if tone == "neutral" else (f"{tone}-soft", f"{tone}-ink")
        drawing += Shape(Rect(x, 0, width - 2, 24), fill, "line" if tone == "neutral" else tone, 1.25, 3, key=name)
        drawing += Label(x + width / 2 - 1, 12, name, SMALL, ink=ink)
        x += width
    until, held = drawing["generation"].right, drawing["training"].right
    drawing += Shape(Rect(_LEFT, 34, held - _LEFT, 12), "training", "training", 1, 2)
    drawing += Shape(Rect(_LEFT, 52, until - _LEFT, 12), "generation", "generation", 1, 2)
    for y, name in ((12, "time"), (40, "shards"), (58, "second layout")):
        drawing += Label(0, y, name, SMALL, ink="muted", anchor="start")
    return drawing


def _hybrid() -> Drawing:
    key = legend(
        swatch("training", "own shard", solid=True), swatch("generation", "received", solid=True),
        swatch("empty", "held by other ranks"), room=_ROOM,
    )  # fmt: skip
    note = paragraph(
        "Above: the weights as four quarters. Ranks 0 and 2 share a copy in generation, and ranks 1 and 3 another, so "
        "that each keeps its own quarter and receives one. Below: an iteration, and what a rank holds in it.",
        _ROOM,
    )
    return column(_weights(), key, _time(), note, gap=16)


HYBRID = Diagram(
    "hybrid-layouts",
    "One model in two layouts on four ranks",
    "Weights are drawn as four quarters. In training each of four ranks holds one quarter, its shard. In generation "
    "pairs of ranks share a copy: ranks 0 and 1 hold the first two quarters, ranks 2 and 3 the last two, so each rank "
    "keeps its own quarter and receives one more. A time line shows resharding, generation, assessment and training in "
    "a row. The shards are held all the time, the second layout from resharding to the end of generation.",
    _hybrid,
)
