"""Asynchronous execution: timelines from the event loop, a rollout of several versions, and where copies lie."""

from functools import cache
from itertools import pairwise

import sympy

from rlmkb.notation import Role, Stage
from rlmkb.simulation import Decoding, Passes, Simulation, simulate, step_time
from rlmkb.theory.algorithms import GRPO
from rlmkb.theory.graph import IterationGraph, Schedule
from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import arrow, box, lines, panel, paragraph
from rlmkb.views.diagrams.shapes import SMALL, Drawing, Label, Line, Rect, Shape, column, row

GENERATION, UPDATE, ITERATIONS = 6, 4, 5
SHOWN = 3 * (GENERATION + UPDATE)  # time
SPANS = ((0, 5), (2, 17), (6, 14))  # of rollouts that new weights interrupt
LOADS = (4, 10, 16)  # times of new weights
_ROOM, _LEFT, _HIGH, _GAP = 412, 58, 22, 1


@cache
def overlapped(staleness: int) -> Simulation:
    """The figure's run: generation and training on groups of their own, all responses equally long.

    Examples
    --------
    >>> overlapped(0).updates[:2].tolist(), overlapped(1).updates[:3].tolist()
    ([10.0, 20.0], [10.0, 16.0, 22.0])
    """
    algorithm = GRPO.without(Role.REFERENCE).with_verifier()
    placement = {(call.role, call.stage): "trainer" if call.stage is Stage.TRAINING else "rollout"
                 for call in algorithm.invocations}  # fmt: skip
    graph = IterationGraph(algorithm, placement, Schedule(frozenset(), staleness=sympy.Integer(staleness)))
    services = {"policy/generation": Decoding(step_time(1.0)), "verifier/assessment": Passes(),
                "policy/training": Passes(per_sample=UPDATE)}  # fmt: skip
    return simulate(graph, services, [[GENERATION]] * ITERATIONS)


def _bar(x: float, y: float, w: float, tone: str, label: str, solid: bool = False) -> Drawing:
    here = Rect(x, y, w - _GAP, _HIGH - _GAP)
    shape = Shape(here, tone if solid else f"{tone}-soft", tone, 1, 2)
    return Drawing((shape,)) + Label(here.centre, here.middle, label, SMALL, ink="page" if solid else f"{tone}-ink")


def _timeline(staleness: int) -> Drawing:
    shown = overlapped(staleness)
    scale, drawing = (_ROOM - _LEFT) / SHOWN, Drawing()
    for place, (name, node, tone) in enumerate(
        (("rollout", "policy/generation", "generation"), ("trainer", "policy/training", "training"))
    ):
        y = place * (_HIGH + 5)
        drawing += Label(0, y + _HIGH / 2, name, SMALL, ink="muted", anchor="start")
        drawing += Shape(Rect(_LEFT, y, _ROOM - _LEFT - _GAP, _HIGH - _GAP), "none", "hairline", 1, 0)
        for iteration, start, end in shown.segments[node].tolist():
            if end <= SHOWN:
                version = f" $v_{shown.version[int(iteration)]}$" if place == 0 else ""
                drawing += _bar(_LEFT + start * scale, y, (end - start) * scale, tone, f"{iteration + 1:g}{version}")
    done = int((shown.updates <= SHOWN).sum())
    facts = f"an update every {shown.period:g}, {done} by {SHOWN}"
    title = row(lines(f"Staleness {staleness}", bold=True), lines(facts, ink="muted"), gap=10, align="end")
    return column(title, drawing, gap=6)


def _asynchronous() -> Drawing:
    note = paragraph(
        "Numbers are batches, $v_k$ the weights after $k$ updates. At staleness 1 batch 2 is generated with the "
        "weights that batch 1 has not yet updated, and is trained on one update later.",
        _ROOM,
    )
    return column(_timeline(0), _timeline(1), note, gap=14)


ASYNCHRONOUS = Diagram(
    "asynchronous-execution",
    "Rollouts and training that wait for each other, and that overlap",
    f"Two timelines of a rollout group and a trainer; generation takes {GENERATION}, an update {UPDATE}. At staleness "
    f"0 each waits for the other and there is an update every {overlapped(0).period:g}. At staleness 1 the rollout "
    "group starts the next batch at once with the weights it has, training runs beside it, and there is an update "
    f"every {overlapped(1).period:g}.",
    _asynchronous,
)


def pieces(start: float, end: float) -> list[tuple[float, float, int]]:
    """Start, end and version of the parts of a rollout that new weights interrupt.

    Examples
    --------
    >>> pieces(2, 12)
    [(2, 4, 0), (4, 10, 1), (10, 12, 2)]
    """
    edges = [start, *(time for time in LOADS if start < time < end), end]
    first = sum(time <= start for time in LOADS)
    return [(a, b, first + k) for k, (a, b) in enumerate(pairwise(edges))]


def _in_flight() -> Drawing:
    last = max(max(end for _, end in SPANS), LOADS[-1] + 1)
    scale, drawing, high = (_ROOM - _LEFT) / last, Drawing(), (_HIGH + 4) * len(SPANS)
    for time, version in zip(LOADS, range(1, len(LOADS) + 1), strict=True):
        x = _LEFT + time * scale
        drawing += Line(((x, 0), (x, high + 18)), "training", 1.25, dashed=True)
        drawing += Label(x, 8, f"$v_{version}$", SMALL, ink="training-ink", anchor="start").moved(4, 0)
    for place, (start, end) in enumerate(SPANS):
        y = 18 + place * (_HIGH + 4)
        drawing += Label(0, y + _HIGH / 2, f"rollout {place + 1}", SMALL, ink="muted", anchor="start")
        for a, b, version in pieces(start, end):
            x = _LEFT + a * scale
            drawing += _bar(x, y, (b - a) * scale, "generation", f"$v_{version}$", solid=version % 2 == 1)
    note = paragraph(
        "Dashed lines: new weights are there. Those that run pause, load them, refill their caches and go on; the "
        "second rollout has tokens of four versions.",
        _ROOM,
    )
    return column(drawing, note, gap=12)


IN_FLIGHT = Diagram(
    "in-flight-weights",
    "Rollouts that new weights interrupt",
    "Three rollouts over time and three arrivals of new weights. The first starts with version 0 and ends with "
    "version 1. The second is longest: it starts with version 0 and goes on with versions 1, 2 and 3, so its tokens "
    "come from four policies. The third has tokens of versions 1 and 2.",
    _in_flight,
)


def _copies() -> Drawing:
    width, style = 152, {"size": SMALL}
    rollout = column(
        box("actor, read only", "the shadow copy", tone="policy", width=width, dashed=True, **style),
        box("cache of rollouts", tone="generation", width=width, **style), gap=8,
    )  # fmt: skip
    trainer = column(
        box("actor, trained", tone="policy", width=width, **style),
        box("gradients, moments", tone="policy", width=width, **style),
        box("activations", tone="training", width=width, **style), gap=8,
    )  # fmt: skip
    drawing = row(
        panel("Rollout group", rollout, tone="generation", key="rollout"),
        panel("Trainer", trainer, tone="training", key="trainer"), gap=56,
    )  # fmt: skip
    left, right = drawing["rollout"], drawing["trainer"]
    y = left.y + 62
    drawing += arrow((right.x, y), (left.right, y), stroke="policy")
    words = lines("new", "weights", ink="muted", anchor="middle")
    note = paragraph(
        "Two actors, one of them without training state. The printed row has a third: it keeps the weights themselves "
        "beside the shadow copy in the rollout group.",
        _ROOM,
    )
    return column(drawing + words.at((left.right + right.x - words.extent.w) / 2, y + 6), note, gap=12)


COPIES = Diagram(
    "async-copies",
    "Which copies of the actor asynchronous execution keeps",
    "Two device groups. The rollout group holds a copy of the actor that is only read, the shadow copy, and the cache "
    "of the rollouts. The trainer holds the actor that is trained, its gradients and two moments, and activations. New "
    "weights go from the trainer to the rollout group.",
    _copies,
)
