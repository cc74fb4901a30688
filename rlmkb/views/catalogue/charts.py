"""Charts of the catalogue, made from the entries when a page is built."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlmkb.catalogue.features import FEATURES
from rlmkb.errors import InputError, nearest
from rlmkb.views import charts
from rlmkb.views.catalogue.states import LOOKS, short_name

if TYPE_CHECKING:
    import pandas as pd

LARGE = 100  # billion parameters, from which on a model is called large
STATE_COLOURS = {
    "yes": "generation",
    "partial": "reward",
    "unknown": "hairline",
    "no": "line",
    "not_applicable": "surface",
}


Made = tuple[Any, str]  # the chart, and what a reader who does not see it must know, computed from the same entries


@dataclass(frozen=True)
class Chart:
    """How a chart is made, and its caption."""

    make: Callable[[], Made]
    caption: str


def figure_spec(name: str) -> dict:
    """The Vega-Lite specification of a chart, as a notebook would store it.

    Raises
    ------
    InputError
        For an unknown name.
    """
    if name not in CHARTS:
        raise InputError(f"{name!r} is not a chart of the catalogue; allowed: {nearest(name, CHARTS)}")
    chart = CHARTS[name]
    charts.enable()
    drawn, description = chart.make()
    shown = charts.show(drawn, caption=chart.caption, description=description, label=f"fig-{name}")
    return charts.bundle(shown.to_dict())[charts.MIME]


def _entries(kind: str) -> Mapping[str, Any]:
    from rlmkb.catalogue import entries

    return entries(kind)


# ---- frameworks -------------------------------------------------------------------------------------------------


def _support_by_feature() -> Made:
    import altair as alt
    import pandas as pd

    states = [one.states for one in _entries("frameworks").values()]
    frame = pd.DataFrame(
        [
            {
                "feature": short_name(id),
                "state": look.word,
                "frameworks": sum(found[id] == state for found in states),
                "place": place,
            }
            for place, (state, look) in enumerate(_in_order())
            for id in FEATURES
        ]
    )
    features = list(dict.fromkeys(frame["feature"]))
    words = [look.word for _, look in _in_order()]
    scale = alt.Scale(domain=words, range=[charts.colour(STATE_COLOURS[state]) for state, _ in _in_order()])
    bars = (
        alt.Chart(frame)
        .mark_bar(stroke=charts.colour("page"), strokeWidth=1, cornerRadiusEnd=0)
        .encode(
            x=alt.X("frameworks:Q", title="Frameworks"),
            y=alt.Y("feature:N", sort=features, title=None, axis=alt.Axis(labelLimit=90)),
            color=alt.Color("state:N", scale=scale, title=None),
            order=alt.Order("place:Q"),
            tooltip=["feature", "state", "frameworks"],
        )
        .properties(height=22 * len(features))
    )
    full = {id: sum(found[id] == "yes" for found in states) for id in FEATURES}
    order = sorted(FEATURES, key=lambda id: -full[id])
    most, least = (", ".join(f"{short_name(id)} ({full[id]})" for id in part) for part in (order[:3], order[-3:]))
    return bars, (
        f"One bar a feature, divided by state: {', '.join(words)}. "
        f"Most frameworks say yes to {most}, fewest to {least}."
    )


def _in_order() -> list[tuple[str, Any]]:
    """States from the best known support to none."""
    return sorted(LOOKS.items(), key=lambda item: -item[1].order)


# ---- models -----------------------------------------------------------------------------------------------------


def _signals_over_time() -> Made:
    import altair as alt
    import pandas as pd

    from rlmkb.views.catalogue.models import FAMILIES, GROUPS

    rows = [
        {
            "released": _day(one.released),
            "signal": FAMILIES[one.signal.family],
            "model": one.name,
            "kind": GROUPS[one.group],
        }
        for one in _entries("models").values()
        if one.released
    ]
    frame = pd.DataFrame(rows).sort_values(["released", "model"])
    order = [name for name in FAMILIES.values() if name in set(frame["signal"])]
    kinds = alt.Scale(domain=list(GROUPS.values()), range=["circle", "diamond"])
    colours = alt.Scale(domain=list(GROUPS.values()), range=[charts.colour("reference"), charts.colour("generation")])
    points = (
        alt.Chart(frame)
        .mark_point(filled=True, size=90, opacity=0.75)
        .encode(
            x=alt.X("released:T", title="Released", axis=alt.Axis(format="%Y", tickCount="year")),
            y=alt.Y("signal:N", sort=order, title=None, axis=alt.Axis(grid=True, labelLimit=120)),
            shape=alt.Shape("kind:N", scale=kinds, title=None),
            color=alt.Color("kind:N", scale=colours, title=None),
            tooltip=["model", "signal", "kind", alt.Tooltip("released:T", format="%B %Y")],
        )
        .properties(height=34 * len(order))
    )
    told = "; ".join(
        f"{name}: {sum(row['signal'] == name and row['released'] < '2025' for row in rows)} before 2025, "
        f"{sum(row['signal'] == name and row['released'] >= '2025' for row in rows)} from then on"
        for name in order
    )
    return points, f"A timeline with one row a kind of signal and one point a model. {told}."


def _day(released: str) -> str:
    """A month as its first day.

    Examples
    --------
    >>> _day("2025-12"), _day("2025-12-15")
    ('2025-12-01', '2025-12-15')
    """
    return released if len(released) > 7 else f"{released}-01"


def _structure_over_time() -> Made:
    import altair as alt
    import pandas as pd

    from rlmkb.views.catalogue.architectures import GIGA, counts, kind_of

    shapes = _entries("architectures")
    rows = [
        {
            "released": _day(one.released),
            "model": f"{one.name}: {shapes[id].name}" if len(one.architectures) > 1 else one.name,
            "structure": "dense" if kind_of(shapes[id]) == "dense" or not shapes[id].experts else "mixture of experts",
            "total": counts(id)["total"] / GIGA,
            "active": counts(id)["active"] / GIGA,
        }
        for one in _entries("models").values()
        if one.released and one.access != "closed"
        for id in one.architectures
    ]
    frame = pd.DataFrame(rows).sort_values(["released", "total"])
    names = ["dense", "mixture of experts"]
    colours = alt.Scale(domain=names, range=[charts.colour("reference"), charts.colour("training")])
    size = alt.Y(
        "total:Q", scale=alt.Scale(type="log"), title="Parameters, 10⁹", axis=alt.Axis(format="~s", tickCount=6)
    )
    base = alt.Chart(frame).encode(
        x=alt.X("released:T", title="Released", axis=alt.Axis(format="%Y", tickCount="year")),
        color=alt.Color("structure:N", scale=colours, title=None),
        tooltip=["model", "structure", *(alt.Tooltip(f"{name}:Q", format=".3s") for name in ("total", "active"))],
    )
    mixtures = base.transform_filter("datum.structure != 'dense'")
    stems = mixtures.mark_rule(strokeDash=[], strokeWidth=1.5).encode(y=size, y2="active:Q")
    shapes_scale = alt.Scale(domain=names, range=["circle", "diamond"])
    total = base.mark_point(filled=True, size=70).encode(
        y=size, shape=alt.Shape("structure:N", scale=shapes_scale, title=None)
    )
    active = mixtures.mark_tick(thickness=2, size=12, orient="horizontal").encode(y="active:Q")
    large = [row for row in rows if row["total"] >= LARGE]
    mixed = sum(row["structure"] != "dense" for row in large)
    return stems + total + active, (
        f"Total parameters on a logarithmic axis against the date of release. Of the {len(large)} shapes with "
        f"{LARGE} billion parameters or more, {mixed} are mixtures of experts; "
        f"the latest shape is of {max(row['released'] for row in rows)[:7]}."
    )


# ---- architectures ----------------------------------------------------------------------------------------------


def _active_parameters() -> Made:
    import altair as alt

    frame, colour, shape = _shape_marks()
    log = alt.Scale(type="log", nice=False)
    axis = alt.Axis(format="~s", tickCount=6)
    line = (
        alt.Chart(frame).mark_line(color=charts.colour("line"), strokeWidth=1).encode(x=alt.X("total:Q"), y="total:Q")
    )
    points = (
        alt.Chart(frame)
        .mark_point(filled=True, size=80, opacity=0.8)
        .encode(
            x=alt.X("total:Q", scale=log, axis=axis, title="Parameters, 10⁹"),
            y=alt.Y("active:Q", scale=log, axis=axis, title="Active for one token, 10⁹"),
            color=colour,
            shape=shape,
            tooltip=_tips("total", "active"),
        )
    )
    sparse = frame[frame["kind"] != "dense"]
    share = 100 * sparse["active"] / sparse["total"]
    return line + points, (
        f"Both axes are logarithmic. The {len(frame) - len(sparse)} dense models lie on the diagonal; the other "
        f"{len(sparse)} use {share.min():.0f} to {share.max():.0f} % of their parameters and lie below it or on it."
    )


def _cache_per_token() -> Made:
    import altair as alt

    frame, colour, shape = _shape_marks()
    axis = alt.Axis(format="~s", tickCount=6)
    points = (
        alt.Chart(frame)
        .mark_point(filled=True, size=80, opacity=0.8)
        .encode(
            x=alt.X("total:Q", scale=alt.Scale(type="log", nice=False), axis=axis, title="Parameters, 10⁹"),
            y=alt.Y("cache:Q", scale=alt.Scale(type="log"), axis=axis, title="KV cache, KiB per token"),
            color=colour,
            shape=shape,
            tooltip=_tips("total", "cache"),
        )
    )
    ends = frame.loc[[frame["cache"].idxmin(), frame["cache"].idxmax()]]
    least, most = (f"{row.architecture} with {row.cache:,.0f} KiB" for row in ends.itertuples())
    return points, f"Both axes are logarithmic. A token takes least in {least}, most in {most}."


def _shape_marks() -> tuple["pd.DataFrame", Any, Any]:
    import altair as alt

    from rlmkb.views.catalogue.architectures import KINDS, frame

    names = list(KINDS.values())
    colours = alt.Scale(domain=names, range=[charts.colour(name) for name in ("reference", "training", "policy")])
    shapes = alt.Scale(domain=names, range=["circle", "diamond", "triangle-up"])
    found = frame(_entries("architectures"))
    return found, alt.Color("kind:N", scale=colours, title=None), alt.Shape("kind:N", scale=shapes, title=None)


def _tips(*names: str) -> list[Any]:
    import altair as alt

    return ["architecture", "kind", *(alt.Tooltip(f"{name}:Q", format=".3s") for name in names)]


CHARTS = {
    "support-by-feature": Chart(_support_by_feature, "Frameworks by what they do about each feature."),
    "signals-over-time": Chart(
        _signals_over_time,
        "Post-training signal of each model against its date of release; models without a date are left out.",
    ),
    "structure-over-time": Chart(
        _structure_over_time,
        "Open models whose shape is in the catalogue. A diamond is a mixture of experts; the line below it ends at the "
        "parameters that one token uses.",
    ),
    "active-parameters": Chart(
        _active_parameters, "Parameters that one token uses, against all parameters. Dense models lie on the line."
    ),
    "cache-per-token": Chart(
        _cache_per_token,
        "What one token leaves in the cache of keys and values, in bf16, against all parameters.",
    ),
}
