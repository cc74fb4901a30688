"""Work, depth and memory of a small computation."""

from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import box, paragraph
from rlmkb.views.diagrams.shapes import SMALL, Drawing, Label, Line, column, row

LENGTH = 8  # of the two vectors; a power of two
_STEP, _LEVEL, _SIDE = 37, 54, 22
_NODES, _LIVE = _STEP * LENGTH + 30, _STEP * LENGTH + 90  # where the counts of a level stand


def levels(length: int) -> list[int]:
    """Operations per level of a dot product: one multiplication per pair, then additions in a binary tree.

    Examples
    --------
    >>> levels(8)
    [8, 4, 2, 1]
    """
    return [length >> level for level in range(length.bit_length())]


def _tree() -> Drawing:
    """The operations as circles on their levels, operands above; the longest path is on the left edge."""
    drawing, counts = Drawing(), levels(LENGTH)
    centres = [_STEP * i + _STEP / 2 for i in range(LENGTH)]
    top = 46
    for index, x in enumerate(centres):
        drawing += Label(x, 10, f"$x_{index + 1}$ $y_{index + 1}$", SMALL)
        drawing += Line(((x, 20), (x, top)), "depth" if not index else "line", 3 if not index else 1.25)
    for level, count in enumerate(counts):
        y = top + level * _LEVEL
        if level:
            parents = [(a + b) / 2 for a, b in zip(centres[::2], centres[1::2], strict=True)]
            for index, x in enumerate(centres):
                longest = not index
                ends = ((x, y - _LEVEL + _SIDE), (parents[index // 2], y))
                drawing += Line(ends, "depth" if longest else "line", 3 if longest else 1.25)
            centres = parents
        sign = "+" if level else "×"
        node = box(sign, tone="work", width=_SIDE, height=_SIDE, radius=_SIDE / 2, pad=0, size=SMALL)
        for x in centres:
            drawing += node.at(x - _SIDE / 2, y)
        drawing += Label(_NODES, y + _SIDE / 2, str(count), ink="work-ink")
        drawing += Label(_LIVE, y + _SIDE / 2, str(count), ink="memory-ink")
    drawing += Label(_LIVE, 10, str(2 * LENGTH), ink="memory-ink")
    drawing += Label(_NODES, -14, "nodes", SMALL, True, "work-ink")
    return drawing + Label(_LIVE, -14, "live", SMALL, True, "memory-ink")


def _work_and_depth() -> Drawing:
    counts = levels(LENGTH)
    facts = (
        ("work", "all nodes", sum(counts), "$2 n − 1$"),
        ("depth", "longest path", len(counts), "$1 + log_2 n$"),
        ("memory", "most live values", 2 * LENGTH, "$2 n$"),
    )
    cards = row(
        *(
            box(f"{name} {value}", words, general, tone=name, width=128, bold=True)
            for name, words, value, general in facts
        ),
        gap=14,
    )
    note = paragraph(
        "Last line: for vectors of length $n$. The cost models of this book keep the leading terms, "
        "$2 n$ and $log_2 n$.",
        cards.extent.w,
    )
    return column(_tree(), cards, note, gap=18)


WORK_AND_DEPTH = Diagram(
    "work-and-depth",
    "Work, depth and memory of a dot product",
    "Two vectors of length 8 are multiplied pair by pair and the products added in a binary tree. The "
    "levels have 8, 4, 2 and 1 operations. Work is the number of nodes, 15. Depth is the longest path "
    "from an input to the result, 4: one multiplication and three additions. Memory is the largest number "
    "of values alive at once, the 16 inputs.",
    _work_and_depth,
)
