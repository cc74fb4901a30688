"""Context parallelism: a ring of keys and values, or an exchange of tokens for heads."""

from rlmkb.theory.causal_split import zigzag_chunks
from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import arrow, box, cell, legend, paragraph, swatch
from rlmkb.views.diagrams.shapes import SMALL, Drawing, Label, column

RANKS = 4
_ROOM = 412


def block_at(step: int, rank: int, ranks: int = RANKS) -> int:
    """The block of keys and values that a rank has at a step of the ring, both counted from 0.

    Examples
    --------
    >>> [block_at(1, rank) for rank in range(4)]  # each has its left neighbour's
    [3, 0, 1, 2]
    """
    return (rank - step) % ranks


_LEFT, _WIDE, _BETWEEN, _HIGH, _STEP = 62, 62, 20, 30, 58


def _x(rank: int) -> float:
    return _LEFT + rank * (_WIDE + _BETWEEN)


def _ring() -> Drawing:
    """A column per rank, a row per step; blocks move to the right neighbour, the last one to the first."""
    drawing = Drawing()
    top = 66
    for rank in range(RANKS):
        drawing += Label(_x(rank) + _WIDE / 2, 8, f"rank {rank + 1}", SMALL, bold=True)
        query = box(f"$Q_{rank + 1}$", tone="neutral", width=_WIDE, height=_HIGH, size=SMALL)
        drawing += query.at(_x(rank), 22)
    drawing += Label(0, 37, "stays", SMALL, ink="muted", anchor="start")
    for step in range(RANKS):
        y = top + step * _STEP
        drawing += Label(0, y + _HIGH / 2, f"step {step + 1}", SMALL, ink="muted", anchor="start")
        for rank in range(RANKS):
            block = block_at(step, rank)
            needed = block <= rank
            words = f"$K_{block + 1}$ $V_{block + 1}$"
            part = box(words, tone="work" if needed else "faint", width=_WIDE, height=_HIGH, size=SMALL, pad=4,
                       dashed=not needed)  # fmt: skip
            drawing += part.at(_x(rank), y)
            if step + 1 < RANKS:
                drawing += _pass_on(rank, y + _HIGH)
    return drawing


def _pass_on(rank: int, y: float) -> Drawing:
    """The way of a block to the right neighbour; the last rank's leaves the figure and comes in on the left."""
    start, down = _x(rank) + _WIDE / 2 + 8, _STEP - _HIGH
    if rank + 1 < RANKS:
        return Drawing((arrow((start, y), (_x(rank + 1) + _WIDE / 2 - 8, y + down), stroke="line"),))
    out = arrow((start, y), (start + 30, y + down / 2), stroke="line")
    into = arrow((_x(0) + _WIDE / 2 - 38, y + down / 2), (_x(0) + _WIDE / 2 - 8, y + down), stroke="line")
    return Drawing((out, into))


def _zigzag() -> Drawing:
    """The sequence in eight chunks, each with the rank that has it."""
    owner = {chunk: rank for rank in range(RANKS) for chunk in zigzag_chunks(rank, RANKS)}
    width = (_ROOM - 100) / (2 * RANKS)
    drawing = Drawing()
    for name, y, of in (("in order", 0, lambda chunk: chunk // 2), ("zig-zag", 38, owner.get)):
        drawing += Label(0, y + 14, name, SMALL, ink="muted", anchor="start")
        for chunk in range(2 * RANKS):
            part = box(str(of(chunk) + 1), tone="neutral", width=width - 3, height=28, size=SMALL, pad=2)
            drawing += part.at(100 + chunk * width, y)
    return drawing


def _ring_figure() -> Drawing:
    key = legend(
        swatch("neutral", "queries of a rank"), swatch("work", "block that they need"),
        swatch("faint", "comes later than they do: skipped", dashed=True), room=_ROOM,
    )  # fmt: skip
    note = paragraph(
        "Causal attention needs the blocks up to one’s own: rank 4 computes four, rank 1 only one, and all wait for "
        "the slowest. An early and a late chunk for each rank make it even; below, who has which eighth of the "
        "sequence.",
        _ROOM,
    )
    return column(_ring(), key, note, _zigzag(), gap=16)


RING = Diagram(
    "parallel-ring",
    "Ring attention: queries stay, keys and values go round",
    "Four ranks side by side, each with its own queries, which stay. In each of four steps a rank has another block of "
    "keys and values: first its own, then its left neighbour's, and so on; between steps every block moves to the "
    "right neighbour, the last rank's to the first. Of the sixteen meetings, causal attention needs ten: all four on "
    "rank 4, one on rank 1. Below, two ways to deal out eight chunks of the sequence: in order, or zig-zag, where each "
    "rank has an early and a late one and all do the same work.",
    _ring_figure,
)


_SIDE = 22


def _grid(cut_tokens: bool) -> Drawing:
    """Tokens downwards, heads to the right; rank 1 has the filled cells."""
    drawing = Drawing()
    for token in range(RANKS):
        for head in range(RANKS):
            mine = (token if cut_tokens else head) == 0
            drawing += cell(
                head * _SIDE, token * _SIDE, _SIDE - 3, _SIDE - 3, "accent" if mine else "neutral", solid=mine
            )
    return drawing


def _centred(words: str, x: float, y: float, **style) -> Label:
    return Label(x, y, words, SMALL, **style)


def _ulysses() -> Drawing:
    stages = (("projections", True), ("attention", False), ("the rest", True))
    side, top = RANKS * _SIDE - 3, 24
    step, middle = (_ROOM - side) / 2, top + side / 2
    drawing = Drawing()
    for index, (name, cut_tokens) in enumerate(stages):
        centre = index * step + side / 2
        drawing += _centred(name, centre, 8, bold=True)
        drawing += _grid(cut_tokens).at(index * step, top)
        drawing += _centred("tokens cut" if cut_tokens else "heads cut", centre, top + side + 14, ink="muted")
    for index, moved in enumerate(("$Q$, $K$, $V$", "output")):
        start, end = index * step + side + 10, (index + 1) * step - 10
        drawing += arrow((start, middle), (end, middle))
        drawing += _centred("all-to-all", (start + end) / 2, middle - 15)
        drawing += _centred(moved, (start + end) / 2, middle + 16, ink="muted")
    key = legend(swatch("accent", "rank 1 of four", solid=True), swatch("neutral", "other ranks"), room=_ROOM)
    note = paragraph("Tokens downwards, heads to the right. The degree is at most the number of heads.", _ROOM)
    return column(drawing, key, note, gap=16)


ULYSSES = Diagram(
    "parallel-ulysses",
    "Ulysses: tokens for heads, and back",
    "Three grids, tokens downwards and heads to the right. For the projections rank 1 of four has a quarter of the "
    "tokens with all heads. An all-to-all of queries, keys and values exchanges this for all tokens with a quarter of "
    "the heads, so that attention runs as on one device. A second all-to-all, of the output, brings back a quarter of "
    "the tokens with all heads. So the degree is at most the number of heads.",
    _ulysses,
)
