"""Pipeline schedules as timelines, drawn from the schedules that `rlmkb.theory.timeline` plays."""

from itertools import groupby

from rlmkb.theory.schedules import SCHEDULES
from rlmkb.theory.timeline import Pass, Piece, Timeline, play
from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import legend, lines, paragraph, swatch
from rlmkb.views.diagrams.shapes import SMALL, Drawing, Label, Rect, Shape, column, row

RANKS, MICRO_BATCHES, CHUNKS = 4, 8, 2
_ROOM, _LEFT, _HIGH, _GAP = 412, 16, 18, 1

# fill, outline and text of a piece of work
_PAINT = {
    Pass.FORWARD: ("accent-soft", "accent", "ink"),
    Pass.BACKWARD: ("accent", "accent", "page"),
    Pass.WEIGHTS: ("surface", "line", "ink"),
}


def timeline(schedule: str) -> Timeline:
    """A schedule as the figures show it: four ranks, eight micro-batches, all three passes equally long.

    Examples
    --------
    >>> timeline("1f1b").end, timeline("interleaved").end
    (33, 28.5)
    """
    return play(schedule, RANKS, MICRO_BATCHES, chunks=CHUNKS if schedule == "interleaved" else 1)


def _kind(piece: Piece) -> Pass:
    """A weight gradient right after its activation gradient is drawn as one backward pass."""
    return Pass.FORWARD if piece.kind is Pass.FORWARD else Pass.BACKWARD


def _slot(block: tuple[Piece, ...], start: float, end: float, scale: float, y: float) -> Drawing:
    drawing, step = Drawing(), (end - start) / len(block)
    whole = len(block) > 1
    for (kind, number), pieces in groupby(block, lambda piece: (_kind(piece) if whole else piece.kind,
                                                               piece.micro_batch)):  # fmt: skip
        width = len(list(pieces)) * step * scale - _GAP
        fill, stroke, ink = _PAINT[kind]
        x = _LEFT + start * scale
        drawing += Shape(Rect(x, y, width, _HIGH - _GAP), fill, stroke, 1, 2)
        if width > 10:
            drawing += Label(x + width / 2, y + (_HIGH - _GAP) / 2, str(number + 1), SMALL, ink=ink)
        start += (width + _GAP) / scale
    return drawing


def _played(schedule: str, scale: float) -> Drawing:
    shown = timeline(schedule)
    drawing = Drawing()
    for rank in range(shown.ranks):
        y = rank * _HIGH
        drawing += Shape(Rect(_LEFT, y, shown.end * scale - _GAP, _HIGH - _GAP), "none", "hairline", 1, 0)
        drawing += Label(0, y + _HIGH / 2, str(rank), SMALL, ink="muted", anchor="start")
        for slot in shown.of(rank):
            drawing += _slot(slot.block, slot.start, slot.end, scale, y)
    facts = f"idle {shown.bubble:g}, ends at {shown.end:g}, live {shown.live:g}"
    title = row(lines(SCHEDULES[schedule].name, bold=True), lines(facts, ink="muted"), gap=10, align="end")
    return column(title, drawing, gap=3)


def _schedules(*ids: str, remark: str = "") -> Drawing:
    scale = (_ROOM - _LEFT) / max(timeline(id).end for id in ids)
    key = legend(
        swatch("accent", "forward"), swatch("accent", "backward", solid=True),
        swatch("quiet", "weight gradients on their own"), room=_ROOM,
    )  # fmt: skip
    note = paragraph(
        "Rows are ranks, numbers micro-batches. Idle: of the rank that waits most, in units of one pass. Live: "
        f"micro-batches whose activations a rank holds at most.{remark}",
        _ROOM,
    )
    return column(*(_played(id, scale) for id in ids), key, note, gap=12)


def _facts(*ids: str) -> str:
    return " ".join(
        f"{SCHEDULES[id].name}: idle {timeline(id).bubble:g}, ends at {timeline(id).end:g}, "
        f"at most {timeline(id).live:g} micro-batches live."
        for id in ids
    )


PLAIN, SPLIT = ("gpipe", "1f1b", "interleaved"), ("zb-h1", "zb-h2", "dualpipe")

SCHEDULES_PLAIN = Diagram(
    "pipeline-schedules",
    "Three pipeline schedules on four ranks",
    "Timelines of four ranks and eight micro-batches, a backward pass twice as long as a forward pass. "
    f"{_facts(*PLAIN)} "
    "GPipe runs all forward passes, then all backward passes. 1F1B starts backward passes as soon as they can run and "
    "alternates. Interleaved 1F1B gives each rank two pieces of the model, so that it fills and drains in smaller "
    "steps.",
    lambda: _schedules(*PLAIN),
)

SCHEDULES_SPLIT = Diagram(
    "pipeline-zero-bubble",
    "Schedules that split the backward pass",
    f"Timelines of four ranks and eight micro-batches with forward pass, activation gradients and weight gradients of "
    f"one unit each. {_facts(*SPLIT)} Zero bubble moves weight gradients, which nothing waits for, into gaps; H2 "
    "starts more forward passes first. DualPipe feeds micro-batches from both ends of the pipeline, and pairs forward "
    "with backward passes.",
    lambda: _schedules(*SPLIT, remark=" DualPipe’s enter at both ends and are numbered from each."),
)

_TOKENS = 3


def _decode(groups: int) -> Drawing:
    """Decode through a pipeline: a token leaves the last stage before its group's next one enters the first."""
    period = max(RANKS, groups)
    slots = [
        (stage, group, token * period + group + stage)
        for token in range(_TOKENS) for group in range(groups) for stage in range(RANKS)
    ]  # fmt: skip
    span = _TOKENS * RANKS + RANKS - 1  # as long as the longer of both timelines
    scale, drawing = (_ROOM - _LEFT) / span, Drawing()
    for stage in range(RANKS):
        y = stage * _HIGH
        drawing += Shape(Rect(_LEFT, y, span * scale - _GAP, _HIGH - _GAP), "none", "hairline", 1, 0)
        drawing += Label(0, y + _HIGH / 2, str(stage), SMALL, ink="muted", anchor="start")
    for stage, group, time in slots:
        here = Rect(_LEFT + time * scale, stage * _HIGH, scale - _GAP, _HIGH - _GAP)
        own = group == 0
        drawing += Shape(here, "generation" if own else "generation-soft", "generation", 1, 2)
        label, ink = "abcdefgh"[group] + str((time - group - stage) // period + 1), "page" if own else "generation-ink"
        drawing += Label(here.centre, here.middle, label, SMALL, ink=ink)
    busy = len(slots) / RANKS / (_TOKENS * period)
    words = f"{groups} group{'s' * (groups > 1)} of sequences: a rank is busy {busy:.0%} of the time"
    return column(lines(words), drawing, gap=3)


def _generation() -> Drawing:
    note = paragraph(
        "Rows are ranks, a2 is the second token of group a. A token passes all stages before the next one can start: "
        "the chain of a sequence is as long as on one device. Other sequences can fill the gaps.",
        _ROOM,
    )
    return column(_decode(1), _decode(RANKS), note, gap=12)


DECODE = Diagram(
    "pipeline-decode",
    "Decoding through a pipeline",
    "Two timelines of four ranks. Above, one group of sequences: its first token passes ranks 0 to 3, and only then "
    "its second token starts on rank 0, so each rank is busy a quarter of the time. Below, four groups follow each "
    "other and every rank is busy; each token still takes four steps.",
    _generation,
)

_BATCHES = 4


def _overlap() -> Drawing:
    """One group of devices a stage; batch k trains while k + 1 is scored and k + 2 generated."""
    unit, high, left = 50, 26, 92
    drawing = Drawing()
    for place, stage in enumerate(("generation", "assessment", "training")):
        y = place * (high + 6)
        drawing += Label(0, y + high / 2, stage, SMALL, ink=f"{stage}-ink", anchor="start")
        for batch in range(_BATCHES):
            here = Rect(left + (batch + place) * unit, y, unit - 3, high)
            drawing += Shape(here, f"{stage}-soft", stage, 1.25, 3)
            drawing += Label(here.centre, here.middle, f"${batch + 1}$", SMALL, ink=f"{stage}-ink")
    note = paragraph(
        "One group of devices a stage, numbers are batches. In the third step batch 1 trains, batch 2 is scored and "
        "batch 3 is generated, with weights that batches 1 and 2 have not yet updated.",
        _ROOM,
    )
    return column(drawing, note, gap=12)


INTER_BATCH = Diagram(
    "inter-batch-pipelining",
    "Batches in a pipeline of stages",
    "Three device groups, one for generation, one for assessment, one for training. Four batches pass them one step "
    "apart. From the third step on all groups work at once: batch 1 in training, batch 2 in assessment, batch 3 in "
    "generation, which therefore uses weights that are two updates old.",
    _overlap,
)
