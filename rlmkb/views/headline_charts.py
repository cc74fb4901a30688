"""Published speed-ups beside what a model gives: ranges on one axis, computed by the caller, drawn here."""

from typing import TYPE_CHECKING, Any

from rlmkb.errors import InputError
from rlmkb.views import charts

if TYPE_CHECKING:
    import pandas as pd

#: Columns of a range, what it is called, its colour, and its place in the row of a system.
RANGES = (
    ("reported", "reported", "ink", 0.24),
    ("modelled", "modelled", "accent", 0.5),
    ("with_own", "modelled, own times", "memory", 0.76),
)
CEILING = "ceiling of any schedule"
ROW = 46  # pixels
_DASHES = ([1, 0], [8, 5], [2, 5], [8, 4, 2, 4], [14, 4])
_TICKS = (0.5, 0.75, 1, 1.5, 2, 3, 4, 6)


def long(frame: "pd.DataFrame") -> "pd.DataFrame":
    """One row a range: system, what it is, low, high, and where it stands.

    Parameters
    ----------
    frame : pandas.DataFrame
        ``name`` and the columns of `rlmkb.simulation.headlines.comparisons`.

    Examples
    --------
    >>> import pandas as pd
    >>> row = {"name": "A", "reported_low": 2.0, "reported_high": 2.0, "modelled_low": 1.0, "modelled_high": 1.5,
    ...        "with_own_low": None, "with_own_high": None, "ceiling": 1.8}
    >>> long(pd.DataFrame([row]))[["what", "low", "high"]].values.tolist()
    [['reported', 2.0, 2.0], ['modelled', 1.0, 1.5], ['ceiling of any schedule', 1.8, 1.8]]
    """
    import pandas as pd

    needed = ("name", "ceiling", *(f"{kind}_{end}" for kind, *_ in RANGES for end in ("low", "high")))
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise InputError(f"the chart's data lack {', '.join(missing)}; give the columns {', '.join(needed)}")
    rows = []
    for place, row in enumerate(frame.to_dict("records")):
        for kind, what, _, offset in RANGES:
            if not pd.isna(row[f"{kind}_low"]):
                rows.append((row["name"], what, row[f"{kind}_low"], row[f"{kind}_high"], place + offset))
        rows.append((row["name"], CEILING, row["ceiling"], row["ceiling"], place + 0.5))
    return pd.DataFrame(rows, columns=["name", "what", "low", "high", "y"])


def ranges(frame: "pd.DataFrame") -> Any:
    """Ranges of speed-ups by system: reported, modelled, and the ceiling, on a logarithmic axis.

    Parameters
    ----------
    frame : pandas.DataFrame
        As of `long`.
    """
    import altair as alt
    import pandas as pd

    shown = long(frame)
    count = len(frame)
    edges = [min(_TICKS[0], float(shown["low"].min())), max(_TICKS[-1], float(shown["high"].max()))]
    scale = alt.Scale(type="log", domain=edges, nice=False)
    x = alt.X("low:Q", scale=scale, axis=alt.Axis(values=list(_TICKS), format="~g"), title="Speed-up")
    y = alt.Y("y:Q", scale=alt.Scale(domain=[count, 0], nice=False), axis=None)
    names = [what for _, what, *_ in RANGES] + [CEILING]
    tints = [charts.colour(tint) for _, _, tint, _ in RANGES] + [charts.colour("muted")]
    legend = alt.Legend(columns=1, symbolType="square", symbolStrokeWidth=0)
    colour = alt.Color("what:N", scale=alt.Scale(domain=names, range=tints), title=None, legend=legend)
    told = ["name:N", "what:N", alt.Tooltip("low:Q", format=".2f"), alt.Tooltip("high:Q", format=".2f")]
    base = alt.Chart(shown).encode(y=y, color=colour, tooltip=told)
    spans = base.transform_filter(f"datum.what !== '{CEILING}'")
    bars = spans.mark_rule(strokeWidth=5, strokeCap="round", strokeDash=[1, 0]).encode(x=x, x2="high:Q")
    ends = spans.transform_filter("datum.low === datum.high").mark_point(filled=True, size=70, opacity=1).encode(x=x)
    most = base.transform_filter(f"datum.what === '{CEILING}'")
    ticks = most.mark_tick(orient="vertical", thickness=2, size=ROW * 0.8).encode(x=x)
    places = pd.DataFrame({"name": list(frame["name"]), "y": [place + 0.5 for place in range(count)]})
    label = alt.Chart(places).mark_text(align="right", dx=-8, color=charts.colour("ink"), aria=False)
    labels = label.encode(x=alt.value(0), y=y, text="name:N")
    even = alt.Chart(pd.DataFrame({"one": [1.0]})).mark_rule(color=charts.colour("line"), aria=False)
    return (even.encode(x=alt.X("one:Q", scale=scale)) + bars + ends + ticks + labels).properties(height=ROW * count)


def splits(curves: "pd.DataFrame", series: str, pick: str, *, label: str, legend: str) -> Any:
    """Speed-up against the share of the devices that generate, a line for each value of a column, with a choice.

    Parameters
    ----------
    curves : pandas.DataFrame
        ``share``, ``gain``, and the columns `series` and `pick`.
    series, pick : str
        Columns: what tells lines apart, and what the reader chooses; the first value is shown first.
    label, legend : str
        What the choice and the lines are called.
    """
    import altair as alt
    import pandas as pd

    missing = [name for name in ("share", "gain", series, pick) if name not in curves.columns]
    if missing:
        raise InputError(f"the chart's data lack {', '.join(missing)}; give them as columns")
    options = [value.item() if hasattr(value, "item") else value for value in dict.fromkeys(curves[pick])]
    choice = alt.param("chosen", value=options[0], bind=alt.binding_select(options=options, name=label))
    tint, names = charts.colour("accent"), list(dict.fromkeys(curves[series]))
    dashes = alt.Scale(domain=names, range=[_DASHES[place % len(_DASHES)] for place in range(len(names))])
    key = alt.Legend(symbolType="stroke", symbolSize=400, symbolStrokeWidth=2.5, symbolStrokeColor=tint, columns=2)
    y = {"scale": alt.Scale(domain=[0, float(curves["gain"].max()) * 1.05], nice=False),
         "title": "Speed-up over the baseline"}  # fmt: skip
    lines = (
        alt.Chart(curves)
        .transform_filter(f"datum['{pick}'] === chosen")
        .mark_line(color=tint, point=alt.OverlayMarkDef(size=30, color=tint))
        .encode(
            x=alt.X("share:Q", axis=alt.Axis(format="%"), title="Devices that generate"),
            y=alt.Y("gain:Q", **y),
            strokeDash=alt.StrokeDash(f"{series}:N", scale=dashes, sort=names, title=legend, legend=key),
            tooltip=[f"{series}:N", f"{pick}:N", alt.Tooltip("share:Q", format=".0%"),
                     alt.Tooltip("gain:Q", format=".2f")],
        )
    )  # fmt: skip
    even = alt.Chart(pd.DataFrame({"one": [1.0]})).mark_rule(color=charts.colour("line"), aria=False)
    return (even.encode(y=alt.Y("one:Q", **y)) + lines).add_params(choice)
