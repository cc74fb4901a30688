"""A decoder block, backward: two products for each one of the forward pass."""

from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import arrow, box, grid_of, legend, lines, paragraph, swatch, widened
from rlmkb.views.diagrams.shapes import SMALL, Drawing, Line, Rect, Shape, column, row

# The forward products Y = X W from the block's end to its start: name, gradients of the first and the second factor
# with the length that each sums over, and what is kept from the forward pass.
PRODUCTS = (
    ("down projection", ("$∇X$", "d"), ("$∇W_{down}$", "B m"), "$X$"),
    ("up projection", ("$∇X$", "d_{ff}"), ("$∇W_{up}$", "B m"), "$X$"),
    ("output projection", ("$∇X$", "d"), ("$∇W_O$", "B m"), "$X$"),
    ("aggregation $P V$", ("$∇P$", "d/h"), ("$∇V$", "m"), "$P$, $V$"),
    ("scores $Q K^T$", ("$∇Q$", "m"), ("$∇K$", "m"), "$Q$, $K$"),
    ("query, key, value", ("$∇X$", "d"), ("each $∇W$", "B m"), "$X$"),
)
_HEADER = ("forward product", "$∇$ first factor", "$∇$ second factor", "kept")
_ROOM = 412


def _one_product() -> Drawing:
    """One projection: its forward product, and the two that the gradient of its output starts."""
    side, high, gap = 84, 46, 16
    middle = _ROOM - 2 * side - 2 * 32
    forward = box("$Y = X W$", "forward", tone="work", width=middle, height=high, key="forward")
    weights = box("$∇W = X^T ∇Y$", "sums over all $B m$ tokens", tone="work", width=middle, height=high, key="weights")
    inputs = box("$∇X = ∇Y W^T$", "sums over the width of $Y$", tone="work", width=middle, height=high, key="inputs")
    tall = 2 * high + gap
    left = column(
        box("$X$", "kept", tone="memory", width=side, height=tall, key="kept"),
        box("$∇X$", width=side, height=high, key="out"),
        gap=gap,
    )
    right = column(
        box("$Y$", width=side, height=high, key="result"), box("$∇Y$", width=side, height=tall, key="in"), gap=gap
    )
    drawing = row(left, column(forward, weights, inputs, gap=gap), right, gap=32)
    for start, end in (
        (("kept", 0.25 * high / tall * 2), "forward"), (("kept", 1 - 0.5 * high / tall), "weights"),
    ):  # fmt: skip
        drawing += arrow(drawing[start[0]].right_at(start[1]), drawing[end].left_at())
    drawing += arrow(drawing["forward"].right_at(), drawing["result"].left_at())
    for name in ("weights", "inputs"):
        drawing += arrow((drawing["in"].x, drawing[name].middle), drawing[name].right_at())
    return drawing + arrow(drawing["inputs"].left_at(), drawing["out"].right_at())


def _reduction() -> Drawing:
    """The sum over tokens as a binary tree, leaves on top."""
    leaves, step, level, side = 8, 22, 22, 12
    drawing, centres, y = Drawing(), [step * i + side / 2 for i in range(leaves)], 0.0
    for x in centres:
        drawing += Shape(Rect(x - side / 2, y, side, side), "memory-soft", "memory", radius=3)
    while len(centres) > 1:
        parents = [(a + b) / 2 for a, b in zip(centres[::2], centres[1::2], strict=True)]
        for index, x in enumerate(centres):
            parent = parents[index // 2]
            drawing += Line(((x, y + side), (parent, y + level)), "depth", 1.25)
        y += level
        for x in parents:
            drawing += Shape(Rect(x - side / 2, y, side, side), "work-soft", "work", radius=side / 2)
        centres = parents
    return drawing


def _table() -> Drawing:
    def gradient(of: str, over: str) -> Drawing:
        tag = box(f"${over}$", tone="depth", width=44, height=22, size=SMALL, radius=11)
        return row(widened(lines(of), 60), tag, gap=4, align="middle")

    header = tuple(lines(word, bold=True) for word in _HEADER)
    rows = [
        (lines(name), gradient(*first), gradient(*second), lines(kept, ink="memory-ink"))
        for name, first, second, kept in PRODUCTS
    ]
    grid = grid_of((header, *rows), gap=11, leading=8)
    rule = header[0].extent.h + 4
    return grid + Line(((0, rule), (grid.extent.w, rule)), "hairline", 1)


def _backward() -> Drawing:
    tree = _reduction()
    words = paragraph(
        "$∇W$ adds one product per token. As a tree this takes $log_2 B m$ levels, "
        "beside the chain from block to block.",
        _ROOM - tree.extent.w - 18,
    )
    key = legend(
        swatch("work", "product"), swatch("memory", "kept from the forward pass"),
        swatch("depth", "length it sums over"),
        room=_ROOM,
    )  # fmt: skip
    note = paragraph(
        "The two products together have twice the work of their forward product. The first factors form the chain and "
        "sum over the same lengths as the forward pass. Flash attention recomputes $P$ instead of keeping it.",
        _ROOM,
    )
    return column(_one_product(), row(tree, words, gap=18, align="middle"), _table(), key, note, gap=20)


BACKWARD = Diagram(
    "decoder-block-backward",
    "A decoder block, backward",
    "Each forward product Y = X W becomes two: the gradient of X, which sums over the width of Y and "
    "passes to the block before, and the gradient of W, which sums over all B m tokens and needs X, kept "
    "from the forward pass. The sum over tokens is a binary tree of depth log2 of B m. A table lists the "
    "products from the end of the block to its start: down, up and output projection, aggregation, "
    "scores, and query, key and value, with the length of each sum and what is kept.",
    _backward,
)
