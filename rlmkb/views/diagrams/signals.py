"""Where the feedback comes from, and what runs for it."""

from itertools import pairwise

from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import arrow, blank, box, legend, lines, paragraph, swatch
from rlmkb.views.diagrams.shapes import HEADING, SMALL, Drawing, column, row

_TRAINED = ("reward model", "is trained")
_SCORES = ("reward model:", "one forward")
# Name, what it stands for, where the signal comes from, what is trained on it before the loop (if anything), what
# assessment runs, and the tone of that.
SOURCES = (
    ("RLVR", "verifiable rewards",
     ("exact answers,", "unit tests, proofs"), None, ("verifier:", "a program"), "neutral"),
    ("RLHF", "human feedback", ("preferences", "of people"), _TRAINED, _SCORES, "reward"),
    ("RLAIF", "AI feedback", ("preferences", "of a model"), _TRAINED, _SCORES, "reward"),
    ("d-RLAIF", "a language model as judge",
     ("a rubric", "in the prompt"), None, ("judge model:", "generates"), "reward"),
    ("Process supervision", "a reward per step",
     ("labels of", "single steps"), _TRAINED, ("process reward:", "up to $s$ passes"), "reward"),
    ("Offline preference", "DPO and its relatives",
     ("pairs, one", "preferred"), None, ("policy, reference:", "one forward each"), "policy"),
)  # fmt: skip
_W, _H, _GAP = 122, 42, 22


def _lane(name: str, meaning: str, source: tuple, trained: tuple | None, runs: tuple, tone: str) -> Drawing:
    """One kind of feedback: three boxes from its source to what assessment runs."""
    style = {"width": _W, "height": _H, "size": SMALL}
    first, last = box(*source, key="source", **style), box(*runs, tone=tone, key="runs", **style)
    middle = box(*trained, tone="reward", key="trained", dashed=True, **style) if trained else blank(_W, _H)
    boxes = row(first, middle, last, gap=_GAP)
    stops = ["source", "trained", "runs"] if trained else ["source", "runs"]
    for start, end in pairwise(stops):
        boxes += arrow(boxes[start].right_at(), boxes[end].left_at())
    title = row(lines(name, size=HEADING, bold=True), lines(meaning, ink="muted"), gap=10, align="end")
    return column(title, boxes, gap=5)


def _feedback_sources() -> Drawing:
    heads = row(
        box("signal from", tone="bare", width=_W, height=28, size=SMALL, bold=True),
        box("before the loop", tone="bare", width=_W, height=28, size=SMALL, bold=True),
        box("assessment", tone="assessment", width=_W, height=28, size=SMALL, bold=True),
        gap=_GAP,
    )
    key = legend(
        swatch("neutral", "program or data"), swatch("reward", "learned judge"), swatch("policy", "log-probabilities"),
        room=heads.extent.w,
    )  # fmt: skip
    note = paragraph("Online, the reference and in PPO the critic run in assessment as well.", heads.extent.w)
    return column(heads, *(_lane(*source) for source in SOURCES), key, note, gap=14)


FEEDBACK_SOURCES = Diagram(
    "feedback-sources",
    "Where the feedback comes from, and what assessment runs for it",
    "Six kinds of feedback, each from its source to what runs in assessment. RLVR: exact answers, unit "
    "tests or proofs; a verifier, which is a program. RLHF: preferences of people train a reward model, "
    "which runs forward. RLAIF: the same with preferences of a model. Direct RLAIF: a language model "
    "judges with a rubric and generates its verdict; no reward model is trained. Process supervision: "
    "labels of single steps train a process reward model, which may run once per step. Offline "
    "preference: given pairs; policy and reference run forward, nothing is generated.",
    _feedback_sources,
)
