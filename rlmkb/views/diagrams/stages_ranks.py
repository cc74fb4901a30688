"""Where a rank stands in a combined layout, and with whom it exchanges what."""

from collections.abc import Sequence

from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import box, legend, lines, paragraph, swatch
from rlmkb.views.diagrams.shapes import SMALL, Drawing, Rect, Shape, column, row

_ROOM = 412
Place = tuple[int, ...]


def rank_of(place: Place, degrees: Sequence[int]) -> int:
    """The number of a rank, whose last coordinate counts fastest.

    Parameters
    ----------
    place : tuple of int
        Coordinates from 0, as many as degrees.
    degrees : sequence of int
        For example pipeline, data, tensor.

    Examples
    --------
    >>> rank_of((1, 0, 3), (2, 2, 4))  # 8 ranks a stage
    11
    """
    number = 0
    for coordinate, degree in zip(place, degrees, strict=True):
        number = number * degree + coordinate
    return number


def peers(place: Place, degrees: Sequence[int], axis: int) -> tuple[int, ...]:
    """The ranks that differ from one in a single coordinate, itself included.

    Examples
    --------
    >>> peers((0, 0, 0), (2, 2, 4), axis=2), peers((0, 0, 0), (2, 2, 4), axis=0)
    ((0, 1, 2, 3), (0, 8))
    """
    return tuple(rank_of((*place[:axis], i, *place[axis + 1 :]), degrees) for i in range(degrees[axis]))


def _cell(number: int, degrees: Sequence[int], letters: str, width: float) -> Drawing:
    """A rank; the peers of rank 0 carry the letter of the axis on which they differ from it."""
    origin = (0,) * len(degrees)
    axis = next((i for i in range(len(degrees)) if number and number in peers(origin, degrees, i)), None)
    text = str(number) if axis is None else f"{number} {letters[axis]}"
    tone = "accent" if axis is not None or number == 0 else "neutral"
    weight = 2.5 if number == 0 else 1.25
    return box(text, tone=tone, width=width, height=26, size=SMALL, pad=2, weight=weight, bold=axis is not None)


def _key(**meanings: str) -> Drawing:
    entries = (
        row(box(letter, tone="accent", width=22, height=18, size=SMALL, pad=2, bold=True), lines(words, ink="muted"),
            gap=7, align="middle")
        for letter, words in meanings.items()
    )  # fmt: skip
    return legend(swatch("accent", "rank 0", weight=2.5), *entries, room=_ROOM)


def _frame(title: str, content: Drawing, pad: float = 8) -> Drawing:
    head = lines(title, ink="muted")
    inside = column(head, content, gap=4)
    e = inside.extent
    frame = Shape(Rect(0, 0, e.w + 2 * pad, e.h + 2 * pad), "none", "line", 1, 6, dashed=True)
    return Drawing((frame, *inside.at(pad, pad).items), frame.extent)


DEGREES_3D, LETTERS_3D = (2, 2, 4), "PDT"  # pipeline, data, tensor


def _three() -> Drawing:
    stages, replicas, shards = DEGREES_3D
    panels = []
    for replica in range(replicas):
        rows = []
        for stage in range(stages):
            numbers = (rank_of((stage, replica, shard), DEGREES_3D) for shard in range(shards))
            cells = row(*(_cell(number, DEGREES_3D, LETTERS_3D, 40) for number in numbers), gap=4)
            rows.append(column(lines(f"stage {stage}", ink="muted"), cells, gap=2))
        panels.append(_frame(f"replica {replica}", column(*rows, gap=8)))
    key = _key(T="tensor: four all-reduces a layer", P="pipeline: hidden states of each micro-batch",
               D="data: gradients, once a step")  # fmt: skip
    note = paragraph(
        "Tensor ranks are neighbours, so that they share the fastest links; replicas come next, stages are farthest. "
        "Rank 0 exchanges with the marked ranks only.",
        _ROOM,
    )
    return column(row(*panels, gap=12), key, note, gap=12)


RANKS_3D = Diagram(
    "ranks-3d",
    "Sixteen ranks in three dimensions",
    "Two replicas of a model, each cut into two pipeline stages, each stage into four tensor shards: sixteen ranks. "
    "Rank 0 forms a tensor group with ranks 1 to 3 of its stage, a pipeline with rank 8 of the other stage, and a data "
    "group with rank 4, which has the same shard in the other replica.",
    _three,
)

DEGREES_5D, LETTERS_5D = (2, 2, 2, 2, 2), "PDECT"  # pipeline, data, expert, context, tensor


def _five() -> Drawing:
    panels = []
    for replica in range(2):
        rows = []
        for stage in range(2):
            blocks = []
            for expert in range(2):
                numbers = [[rank_of((stage, replica, expert, context, shard), DEGREES_5D) for shard in range(2)]
                           for context in range(2)]  # fmt: skip
                blocks.append(column(
                    *(row(*(_cell(number, DEGREES_5D, LETTERS_5D, 38) for number in line), gap=3) for line in numbers),
                    gap=3,
                ))  # fmt: skip
            rows.append(column(lines(f"stage {stage}", ink="muted"), row(*blocks, gap=10), gap=2))
        panels.append(_frame(f"replica {replica}", column(*rows, gap=10)))
    key = _key(T="tensor: other columns, same tokens", C="context: other positions", P="pipeline: other layers",
               E="expert: other experts, other sequences", D="data: other sequences")  # fmt: skip
    note = paragraph(
        "All five degrees are two: 32 ranks. Left and right block of a stage hold different experts, upper and lower "
        "row different positions of a sequence. Each token has one home, so nothing is computed twice.",
        _ROOM,
    )
    return column(row(*panels, gap=12), key, note, gap=12)


RANKS_5D = Diagram(
    "ranks-5d",
    "Thirty-two ranks in five dimensions",
    "Two replicas, each of two pipeline stages; each stage has two blocks with different experts, each block two rows "
    "with different positions of the sequence, each row two tensor shards. Rank 0 shares its row with rank 1 (tensor), "
    "its block with rank 2 (context), its stage with rank 4 (expert); rank 8 is its twin in the other replica (data), "
    "rank 16 in the other stage (pipeline).",
    _five,
)

