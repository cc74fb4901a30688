"""Charts of one model cut over many ranks: what they show is computed by the caller, how they look is decided here.

Each function takes a data frame with the columns that it names, and gives an Altair chart for `charts.show`.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlmkb.errors import InputError
from rlmkb.views import charts

if TYPE_CHECKING:
    import pandas as pd

QUANTITIES = ("work", "depth", "memory")
_DASHES = ([1, 0], [2, 5], [8, 5], [8, 4, 2, 4], [14, 4])
_FRACTION = "datum.value >= 1 ? format(datum.value, ',') : '1/' + format(round(1 / datum.value), ',')"


def shares(curves: "pd.DataFrame", architecture: str, strategy: str) -> Any:
    """Work, depth and memory of a rank over those of one device, against the degree.

    Parameters
    ----------
    curves : pandas.DataFrame
        ``architecture``, ``strategy``, ``degree``, ``work``, ``depth``, ``memory``; degree 1 for each pair.
    architecture, strategy : str
        Shown first; a choice of others stands beside the chart.
    """
    import altair as alt

    _need(curves, "architecture", "strategy", "degree", *QUANTITIES)
    picks = [_choice(curves, "architecture", architecture), _choice(curves, "strategy", strategy)]
    shown = _melted(curves)
    x, y = _degree("degree"), alt.Y("share:Q", scale=_doubling(), axis=alt.Axis(labelExpr=_FRACTION, values=_halves()),
                                    title="Of one rank, over the whole step")  # fmt: skip
    legend = alt.Legend(symbolType="stroke", symbolSize=400, symbolStrokeWidth=2.5)
    scale = alt.Scale(domain=list(QUANTITIES), range=list(_DASHES[:3]))
    dash = alt.StrokeDash("quantity:N", scale=scale, title=None, legend=legend)
    colour = alt.Color("quantity:N", scale=charts.quantity_scale(QUANTITIES), title=None, legend=legend)
    lines = (
        alt.Chart(shown)
        .transform_filter("datum.architecture == architecture && datum.strategy == strategy")
        .mark_line(point=alt.OverlayMarkDef(size=40))
        .encode(
            x=x, y=y, color=colour, strokeDash=dash,
            tooltip=["quantity", alt.Tooltip("degree:Q"), alt.Tooltip("share:Q", format=".3~g"),
                     alt.Tooltip("value:Q", format=".3~s", title="of a rank")],
        )
    )  # fmt: skip
    return lines.add_params(*picks)


def _melted(curves: "pd.DataFrame") -> "pd.DataFrame":
    pair = ["architecture", "strategy"]
    alone = curves[curves["degree"] == 1].set_index(pair)[list(QUANTITIES)]
    if set(map(tuple, curves[pair].to_numpy())) - set(alone.index):
        raise InputError("the curves lack degree 1 of an architecture and strategy; give it, it is what shares are of")
    long = curves.melt([*pair, "degree"], list(QUANTITIES), "quantity", "value")
    whole = [alone.loc[(a, s), q] for a, s, q in zip(*(long[k] for k in (*pair, "quantity")), strict=True)]
    return long.assign(share=long["value"] / whole)


def against(
    frame: "pd.DataFrame", x: str, y: str, series: str, *, rules: Mapping[str, float] | None = None,
    pick: str | None = None, x_values: Sequence[float] | None = None, y_title: str | None = None,
    x_title: str | None = None, colour: str = "accent", names_at: float = 0.0,
) -> Any:  # fmt: skip
    """Lines on logarithmic axes, told apart by their dashes, with named levels and a choice of architecture.

    Parameters
    ----------
    frame : pandas.DataFrame
        The columns `x`, `y` and `series`, and ``architecture`` if there is a choice.
    x, y, series : str
        Columns of the axes, and the one that tells lines apart.
    rules : mapping, optional
        Name to level of `y`, drawn as horizontal rules.
    pick : str, optional
        The architecture shown first; without it there is no choice.
    x_values : sequence of float, optional
        Ticks; by default the powers of two that occur.
    y_title, x_title : str, optional
        By default the columns' names.
    colour : str
        Of the lines; a name of the design.
    names_at : float
        Where the rules' names stand, as a share of the width: where no line runs.
    """
    import altair as alt
    import pandas as pd

    _need(frame, x, y, series, *(["architecture"] if pick else []))
    names = [str(name) for name in dict.fromkeys(frame[series])]
    ticks = list(x_values or sorted(set(frame[x])))
    across = alt.X(f"{x}:Q", scale=_doubling(), axis=alt.Axis(values=ticks, labelExpr=_short()), title=x_title or x)
    marks = _round_numbers([*frame[y], *(rules or {}).values()])
    up = alt.Y(f"{y}:Q", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(format="~s", values=marks),
               title=y_title or y)  # fmt: skip
    dashes = alt.Scale(domain=names, range=[_DASHES[i % len(_DASHES)] for i in range(len(names))])
    legend = alt.Legend(symbolType="stroke", symbolSize=400, symbolStrokeWidth=2.5,
                        symbolStrokeColor=charts.colour(colour))  # fmt: skip
    base = alt.Chart(frame)
    base = base.transform_filter("datum.architecture == architecture") if pick else base
    lines = base.mark_line(color=charts.colour(colour), point=alt.OverlayMarkDef(size=26, color=charts.colour(colour)))
    lines = lines.encode(
        x=across, y=up, strokeDash=alt.StrokeDash(f"{series}:N", scale=dashes, title=None, legend=legend),
        tooltip=[series, alt.Tooltip(f"{x}:Q", format=",.4~g"), alt.Tooltip(f"{y}:Q", format=".3~s")],
    )  # fmt: skip
    layers = [lines]
    if rules:
        level = alt.Chart(pd.DataFrame({"level": list(rules.values()), "name": list(rules)})).encode(y="level:Q")
        layers += [level.mark_rule(color=charts.colour("ink")), *_named(level, names_at)]
    chart = alt.layer(*layers)
    return chart.add_params(_choice(frame, "architecture", pick)) if pick else chart


def stack(
    frame: "pd.DataFrame", value: str, *, colours: Mapping[str, str], pick: str, layout: str | None = None
) -> Any:
    """Stacked bars against the degree, with a choice of architecture.

    Parameters
    ----------
    frame : pandas.DataFrame
        ``architecture``, ``degree``, ``part``, the column `value`, and the column `layout` if given.
    value : str
        What the height shows; the title of the axis.
    colours : mapping
        From part to a colour's name, in the order of the stack from below.
    pick : str
        The architecture shown first.
    layout : str, optional
        A column with two values, whose bars stand beside each other for each degree; those of the first are faint.
    """
    import altair as alt

    _need(frame, "architecture", "degree", "part", value, *([layout] if layout else []))
    parts = list(colours)
    scale = alt.Scale(domain=parts, range=[charts.colour(name) for name in colours.values()])
    order = " : ".join(f"datum.part == '{name}' ? {i}" for i, name in enumerate(parts)) + f" : {len(parts)}"
    bars = (
        alt.Chart(frame)
        .transform_filter("datum.architecture == architecture")
        .transform_calculate(place=order)
        .mark_bar()
        .encode(
            x=alt.X("degree:O", axis=alt.Axis(labelAngle=0), title="Degree"),
            y=alt.Y(f"{value}:Q", stack="zero", axis=alt.Axis(format="~s", grid=not layout), title=value),
            color=alt.Color("part:N", scale=scale, title=None, legend=alt.Legend(labelLimit=240)),
            order=alt.Order("place:Q"),
            tooltip=[*([layout] if layout else []), "part", alt.Tooltip(f"{value}:Q", format=".3~s")],
        )
    )
    if layout:
        kinds = list(dict.fromkeys(frame[layout]))
        bars = bars.encode(
            xOffset=alt.XOffset(f"{layout}:N", sort=kinds),
            opacity=alt.Opacity(f"{layout}:O", scale=alt.Scale(domain=kinds, range=[0.45, 1.0]), legend=None),
        )
    return bars.add_params(_choice(frame, "architecture", pick))


def _choice(frame: "pd.DataFrame", column: str, first: str) -> Any:
    import altair as alt

    names = [str(name) for name in dict.fromkeys(frame[column])]
    if first not in names:
        raise InputError(f"{first!r} is not among the values of {column}: {', '.join(names)}")
    return alt.param(column, value=first, bind=alt.binding_select(options=names, name=column.capitalize()))


def _named(rules: Any, at: float) -> list[Any]:
    """The names of rules above them, on a ground of the page's colour so that lines do not run through the words.

    They stand right of the share `at` of the width, or left of it in the right half.
    """
    import altair as alt

    side = {"align": "left", "dx": 4} if at < 0.5 else {"align": "right", "dx": -4}
    ground = {"stroke": charts.colour("page"), "strokeWidth": 5, "strokeJoin": "round", "color": charts.colour("page")}
    return [
        rules.mark_text(x=alt.expr(f"width * {at}"), dy=-10, **side, **style).encode(text="name:N")
        for style in (ground, {"color": charts.colour("muted")})
    ]


def _round_numbers(values: Sequence[float]) -> list[float]:
    """Ticks of a logarithmic axis: powers of ten, and 2 and 5 times these where there would be few."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    steps = (1, 2, 5) if high - low < 5 else (1,)
    return [step * 10.0**power for power in range(low, high + 1) for step in steps]


def _doubling() -> Any:
    import altair as alt

    return alt.Scale(type="log", base=2, nice=False)


def _degree(column: str) -> Any:
    import altair as alt

    return alt.X(f"{column}:Q", scale=_doubling(), axis=alt.Axis(values=[2**k for k in range(12)]), title="Degree")


def _halves() -> list[float]:
    return [2.0**-k for k in range(12)]


def _short() -> str:
    return "datum.value < 1024 ? datum.value : format(datum.value / 1024, ',') + ' Ki'"


def _need(frame: "pd.DataFrame", *columns: str) -> None:
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise InputError(f"the chart's data lack {', '.join(missing)}; give the columns {', '.join(columns)}")
