"""Data parallelism: replicas on pieces of the batch, and gradients summed while the backward pass still runs."""

from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import arrow, box, cell, legend, lines, panel, paragraph, swatch
from rlmkb.views.diagrams.shapes import SMALL, Drawing, Label, Line, column, row

SEQUENCES, RANKS, LAYERS = 8, 2, 4  # of the sketch

_ROOM, _GAP = 412, 24
_SIDE = (_ROOM - _GAP) / RANKS  # of a rank's panel
_INNER = _SIDE - 24
_BUCKET = 1.5  # time that a layer's gradients take, in the time of its forward pass


def _batch(rank: int) -> Drawing:
    """The batch, this rank's sequences filled."""
    side, step = 14, 20
    drawing, share = Drawing(), SEQUENCES // RANKS
    for index in range(SEQUENCES):
        mine = index // share == rank
        drawing += cell(index * step, 0, side, side, "accent" if mine else "neutral", solid=mine)
    return drawing


def _rank(rank: int) -> Drawing:
    share = SEQUENCES // RANKS
    sequences = f"{rank * share + 1} to {(rank + 1) * share}"
    stack = column(
        column(_batch(rank), lines(f"sequences {sequences}", ink="muted"), gap=3),
        box("all weights", "gradients, moments", tone="memory", width=_INNER, height=46),
        box("forward, backward", tone="work", width=_INNER, height=30),
        box(f"gradients of {share} sequences", tone="memory", width=_INNER, height=30, size=SMALL),
        gap=12,
    )
    return panel(f"rank {rank + 1}", stack, width=_SIDE, key=f"rank{rank}")


def _replicas() -> Drawing:
    ranks = row(*(_rank(rank) for rank in range(RANKS)), gap=_GAP)
    bottom, lift = ranks.extent.bottom, 22
    bar = box("all-reduce: each rank gets the sum", tone="accent", width=_ROOM, height=30, key="sum")
    drawing = ranks + bar.at(0, bottom + lift)
    update = box("the same update on both", tone="memory", width=_ROOM, height=30, key="update")
    drawing += update.at(0, bottom + 2 * lift + 30)
    for rank in range(RANKS):
        x = drawing[f"rank{rank}"].centre
        drawing += arrow((x, bottom), (x, bottom + lift))
        drawing += arrow((x, bottom + lift + 30), (x, bottom + 2 * lift + 30))
    return drawing


def timeline() -> tuple[tuple[str, float, float], ...]:
    """Name, start and end of each piece, in the time of one layer's forward pass.

    A layer's gradients can leave when its backward pass ends, one bucket after the other.

    Examples
    --------
    >>> timeline()[0], timeline()[-1]
    (('forward', 0, 4), ('bucket 1', 12, 13.5))
    """
    computed, sent = [("forward", 0, LAYERS)], []
    clock = free = LAYERS
    for layer in reversed(range(1, LAYERS + 1)):
        computed.append((f"backward {layer}", clock, clock + 2))
        clock += 2
        start = max(free, clock)
        free = start + _BUCKET
        sent.append((f"bucket {layer}", start, free))
    return (*computed, *sent)


def _overlap() -> Drawing:
    left, unit, high = 76, (_ROOM - 76) / 13.5, 30
    drawing = Drawing()
    for lane, y in (("compute", 0), ("network", 44)):
        drawing += Label(left - 10, y + high / 2, lane, SMALL, ink="muted", anchor="end")
    for name, start, end in timeline():
        network = name.startswith("bucket")
        words = "forward" if name == "forward" else f"$b_{name[-1]}$" if not network else f"$g_{name[-1]}$"
        tone = "accent" if network else "work"
        part = box(words, tone=tone, width=(end - start) * unit - 2, height=high, size=SMALL, pad=1, radius=3)
        drawing += part.at(left + start * unit, 44 if network else 0)
    end = left + 12 * unit - 1
    drawing += Line(((end, -8), (end, 84)), "line", 1.25, dashed=True)
    drawing += arrow((left, 92), (_ROOM, 92), stroke="line")
    return drawing + Label(left, 104, "time", SMALL, ink="muted", anchor="start")


def _data() -> Drawing:
    key = legend(
        swatch("accent", "one rank’s sequences", solid=True), swatch("accent", "moves"), swatch("work", "computed"),
        swatch("memory", "held"), room=_ROOM,
    )  # fmt: skip
    note = paragraph(
        "$b_4$: backward pass of layer 4. $g_4$: its gradients on the network. What lies right of the dashed line is "
        "not hidden by the backward pass.",
        _ROOM,
    )
    return column(_replicas(), key, _overlap(), note, gap=18)


DATA = Diagram(
    "parallel-data",
    "Data parallelism: replicas, and gradients that leave early",
    "Two ranks hold all weights, gradients and moments. The batch of eight sequences is cut: rank 1 runs forward and "
    "backward on the first four, rank 2 on the others. An all-reduce gives both the sum of the gradients, and both "
    "make the same update. Below, a time line with a lane for computing and a lane for the network. The backward pass "
    "goes from layer 4 to layer 1; the gradients of a layer go out as a bucket while earlier layers are still "
    "computed. Only the last bucket is left when the backward pass ends.",
    _data,
)
