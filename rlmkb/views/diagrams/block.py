"""A decoder block, forward: what it computes, in which shapes, and which steps the cost model counts."""

from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import arrow, box, legend, paragraph, swatch
from rlmkb.views.diagrams.shapes import SMALL, Drawing, Label, Rect, Shape, column

# One entry per level of the block: boxes (key, first column, columns, text), the shape that leaves the level, and
# the name of its link in the contraction chain ("" where the cost model counts nothing).
LEVELS = (
    ((("norm-1", 0, 6, "RMSNorm"),), "$m × d$", ""),
    (
        (("query", 0, 2, "query $W_Q$"), ("key", 2, 2, "key $W_K$"), ("value", 4, 2, "value $W_V$")),
        "$m × d$",
        "query, key, value",
    ),
    ((("rope-q", 0, 2, "RoPE"), ("rope-k", 2, 2, "RoPE")), "$m × d$", ""),
    ((("scores", 0, 4, "scores $Q K^T$, per head"),), "$h × m × m$", "scores"),
    ((("softmax", 0, 4, "scale, mask, softmax"),), "$h × m × m$", ""),
    ((("aggregation", 0, 6, "aggregation: weighted sum of $V$"),), "$m × d$", "values"),
    ((("output", 0, 6, "output projection $W_O$"),), "$m × d$", "output"),
    ((("add-1", 2, 2, "+"),), "$m × d$", ""),
    ((("norm-2", 0, 6, "RMSNorm"),), "$m × d$", ""),
    ((("gate", 0, 3, "gate $W_{gate}$"), ("up", 3, 3, "up $W_{up}$")), "$m × d_{ff}$", "up"),
    ((("activation", 0, 6, "activation"),), "$m × d_{ff}$", ""),
    ((("down", 0, 6, "down projection $W_{down}$"),), "$m × d$", "down"),
    ((("add-2", 2, 2, "+"),), "$m × d$", ""),
)
_ATTENTION_ENDS = 7  # the level of the first addition
# Arrows run straight down: from, to, and the column in whose middle.
_ARROWS = (
    ("norm-1", "query", 0), ("norm-1", "key", 2), ("norm-1", "value", 4),
    ("query", "rope-q", 0), ("key", "rope-k", 2), ("rope-q", "scores", 0), ("rope-k", "scores", 2),
    ("scores", "softmax", 1), ("softmax", "aggregation", 1), ("value", "aggregation", 4),
    ("aggregation", "output", 2), ("output", "add-1", 2), ("add-1", "norm-2", 2),
    ("norm-2", "gate", 0.5), ("norm-2", "up", 3.5), ("gate", "activation", 0.5), ("up", "activation", 3.5),
    ("activation", "down", 2), ("down", "add-2", 2),
)  # fmt: skip

_LEFT, _UNIT, _GUTTER, _HEIGHT, _STEP, _BREAK = 30, 40, 8, 28, 46, 14
# rail, half a box column, between boxes, box, level, extra space between attention and feed-forward network


def contraction_lengths() -> dict[str, str]:
    """The length of each link of the contraction chain, as markup, taken from the theory.

    Examples
    --------
    >>> contraction_lengths()["scores"]
    'd/h'
    """
    from rlmkb.notation import Role, symbol
    from rlmkb.theory.transformer import layer_chain, transformer

    def markup(size: object) -> str:
        return str(size).removesuffix("_pi").replace("_ff", "_{ff}")

    chain = layer_chain(transformer(Role.POLICY), symbol("m"))
    return {
        link.name: markup(link.length) if link.divisor == 1 else f"{markup(link.length)}/{markup(link.divisor)}"
        for link in chain
    }


def _operation(key: str, first: int, columns: int, label: str, counted: bool) -> Drawing:
    x, w = _LEFT + first * _UNIT, columns * _UNIT - _GUTTER
    if label == "+":
        side = 22
        return box(label, width=side, height=side, radius=side / 2, key=key).at(x + (w - side) / 2, 3)
    gate = key == "gate"
    tone = "work" if counted and not gate else "quiet"
    return box(label, tone=tone, width=w, height=_HEIGHT, size=SMALL, dashed=gate, key=key).at(x, 0)


def _middle(column_: float) -> float:
    return _LEFT + column_ * _UNIT + (2 * _UNIT - _GUTTER) / 2


def _rail(drawing: Drawing, y: float, add: str) -> Drawing:
    """A residual connection from the centre line at height y, along the left side, into an addition."""
    centre, plus = _middle(2), drawing[add]
    dot = Shape(Rect(centre - 2.5, y - 2.5, 5, 5), "muted", radius=2.5)
    return drawing + arrow((centre, y), (8, y), (8, plus.middle), plus.left_at()) + dot


def _forward() -> Drawing:
    right = _LEFT + 6 * _UNIT - _GUTTER
    shape_x, tag_x = right + 14, right + 104
    drawing, lengths = Drawing(), contraction_lengths()
    for level, (operations, shape, link) in enumerate(LEVELS):
        y = 62 + level * _STEP + (_BREAK if level > _ATTENTION_ENDS else 0)
        for operation in operations:
            drawing += _operation(*operation, counted=bool(link)).moved(0, y)
        drawing += Label(shape_x, y + _HEIGHT / 2, shape, SMALL, ink="muted", anchor="start")
        if link:
            tag = box(f"${lengths[link]}$", tone="depth", width=44, height=24, size=SMALL, radius=12)
            drawing += tag.at(tag_x, y + 2)
    top, centre = drawing["norm-1"].y, _middle(2)
    for start, end, column_ in _ARROWS:
        x = _middle(column_)
        drawing += arrow((x, drawing[start].bottom), (x, drawing[end].y))
    drawing += Label(centre, top - 50, "block input", SMALL)
    drawing += arrow((centre, top - 40), (centre, top))
    drawing = _rail(drawing, top - 26, "add-1")
    drawing = _rail(drawing, (drawing["add-1"].bottom + drawing["norm-2"].y) / 2 - 3, "add-2")
    end = drawing["add-2"].bottom
    drawing += arrow((centre, end), (centre, end + 24))
    drawing += Label(centre, end + 34, "block output", SMALL)
    drawing += Label(shape_x, top - 50, "shape", SMALL, True, "ink", "start")
    drawing += Label(tag_x + 22, top - 50, "sums over", SMALL, True)
    room = tag_x + 44
    key = legend(
        swatch("work", "counted: a contraction"),
        swatch("depth", "length it sums over"),
        swatch("quiet", "not counted: element-wise or a row sum"),
        swatch("quiet", "gate: Llama-3 has it, the canonical block does not", dashed=True),
        room=room,
    )
    note = paragraph("One block adds the logarithms of all tags to the depth; $Q$, $K$ and $V$ run side by side.", room)
    return column(drawing, key, note, gap=14)


FORWARD = Diagram(
    "decoder-block-forward",
    "A decoder block, forward",
    "The input, m tokens of width d, passes RMSNorm and three parallel projections Q, K, V, each "
    "contracting over d. Q and K are rotated (RoPE). Scores contract over d/h in each head, softmax "
    "follows, aggregation contracts over m, the output projection over d, and the input is added. A "
    "second RMSNorm leads to the feed-forward network: up projection (contracts over d; Llama-3 has a "
    "gate beside it), activation, down projection (contracts over d_ff), and the second addition. The "
    "cost model counts the contractions and ignores norms, rotation, softmax, activation and additions.",
    _forward,
)
