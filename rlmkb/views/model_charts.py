"""Charts of one model's cost: what they show is computed by the caller, how they look is decided here.

Each function takes a data frame with the columns that it names, and gives an Altair chart for `charts.show`.
"""

from typing import TYPE_CHECKING, Any

from rlmkb.errors import InputError
from rlmkb.views import charts

if TYPE_CHECKING:
    import pandas as pd

SHARES = {
    "attention over pairs": "work",
    "projections": "muted",
    "feed-forward": "line",
    "head": "hairline",
}


def speedup(curves: "pd.DataFrame") -> Any:
    """Speed-up against processors, by stage, with a slider over the sequences of the batch.

    Parameters
    ----------
    curves : pandas.DataFrame
        ``stage``, ``sequences`` (powers of four), ``processors``, ``speed-up`` and ``limit``.
    """
    import altair as alt

    _need(curves, "stage", "sequences", "processors", "speed-up", "limit")
    largest = round(curves["sequences"].max()).bit_length() // 2
    slider = alt.binding_range(min=0, max=largest, step=1, name="Sequences: 4 to the power of")
    exponent = alt.param("exponent", value=0, bind=slider)
    stages = list(dict.fromkeys(curves["stage"]))
    log, short = alt.Scale(type="log"), alt.Axis(format="~s", tickCount=6)
    shown = (
        alt.Chart(curves)
        .transform_filter("datum.sequences == pow(4, exponent)")
        .encode(color=alt.Color("stage:N", scale=charts.stage_scale(stages), title="Pass made in"))
    )
    limits = shown.mark_rule().encode(y=alt.Y("limit:Q", scale=log))
    lines = shown.mark_line(point=alt.OverlayMarkDef(size=24)).encode(
        x=alt.X("processors:Q", scale=log, axis=short, title="Processors (operations per step)"),
        y=alt.Y("speed-up:Q", scale=log, axis=short, title="Speed-up over one processor"),
        tooltip=["stage", *(alt.Tooltip(f"{name}:Q", format=".3s") for name in ("processors", "speed-up", "limit"))],
    )
    return (limits + lines).add_params(exponent)


def shares(parts: "pd.DataFrame", crossovers: "pd.DataFrame", first: str) -> Any:
    """Shares of the FLOPs against sequence length, with a choice of architecture and its crossover as a rule.

    Parameters
    ----------
    parts : pandas.DataFrame
        ``architecture``, ``length``, ``part`` (a name in `SHARES`) and ``share``.
    crossovers : pandas.DataFrame
        ``architecture`` and ``crossover``, in tokens.
    first : str
        The architecture shown first.
    """
    import altair as alt

    _need(parts, "architecture", "length", "part", "share")
    _need(crossovers, "architecture", "crossover")
    pick = _choice(parts, first)
    colours = alt.Scale(domain=list(SHARES), range=[charts.colour(name) for name in SHARES.values()])
    kibi = "datum.value < 1024 ? datum.value : format(datum.value / 1024, ',') + ' Ki'"
    powers = alt.Axis(values=[2**k for k in range(7, 21, 2)], labelExpr=kibi)
    long = alt.Scale(type="log", base=2, nice=False)
    order = " : ".join(f"datum.part == '{name}' ? {i}" for i, name in enumerate(SHARES)) + f" : {len(SHARES)}"
    areas = (
        alt.Chart(parts)
        .transform_filter(_PICKED)
        .transform_calculate(place=order)
        .mark_area(line=False)
        .encode(
            x=alt.X("length:Q", scale=long, axis=powers, title="Sequence length (tokens)"),
            y=alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"), title="Share of FLOPs"),
            color=alt.Color("part:N", scale=colours, title=None),
            order=alt.Order("place:Q"),
        )
    )
    picked = alt.Chart(crossovers).transform_filter(_PICKED)
    rule = picked.mark_rule(strokeWidth=1.5, color=charts.colour("ink")).encode(x="crossover:Q")
    text = picked.mark_text(align="right", dx=-6, y=48).encode(x="crossover:Q", text="label:N")
    text = text.transform_calculate(label="'crossover at ' + format(datum.crossover, ',.0f') + ' tokens'")
    hover = _hover(parts, "length", "part", "share", ".1%")
    # set here and not on the mark, since the legend's symbols follow the configuration
    return (areas + rule + text + hover).add_params(pick).configure_area(fillOpacity=0.85)


def intensity(curves: "pd.DataFrame", balance: float, balance_name: str, first: str) -> Any:
    """FLOP per byte of a decode step against the batch, by context, with a choice of architecture.

    Parameters
    ----------
    curves : pandas.DataFrame
        ``architecture``, ``context``, ``batch`` and ``intensity``.
    balance : float
        FLOP per byte at which a machine is balanced, drawn as a rule.
    balance_name : str
        What the rule is called.
    first : str
        The architecture shown first.
    """
    import altair as alt
    import pandas as pd

    _need(curves, "architecture", "context", "batch", "intensity")
    pick = _choice(curves, first)
    last = curves[curves["batch"] == curves["batch"].max()]
    doubling = alt.Scale(type="log", base=2, nice=False)
    fours = alt.Axis(values=[4**k for k in range(10)])
    decades = alt.Axis(values=[1, 3, 10, 30, 100, 300, 1000], format="~s")
    x = alt.X("batch:Q", scale=doubling, axis=fours, title="Sequences decoded together")
    y = alt.Y("intensity:Q", scale=alt.Scale(type="log", nice=False), axis=decades, title="FLOP per byte read")
    drawn = alt.Chart(curves).transform_filter(_PICKED).encode(x=x, y=y, detail="context:O")
    lines = drawn.mark_line(color=charts.colour("generation"))
    ends = alt.Chart(last).transform_filter(_PICKED).transform_calculate(label="format(datum.context, ',') + ' tokens'")
    ends = ends.mark_text(align="right", dy=-9, color=charts.colour("muted")).encode(x=x, y=y, text="label:N")
    machine = alt.Chart(pd.DataFrame({"balance": [balance], "name": [balance_name]}))
    rule = machine.mark_rule(color=charts.colour("ink")).encode(y=alt.Y("balance:Q"))
    text = machine.mark_text(align="left", x=4, dy=12).encode(y=alt.Y("balance:Q"), text="name:N")
    hover = _hover(curves, "batch", "context", "intensity", ".3s")
    return (lines + ends + rule + text + hover).add_params(pick)


_PICKED = "datum.architecture == pick"


def _choice(frame: "pd.DataFrame", first: str) -> Any:
    import altair as alt

    names = list(dict.fromkeys(frame["architecture"]))
    if first not in names:
        raise InputError(f"{first!r} is not among the architectures of the chart: {', '.join(names)}")
    return alt.param("pick", value=first, bind=alt.binding_select(options=names, name="Architecture"))


def _hover(frame: "pd.DataFrame", x: str, series: str, value: str, number: str) -> Any:
    """A rule that follows the pointer and tells the value of every series there."""
    import altair as alt

    names = [str(name) for name in dict.fromkeys(frame[series])]
    nearest = alt.selection_point("nearest", nearest=True, on="pointerover", fields=[x], empty=False)
    return (
        alt.Chart(frame)
        .transform_filter(_PICKED)
        .transform_pivot(series, value=value, groupby=[x])
        .mark_rule(strokeDash=[], color=charts.colour("muted"))
        .encode(
            x=f"{x}:Q",
            opacity=alt.condition(nearest, alt.value(0.8), alt.value(0), empty=False),
            tooltip=[alt.Tooltip(f"{x}:Q", format=","), *(alt.Tooltip(f"{name}:Q", format=number) for name in names)],
        )
        .add_params(nearest)
    )


def _need(frame: "pd.DataFrame", *columns: str) -> None:
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise InputError(f"the chart's data lack {', '.join(missing)}; give the columns {', '.join(columns)}")
