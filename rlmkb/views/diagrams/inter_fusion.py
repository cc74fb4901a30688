"""Stage fusion as timelines, from the event loop that simulates it: barriers, streamed samples, training in turns."""

from functools import cache

from rlmkb.notation import Role, Stage
from rlmkb.simulation import Decoding, Passes, Simulation, simulate, step_time
from rlmkb.theory.algorithms import GRPO
from rlmkb.theory.graph import IterationGraph, Schedule, split_by_stage
from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import legend, lines, paragraph, swatch
from rlmkb.views.diagrams.shapes import SMALL, Drawing, Label, Line, Rect, Shape, column, row

LENGTHS = (4, 9, 3, 14, 6)  # of the rollouts, in units of time
SCORE, UPDATE = 1.5, 4  # a sample's assessment, and the update of the batch
PASSES, BUBBLE = 4, 0.4  # micro-batches of each trained model, and the share of a pass in which devices wait
_ROOM, _HIGH, _GAP = 412, 18, 1


@cache
def streamed(barrier: bool) -> Simulation:
    """The figure's iteration: one rollout after the other is scored by one assessor, then all are trained on.

    Parameters
    ----------
    barrier : bool
        Whether assessment waits for the longest rollout.

    Examples
    --------
    >>> streamed(True).makespan, streamed(False).makespan
    (25.5, 19.5)
    """
    algorithm = GRPO.without(Role.REFERENCE)
    stands = {Stage.ASSESSMENT, Stage.TRAINING} if barrier else {Stage.TRAINING}
    graph = IterationGraph(algorithm, split_by_stage(algorithm), Schedule(frozenset(stands)))
    services = {
        "policy/generation": Decoding(step_time(1.0)), "reward/assessment": Passes(per_sample=SCORE, batch=1),
        "policy/training": Passes(per_sample=UPDATE / len(LENGTHS)),
    }  # fmt: skip
    return simulate(graph, services, [LENGTHS])


def _bar(x: float, y: float, w: float, tone: str, label: str = "", high: float = _HIGH) -> Drawing:
    here = Rect(x, y, w - _GAP, high - _GAP)
    drawing = Drawing((Shape(here, f"{tone}-soft", tone, 1, 2),))
    return drawing + Label(here.centre, here.middle, label, SMALL, ink=f"{tone}-ink") if label else drawing


def _iteration(barrier: bool) -> Drawing:
    shown = streamed(barrier)
    scale = _ROOM / streamed(True).makespan
    scored = float(shown.assessed.max())
    drawing, high, wall = Drawing(), _HIGH * len(LENGTHS), max(LENGTHS) * scale - _GAP / 2
    for place, (generated, assessed) in enumerate(zip(shown.generated.tolist(), shown.assessed.tolist(), strict=True)):
        y, done, begun = place * _HIGH, generated * scale, (assessed - SCORE) * scale
        edges = (done, wall - 3, wall + 4, begun - _GAP) if barrier and done < wall - 3 else (done, begun - _GAP)
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            if end > start + 2:
                drawing += Line(((start, y + _HIGH / 2), (end, y + _HIGH / 2)), "line", 1, dashed=True)
        drawing += _bar(0, y, done, "generation", str(place + 1))
        drawing += _bar(begun, y, SCORE * scale, "assessment")
    if barrier:
        drawing += Line(((wall, -4), (wall, high + 3)), "ink", 1.5)
    drawing += _bar(scored * scale, 0, (shown.makespan - scored) * scale, "training", "update", high)
    words = "Barrier" if barrier else "Streamed"
    facts = f"last score at {scored:g}, ends at {shown.makespan:g}"
    title = row(lines(words, bold=True), lines(facts, ink="muted"), gap=10, align="end")
    return column(title, drawing, gap=6)


def _inter() -> Drawing:
    key = legend(
        swatch("generation", "generation"), swatch("assessment", "assessment"), swatch("training", "training"),
        room=_ROOM,
    )  # fmt: skip
    note = paragraph(
        "Rows are rollouts, scored one at a time. A dashed line is a finished rollout that waits. Streamed, "
        "all but the longest are scored before generation ends; the longest still comes last.",
        _ROOM,
    )
    return column(_iteration(True), _iteration(False), key, note, gap=14)


INTER = Diagram(
    "inter-stage-fusion",
    "Scoring behind a barrier, and sample by sample",
    f"Two timelines of five rollouts of lengths {', '.join(map(str, LENGTHS))}. With a barrier all wait for the "
    f"longest, then one after the other is scored, and the update ends at {streamed(True).makespan:g}. Streamed, each "
    f"is scored when it ends and the scorer is free; only the longest is left when generation ends, and the update "
    f"ends at {streamed(False).makespan:g}.",
    _inter,
)


def starts(turns: bool) -> dict[str, list[float]]:
    """When each micro-batch of the two trained models starts, in units of one pass.

    Parameters
    ----------
    turns : bool
        Whether they interleave: the other model starts in the bubble of a pass.

    Examples
    --------
    >>> starts(False)["critic"], starts(True)["critic"]
    ([4, 5, 6, 7], [0.6, 1.8, 3.0, 4.2])
    """
    if not turns:
        return {"policy": list(range(PASSES)), "critic": list(range(PASSES, 2 * PASSES))}
    busy = 1 - BUBBLE
    return {name: [round((2 * k + first) * busy, 9) for k in range(PASSES)]
            for first, name in enumerate(("policy", "critic"))}  # fmt: skip


def ends(turns: bool) -> float:
    """When the last pass has ended."""
    return max(map(max, starts(turns).values())) + 1


def _passes(turns: bool) -> Drawing:
    left, drawing = 48, Drawing()
    scale = (_ROOM - left) / ends(False)
    for place, (role, begun) in enumerate(starts(turns).items()):
        y = place * (_HIGH + 3)
        drawing += Label(0, y + _HIGH / 2, role, SMALL, ink=f"{role}-ink", anchor="start")
        for number, start in enumerate(begun):
            x, busy = left + start * scale, (1 - BUBBLE) * scale
            drawing += Shape(Rect(x + busy, y + 3, BUBBLE * scale - _GAP, _HIGH - _GAP - 6), "none", "line", 1, 1, True)
            drawing += _bar(x, y, busy, role, str(number + 1))
    words = "In turns" if turns else "One model after the other"
    title = row(lines(words, bold=True), lines(f"ends at {ends(turns):g}", ink="muted"), gap=10, align="end")
    return column(title, drawing, gap=6)


def _intra() -> Drawing:
    note = paragraph(
        "Micro-batches of two models on the same devices, a pass as the unit. Dashed: the bubble of a pass, in which "
        "some of its devices wait. In turns, a pass of the other model starts there.",
        _ROOM,
    )
    return column(_passes(False), _passes(True), note, gap=14)


INTRA = Diagram(
    "intra-stage-fusion",
    "Training of two models on the same devices",
    f"Two timelines of {PASSES} micro-batches of the policy and {PASSES} of the critic. Devices wait in {BUBBLE:.0%} "
    f"of each pass. One model after the other ends at {ends(False):g} passes; in turns, where each pass starts in the "
    f"bubble of the one before, at {ends(True):g}.",
    _intra,
)
