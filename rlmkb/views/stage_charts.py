"""Charts of pipeline bubbles, expert loads and the costs of a rank: computed by the caller, drawn here.

Each function takes a data frame with the columns that it names, and gives an Altair chart for `charts.show`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rlmkb.errors import InputError
from rlmkb.views import charts

if TYPE_CHECKING:
    import pandas as pd

_DASHES = ([1, 0], [8, 5], [2, 5], [8, 4, 2, 4], [14, 4], [4, 2])
_MARKS = [step * 10.0**power for power in range(19) for step in (1, 2, 5)]  # of logarithmic axes
COSTS = ("work", "depth", "memory", "sent")
_UNITS = {"work": "Work (FLOP)", "depth": "Depth (steps)", "memory": "Memory (elements)", "sent": "Sent (elements)"}
_COLOURS = {"work": "work", "depth": "depth", "memory": "memory", "sent": "accent"}


def bubbles(curves: "pd.DataFrame") -> Any:
    """Idle share of a pipeline against micro-batches, a line for each schedule, with a choice of ranks.

    Parameters
    ----------
    curves : pandas.DataFrame
        ``schedule``, ``ranks``, ``micro-batches`` and ``idle``, a share between 0 and 1.
    """
    import altair as alt

    _need(curves, "schedule", "ranks", "micro-batches", "idle")
    options = [int(ranks) for ranks in dict.fromkeys(curves["ranks"])]
    pick = alt.param("ranks", value=options[0], bind=alt.binding_select(options=options, name="Ranks"))
    lines = (
        alt.Chart(curves)
        .transform_filter("datum.ranks == ranks")
        .mark_line(color=charts.colour("accent"), point=alt.OverlayMarkDef(size=26, color=charts.colour("accent")))
        .encode(
            x=alt.X("micro-batches:Q", scale=_doubling(), axis=_powers_of_two(), title="Micro-batches per step"),
            y=alt.Y("idle:Q", scale=alt.Scale(domain=[0, 0.5]), axis=alt.Axis(format="%"),
                    title="Idle share of a step"),
            strokeDash=_dashes("schedule", list(dict.fromkeys(curves["schedule"]))),
            tooltip=["schedule", "ranks", "micro-batches", alt.Tooltip("idle:Q", format=".1%")],
        )
    )
    return lines.add_params(pick)


def loads(curves: "pd.DataFrame") -> Any:
    """Load of the busiest rank over the mean against tokens, a line for each kind of router.

    Parameters
    ----------
    curves : pandas.DataFrame
        ``router``, ``tokens`` and ``busiest``, at least 1.
    """
    import altair as alt

    _need(curves, "router", "tokens", "busiest")
    return (
        alt.Chart(curves)
        .mark_line(color=charts.colour("accent"), point=alt.OverlayMarkDef(size=30, color=charts.colour("accent")))
        .encode(
            x=alt.X("tokens:Q", scale=_doubling(), axis=_powers_of_two(), title="Tokens routed together"),
            y=alt.Y("busiest:Q", scale=alt.Scale(zero=False), title="Busiest rank over the mean"),
            strokeDash=_dashes("router", list(dict.fromkeys(curves["router"]))),
            tooltip=["router", "tokens", alt.Tooltip("busiest:Q", format=".3f")],
        )
    )


def layouts(points: "pd.DataFrame", room: float, room_name: str) -> Any:
    """Layouts as points: what a rank sends across nodes against its memory, with its idle share told on hover.

    Parameters
    ----------
    points : pandas.DataFrame
        ``layout``, ``memory (GB)``, ``sent across nodes (GB)``, ``idle (%)`` and ``tensor``, the tensor degree.
    room : float
        GB that a device has, drawn as a rule.
    room_name : str
        What the rule is called.
    """
    import altair as alt
    import pandas as pd

    _need(points, "layout", "memory (GB)", "sent across nodes (GB)", "idle (%)", "tensor")
    names = sorted(dict.fromkeys(points["tensor"]))
    shapes = alt.Scale(domain=names, range=["circle", "square", "triangle-up", "diamond", "cross"][: len(names)])
    marks = (
        alt.Chart(points)
        .mark_point(filled=False, size=90, strokeWidth=2, color=charts.colour("accent"))
        .encode(
            x=alt.X("sent across nodes (GB):Q", scale=alt.Scale(type="log", nice=False),
                    axis=alt.Axis(format="~s", values=_MARKS), title="Sent by a rank across nodes, per step (GB)"),
            y=alt.Y("memory (GB):Q", scale=alt.Scale(type="log", nice=False),
                    axis=alt.Axis(format="~s", values=_MARKS), title="Memory of a rank (GB)"),
            shape=alt.Shape("tensor:N", scale=shapes, title="Tensor degree"),
            tooltip=["layout", alt.Tooltip("memory (GB):Q", format=".1f"),
                     alt.Tooltip("sent across nodes (GB):Q", format=".1f"), alt.Tooltip("idle (%):Q", format=".1f")],
        )
    )  # fmt: skip
    level = alt.Chart(pd.DataFrame({"level": [room], "name": [room_name]})).encode(y="level:Q")
    rule = level.mark_rule(color=charts.colour("ink"))
    text = level.mark_text(align="right", x=alt.expr("width"), dy=-10, color=charts.colour("muted"))
    return marks + rule + text.encode(text="name:N")


def costs(curves: "pd.DataFrame", architecture: str, strategies: Sequence[str], cost: str = "memory") -> Any:
    """Work, depth, memory or traffic of a rank against the degree, with choices of cost and architecture.

    Parameters
    ----------
    curves : pandas.DataFrame
        ``architecture``, ``strategy``, ``degree`` and a column for each of `COSTS`; zeros are not drawn.
    architecture, cost : str
        Shown first.
    strategies : sequence of str
        In the order of the legend.
    """
    import altair as alt

    _need(curves, "architecture", "strategy", "degree", *COSTS)
    names = [str(name) for name in dict.fromkeys(curves["architecture"])]
    for chosen, known, what in ((architecture, names, "architectures"), (cost, list(COSTS), "costs")):
        if chosen not in known:
            raise InputError(f"{chosen!r} is not among the {what} of the chart: {', '.join(known)}")
    picks = (
        alt.param("cost", value=cost, bind=alt.binding_select(
            options=list(COSTS), labels=[_UNITS[name] for name in COSTS], name="Cost")),
        alt.param("architecture", value=architecture, bind=alt.binding_select(options=names, name="Architecture")),
    )  # fmt: skip
    long = curves.melt(["architecture", "strategy", "degree"], list(COSTS), "cost", "value")
    colours = alt.Scale(domain=list(COSTS), range=[charts.colour(_COLOURS[name]) for name in COSTS])
    lines = (
        alt.Chart(long[long["value"] > 0])
        .transform_filter("datum.architecture == architecture && datum.cost == cost")
        .mark_line(point=alt.OverlayMarkDef(size=26))
        .encode(
            x=alt.X("degree:Q", scale=_doubling(), axis=_powers_of_two(), title="Degree"),
            y=alt.Y("value:Q", scale=alt.Scale(type="log", nice=False),
                    axis=alt.Axis(format="~s", values=_MARKS), title="Of one rank, in a training step"),
            color=alt.Color("cost:N", scale=colours, legend=None),
            strokeDash=_dashes("strategy", list(strategies), "muted"),
            tooltip=["strategy", "degree", "cost", alt.Tooltip("value:Q", format=".3~s")],
        )
    )  # fmt: skip
    return lines.add_params(*picks)


def _dashes(column: str, names: list[str], colour: str = "accent") -> Any:
    import altair as alt

    scale = alt.Scale(domain=names, range=[_DASHES[i % len(_DASHES)] for i in range(len(names))])
    legend = alt.Legend(columns=2, symbolType="stroke", symbolSize=400, symbolStrokeWidth=2.5, labelLimit=240,
                        symbolStrokeColor=charts.colour(colour))  # fmt: skip
    return alt.StrokeDash(f"{column}:N", scale=scale, sort=names, title=None, legend=legend)


def _doubling() -> Any:
    import altair as alt

    return alt.Scale(type="log", base=2, nice=False)


def _powers_of_two() -> Any:
    import altair as alt

    short = "datum.value < 1024 ? datum.value : format(datum.value / 1024, ',') + ' Ki'"
    return alt.Axis(values=[2**k for k in range(22)], labelExpr=short, labelOverlap=True)


def _need(frame: "pd.DataFrame", *columns: str) -> None:
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise InputError(f"the chart's data lack {', '.join(missing)}; give the columns {', '.join(columns)}")
