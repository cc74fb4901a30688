"""Gantt charts of simulated iterations: a row a device group, a colour a stage, a control for what is compared."""

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rlmkb.errors import InputError
from rlmkb.views import charts

if TYPE_CHECKING:
    import pandas as pd

NEEDED = ("group", "node", "stage", "iteration", "start", "end", "load")
STAGES = ("generation", "assessment", "training")
ROW, LINE = 36, 15  # pixels: of a row, and of a line of a name in two
FULL = 0.8  # height of a bar at full load, as a share of its row


def gantt(bars: "pd.DataFrame", control: str | None = None, *, label: str | None = None, unit: str = "s") -> Any:
    """Bars by device group, as high as the group is loaded; a thin line where it idles. Numbers are iterations.

    Parameters
    ----------
    bars : pandas.DataFrame
        Of `rlmkb.simulation.gantt`.
    control : str, optional
        A column that tells simulations apart; evenly spaced numbers get a slider, others a menu. The first value is
        shown first.
    label : str, optional
        What the control is called; default: its column.
    unit : str
        Of the times.

    Returns
    -------
    altair chart
        For `charts.show`, with a caption and a description.

    Raises
    ------
    InputError
        If a column is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> row = {"group": "all", "node": "policy/training", "stage": "training", "iteration": 1, "start": 0.0, "end": 2.0,
    ...        "load": 1.0, "eta": 0}
    >>> gantt(pd.DataFrame([row]), "eta").to_dict()["params"][0]["bind"]["name"]
    'eta'
    """
    import altair as alt

    needed = (*NEEDED, *([control] if control else []))
    missing = [name for name in needed if name not in bars.columns]
    if missing:
        raise InputError(f"the chart's data lack {', '.join(missing)}; give the columns {', '.join(needed)}")
    placed = _placed(bars, control)
    end, rows = float(bars["end"].max()), int(placed["row"].max()) + 1
    x = alt.X("start:Q", title=f"Time ({unit})", scale=alt.Scale(domain=[0, end], nice=False))
    scale = alt.Scale(domain=[rows, 0], nice=False)
    base, chosen = alt.Chart(placed), f"datum['{control}'] === chosen"
    if control:
        base = base.transform_filter(chosen)
    # the row's middle: an idle line, and the group's name before it
    groups = base.transform_aggregate(groupby=["group", "row"]).transform_calculate(
        middle="datum.row + 0.5", first=f"datum.middle - (indexof(datum.group, '/') < 0 ? 0 : {LINE / 2 / ROW})"
    )
    middle = alt.Y("middle:Q", scale=scale, axis=None)
    lines = groups.mark_rule(color=charts.colour("hairline")).encode(y=middle)
    name = {"align": "right", "dx": -8, "lineBreak": "/", "lineHeight": LINE}
    first = alt.Y("first:Q", scale=scale, axis=None)  # of a name's lines, model and stage
    names = groups.mark_text(**name).encode(x=alt.value(0), y=first, text="group:N")
    # the margin is laid out once, so it must hold the names of every choice
    room = alt.Chart(placed).transform_aggregate(groupby=["group"]).mark_text(**name, opacity=0, aria=False)
    room = room.encode(x=alt.value(0), y=alt.value(ROW / 2), text="group:N")
    stages = [stage for stage in STAGES if stage in set(bars["stage"])]
    times = [alt.Tooltip(f"{name}:Q", format=".3~s") for name in ("start", "end")]
    half = f"{FULL / 2} * datum.load"
    edges = {"top": f"datum.row + 0.5 - {half}", "bottom": f"datum.row + 0.5 + {half}"}
    drawn = base.transform_calculate(**edges).mark_rect().encode(
        x=x, x2="end:Q", y=alt.Y("top:Q", scale=scale, axis=None), y2="bottom:Q",
        color=alt.Color("stage:N", scale=charts.stage_scale(stages), title="Stage"),
        tooltip=["node:N", "iteration:O", *times, alt.Tooltip("load:Q", format=".0%")],
    )  # fmt: skip
    numbered = alt.Chart(_numbered(placed, control, end / 60))
    if control:
        numbered = numbered.transform_filter(chosen)
    numbers = numbered.mark_text(align="left", dx=4, color=charts.colour("page")).encode(
        x=x, y=alt.Y("middle:Q", scale=scale, axis=None), text="iteration:O"
    )
    chart = (lines + room + names + drawn + numbers).properties(height=ROW * rows)
    return chart.add_params(_chosen(bars, control, label or control)) if control else chart


def _placed(bars: "pd.DataFrame", control: str | None) -> "pd.DataFrame":
    """With the row of each group; numbers are finer than a pixel, since more digits only make the page heavier."""
    import pandas as pd

    bars = bars[[*NEEDED, *([control] if control else [])]]
    parts = [part for _, part in bars.groupby(control, sort=False)] if control else [bars]
    placed = pd.concat([part.assign(row=pd.factorize(part["group"])[0]) for part in parts])
    return placed.round({"start": _digits(bars), "end": _digits(bars), "load": 3})


def _numbered(placed: "pd.DataFrame", control: str | None, least: float) -> "pd.DataFrame":
    """Where the iteration's number stands: in its first bar, if that is full enough and the bars are long enough."""
    keys = [*([control] if control else []), "group", "node", "iteration"]
    run = placed.groupby(keys)
    # one rollout after the other is drawn as slices of a single bar
    end = placed["end"].where(placed["stage"] != "generation", run["end"].transform("max"))
    first = placed["start"] == run["start"].transform("min")
    shown = placed[first & (placed["load"] > 0.5) & (end - placed["start"] > least)]
    return shown[[*([control] if control else []), "iteration", "start"]].assign(middle=shown["row"] + 0.5)


def _digits(bars: "pd.DataFrame") -> int:
    """Decimals of a ten-thousandth of the time shown."""
    return 4 - math.floor(math.log10(bars["end"].max()))


def _chosen(bars: "pd.DataFrame", control: str, name: str) -> Any:
    import altair as alt

    values = [value.item() if hasattr(value, "item") else value for value in dict.fromkeys(bars[control])]
    numbers = all(isinstance(value, int | float) for value in values)
    steps = {round(later - earlier, 9) for earlier, later in pairwise(values)} if numbers else {}
    if len(steps) == 1 and min(steps) > 0:
        bind = alt.binding_range(min=values[0], max=values[-1], step=steps.pop(), name=name)
    else:
        bind = alt.binding_select(options=values, name=name)
    return alt.param("chosen", value=values[0], bind=bind)
