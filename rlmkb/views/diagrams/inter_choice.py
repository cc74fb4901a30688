"""Which barrier between models to take away, as questions from top to bottom."""

from rlmkb.views.diagrams.glyphs import glyph
from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import arrow, lines, paragraph
from rlmkb.views.diagrams.shapes import Drawing, Rect, Shape, column, inks, row

_ROOM, _LEFT, _RIGHT, _PAD = 412, 176, 196, 10

#: question, glyph, what to do, what it costs
CHOICES = (
    ("Is a critic as large as the policy trained?", "structure", "Share the body, or go critic-free",
     "coupled losses; no values"),
    ("Do all models together outgrow a group of devices?", "placement", "Place them apart", "groups that wait"),
    ("Do generation and training want other layouts?", "hybrid", "A layout for each call",
     "a transfer and a buffer"),
    ("Are a few responses far longer than most?", "fusion", "Fuse stages: pass on what is ready",
     "both stages in memory"),
    ("Do groups still wait, and is the learner at ease with older samples?", "asynchrony",
     "Let iterations overlap", "a copy of the policy; drift"),
    ("Is generation alone the longest by now?", "tensor", "Look inside the model: degrees, cache, lengths",
     "nothing between models helps"),
)  # fmt: skip


def _card(content: Drawing, width: float, tone: str, high: float, key: str) -> Drawing:
    fill, stroke, _ = inks(tone)
    frame = Shape(Rect(0, 0, width, high), fill, stroke, radius=6, key=key)
    return Drawing((frame, *content.at(_PAD, (high - content.extent.h) / 2).items), frame.extent)


def _choice(number: int, question: str, picture: str, advice: str, price: str) -> Drawing:
    asked = paragraph(question, _LEFT - 2 * _PAD)
    words = column(
        paragraph(advice, _RIGHT - 50 - 2 * _PAD, bold=True), paragraph(price, _RIGHT - 50 - 2 * _PAD, ink="muted"),
        gap=2,
    )  # fmt: skip
    given = row(glyph(picture), words, gap=10, align="middle")
    high = max(asked.extent.h, given.extent.h) + 16
    left, right = f"question {number}", f"advice {number}"
    pair = row(
        _card(asked, _LEFT, "neutral", high, left), _card(given, _RIGHT, "accent", high, right),
        gap=_ROOM - _LEFT - _RIGHT,
    )  # fmt: skip
    return pair + arrow(pair[left].right_at(), pair[right].left_at())


def _draw() -> Drawing:
    ask, yes = lines("Ask", bold=True), lines("If yes, and at what price", bold=True)
    head = Drawing((*ask.items, *yes.at(_ROOM - _RIGHT, 0).items), Rect(0, 0, _ROOM, ask.extent.h))
    stack = column(*(_choice(number, *choice) for number, choice in enumerate(CHOICES, 1)), gap=18)
    for number in range(1, len(CHOICES)):
        stack += arrow(stack[f"question {number}"].bottom_at(), stack[f"question {number + 1}"].top_at())
    return column(head, stack, gap=8)


CHOICE = Diagram(
    "inter-model-choice",
    "Which barrier to take away, in which order",
    "Six questions from top to bottom, each with an answer and its price. "
    + " ".join(f"{question} {advice}; price: {price}." for question, _, advice, price in CHOICES),
    _draw,
)
