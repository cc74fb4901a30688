"""The combined configuration: groups of devices, what flows between them, and which idea stands where."""

from rlmkb.views.diagrams.loop import role_name
from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import arrow, box, grid_of, lines
from rlmkb.views.diagrams.shapes import HEADING, SMALL, Drawing, Label, Rect, Shape, column, row

_ROOM, _CHIP, _GAP = 412, 114, 46

#: Group by group: stage, its name, and the models on devices of their own with their layout.
GROUPS = (
    ("generation", "Generation", (("policy", "inference copy,", "tensor parallel"),)),
    ("assessment", "Assessment", (("reward", "forward", ""), ("reference", "forward", ""), ("critic", "forward", ""))),
    ("training", "Training", (("policy", "ZeRO or 3D", ""), ("critic", "ZeRO or 3D", ""))),
)
#: What a combined configuration takes from each idea, and where it stands in the drawing.
IDEAS = {
    "disaggregated placement": "every box is a group of devices",
    "stage fusion": "samples move on one by one",
    "hybrid layouts": "each group has its own",
    "bounded asynchrony": "no wait for new weights",
}


def _device(role: str, *notes: str) -> Drawing:
    return box(role_name(role), *(note for note in notes if note), tone=role, width=_CHIP, height=58)


def _group(stage: str, title: str, models: tuple) -> Drawing:
    chips = row(*(_device(role, *notes) for role, *notes in models), gap=8)
    heading = lines(title, size=HEADING, bold=True, ink=f"{stage}-ink")
    inner = column(heading, chips, gap=6)
    frame = Shape(Rect(0, 0, _ROOM - 34, inner.extent.h + 16), "none", stage, 1.25, 5, key=stage)
    return Drawing((frame, *inner.at(8, 8).items), frame.extent)


def _combined() -> Drawing:
    stack = column(*(_group(*one) for one in GROUPS), gap=_GAP)
    generation, assessment, training = (stack[stage] for stage, *_ in GROUPS)
    drawing, x, rail = stack, 40, generation.right + 28
    for above, below, words in ((generation, assessment, "a sample as soon as it ends"),
                                (assessment, training, "a scored sample")):  # fmt: skip
        drawing += arrow((x, above.bottom), (x, below.y))
        drawing += Label(x + 14, above.bottom + _GAP / 2, words, SMALL, ink="muted", anchor="start")
    turn = training.bottom + 24
    drawing += arrow((x, training.bottom), (x, turn), (rail, turn), (rail, generation.middle), generation.right_at())
    drawing += Label(x + 14, turn + 14, "new weights; those in use are at most $η$ updates old", SMALL, ink="muted",
                     anchor="start")  # fmt: skip
    ideas = grid_of([[lines(name, bold=True), lines(where)] for name, where in IDEAS.items()], gap=12, leading=2)
    return column(drawing, ideas, gap=14)


COMBINED = Diagram(
    "combined-configuration",
    "The combined configuration",
    "Three frames below each other. Generation: the policy as an inference copy, tensor parallel. Assessment: reward "
    "model, reference and critic, each on a group of devices of its own. Training: policy and critic, each on a group "
    "of its own in a layout for training. Samples move down one by one, as soon as they end. New weights return from "
    "training to generation, which uses weights that are at most eta updates old.",
    _combined,
)
