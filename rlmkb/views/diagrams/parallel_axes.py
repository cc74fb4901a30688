"""Which dimension each strategy cuts, and what a rank then holds: whole or a piece."""

from rlmkb.theory.partition import (
    CONTEXT,
    DATA,
    EXPERT_COUPLED,
    MIXTURE,
    PIPELINE,
    STATE,
    TENSOR,
    WORK,
    Axis,
    Part,
)
from rlmkb.views.diagrams.glyphs import SIDE, glyph
from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import blank, cell, legend, lines, paragraph, swatch
from rlmkb.views.diagrams.shapes import Drawing, Line, column, row

# glyph, name, axis of the cost model, what is cut, what moves
ENTRIES: tuple[tuple[str, str, Axis, str, str], ...] = (
    ("data", "Data $P_d$", DATA, "the batch", "gradients"),
    ("tensor", "Tensor $P_t$", TENSOR, "every layer’s width", "hidden states"),
    ("context", "Context $P_c$", CONTEXT, "the sequence", "keys and values"),
    ("pipeline", "Pipeline $P_p$", PIPELINE, "the layers", "hidden states"),
    ("expert", "Expert $P_e$", EXPERT_COUPLED, "the experts", "tokens"),
)
HELD = {"work": WORK, "weights": STATE, "activations": frozenset({Part.ACTIVATIONS})}
WHOLE, PIECE, MIXED = "whole", "piece", "mixed"

_ROOM, _WORDS = 412, 162
_WIDTHS = (38, 56, 82)
_MARK, _HIGH = 30, 40


def held(axis: Axis, parts: frozenset[Part]) -> str:
    """Whether a rank has the parts of a step whole, one piece of them, or some whole and some in pieces.

    Examples
    --------
    >>> held(DATA, STATE), held(TENSOR, STATE), held(EXPERT_COUPLED, STATE)
    ('whole', 'piece', 'mixed')
    """
    present = parts & {Part(term.name) for cost in (MIXTURE.work, MIXTURE.memory) for term in cost}
    cut = present & axis.divides
    return PIECE if cut == present else MIXED if cut else WHOLE


def _mark(share: str, tone: str, width: float) -> Drawing:
    """A square, filled as far as the rank holds what it stands for."""
    x = (width - _MARK) / 2
    drawing = blank(width, _HIGH) + cell(x, (_HIGH - _MARK) / 2, _MARK, _MARK, "neutral")
    filled = {WHOLE: (_MARK, _MARK), PIECE: (_MARK, _MARK / 4), MIXED: (_MARK / 2, _MARK)}[share]
    drawing += cell(x, (_HIGH + _MARK) / 2 - filled[1], *filled, tone, solid=True)
    if share == MIXED:
        drawing += cell(x + _MARK / 2, (_HIGH + _MARK) / 2 - _MARK / 4, _MARK / 2, _MARK / 4, tone, solid=True)
    return drawing


def _axes() -> Drawing:
    tones = dict(zip(HELD, ("work", "memory", "memory"), strict=True))
    heads = [
        blank(width, 20) + lines(word, anchor="middle", ink="muted").at((width - lines(word).extent.w) / 2, 0)
        for word, width in zip(HELD, _WIDTHS, strict=True)
    ]
    header = row(blank(SIDE + 10 + _WORDS, 20), *heads, gap=8)
    rows = []
    for picture, name, axis, cut, moved in ENTRIES:
        words = column(
            lines(name, bold=True), paragraph(f"cuts {cut}", _WORDS, ink="muted"),
            paragraph(f"moves {moved}", _WORDS, ink="muted"), gap=0,
        )  # fmt: skip
        marks = (
            _mark(held(axis, parts), tones[what], width)
            for (what, parts), width in zip(HELD.items(), _WIDTHS, strict=True)
        )
        rows.append(row(row(glyph(picture), words, gap=10, align="middle"), *marks, gap=8, align="middle"))
    stack = column(header, *rows, gap=16)
    stack += Line(((0, 26), (_ROOM, 26)), "hairline", 1)
    key = legend(
        swatch("accent", "one rank’s share of what is cut", solid=True), swatch("work", "work of a rank", solid=True),
        swatch("memory", "held by a rank", solid=True), room=_ROOM,
    )  # fmt: skip
    note = paragraph(
        "A full square is a whole copy, a low bar one piece. The ends of a pipeline have the whole vocabulary; an "
        "expert rank has a piece of the experts and all other weights.",
        _ROOM,
    )
    return column(stack, key, note, gap=16)


AXES = Diagram(
    "parallel-axes",
    "Five ways to cut one model, and what a rank then holds",
    "A row for each strategy. Data parallelism cuts the batch: a rank has a piece of the work and of the activations "
    "and all weights; gradients move. Tensor parallelism cuts the width of every layer: a piece of everything; hidden "
    "states move. Context parallelism cuts the sequence: as data parallelism, but keys and values move. Pipeline "
    "parallelism cuts the layers: a piece of everything but the vocabulary, which is whole at the ends; hidden states "
    "move between neighbours. Expert parallelism cuts the experts, and tokens among their ranks: a piece of work and "
    "activations, a piece of the experts and all other weights; tokens move.",
    _axes,
)
