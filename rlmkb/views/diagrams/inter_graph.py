"""The iteration as a graph: invocations between barriers, and the way back to the next iteration."""

from rlmkb.views.diagrams.loop import role_name
from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import arrow, blank, box, paragraph
from rlmkb.views.diagrams.shapes import Drawing, column, row

_WIDE, _GAP, _FALL = 372, 8, 20  # of a row of boxes, between boxes, and between rows
_CALLS = {"generate": "generates", "forward": "runs forward", "train": "is trained"}
_BARRIERS = (
    ("barrier: all responses are there", "stage fusion removes it: samples are streamed"),
    ("barrier: all are assessed", "intra-stage fusion lets the two below take turns"),
    ("new weights, for the iteration after", "asynchrony: for one up to $η + 1$ later"),
)


def _stage(graph: object, stage: object) -> Drawing:
    """The invocations of a stage side by side; they wait for each other only where they share devices."""
    nodes = graph.at(stage)
    width = (_WIDE - _GAP * (len(nodes) - 1)) / len(nodes)
    return row(*(box(role_name(node.role.value), _CALLS[node.call.call.value], tone=node.role.value, key=node.id,
                     width=width, height=46) for node in nodes), gap=_GAP)  # fmt: skip


def _draw() -> Drawing:
    from rlmkb.notation import Stage
    from rlmkb.theory.algorithms import PPO
    from rlmkb.theory.graph import IterationGraph, disaggregated

    graph = IterationGraph(PPO, disaggregated(PPO))
    bars = [box(*words, tone="quiet", width=_WIDE, key=f"bar {place}", dashed=True)
            for place, words in enumerate(_BARRIERS)]  # fmt: skip
    rows = [part for stage, bar in zip(Stage, bars, strict=True) for part in (_stage(graph, stage), bar)]
    drawing = column(*rows, gap=_FALL)
    for place, stage in enumerate(Stage):
        below = drawing[f"bar {place}"]
        for node in graph.at(stage):
            own = drawing[node.id]
            drawing += arrow((own.centre, own.bottom), (own.centre, below.y))
            if place:
                drawing += arrow((own.centre, drawing[f"bar {place - 1}"].bottom), (own.centre, own.y))
    first, last = drawing["policy/generation"], drawing["bar 2"]
    rail = first.right + 18
    drawing += arrow(last.right_at(), (rail, last.middle), (rail, first.middle), first.right_at(), dashed=True)
    note = paragraph(
        "Boxes in a row need nothing of each other. On devices of their own they run at the same time, and the row "
        "takes as long as its longest; on shared devices their times add up.",
        _WIDE,
    )
    return column(drawing, blank(1, 1), note, gap=6)


GRAPH = Diagram(
    "iteration-graph",
    "One iteration of PPO as a graph",
    "Three rows of boxes with a dashed bar below each. First row: the policy generates. Bar: all responses are there; "
    "stage fusion removes it and streams samples. Second row: reference, reward model and critic run forward, "
    "independent of each other. Bar: all are assessed; intra-stage fusion lets the two boxes below take turns. Third "
    "row: policy and critic are trained, independent of each other. Bar: new weights for the next iteration, or under "
    "asynchrony for one up to eta plus one later. A dashed arrow leads from there back to the first row.",
    _draw,
)
