"""Altair charts of the book: one theme, one renderer, colours by role, stage and quantity.

A notebook calls :func:`enable` once and ends a cell with :func:`show`.
The stored output is Vega-Lite JSON alone: the same chart gives the same bytes on every run and processor.
JupyterLab draws it; in the book `rlmkb.views.mystnb` makes it a numbered figure with a table of its numbers.
"""

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rlmkb.errors import InputError, nearest
from rlmkb.views import design

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

# JupyterLab knows no newer version, and nbformat refuses Altair's own name for version 6.
MIME = "application/vnd.vegalite.v5+json"

_DIGITS = 12  # the last digits of a double depend on the processor
_MADE_UP_NAME = re.compile(r"\b(param|view|data)[_-][0-9a-f]{6,}\b")
_POWERS = range(-30, 41)
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LABEL = re.compile(r"[a-z][a-z0-9-]*")


def enable() -> None:
    """Make the theme and the renderer of the book those of Altair, for this session.

    Examples
    --------
    >>> enable()
    >>> import altair
    >>> altair.renderers.active
    'rlmkb'
    """
    import altair as alt

    alt.theme.register("rlmkb", enable=True)(_theme)
    alt.renderers.register("rlmkb", bundle)
    alt.renderers.enable("rlmkb")


def _theme() -> "alt.theme.ThemeConfig":
    return {"config": design.vega_config(), "height": 300}


def show(
    chart: Any,
    *,
    caption: str,
    description: str,
    label: str | None = None,
    table: "pd.DataFrame | None" = None,
) -> Any:
    """The chart, ready to be the last line of a cell: described, captioned, and with its numbers beside it.

    Parameters
    ----------
    chart : altair chart
        Any top-level Altair chart.
    caption : str
        Plain text under the figure; ``$...$`` is mathematics.
    description : str
        What a reader who does not see the chart must know: axes, what goes up or down, where lines cross.
    label : str, optional
        Name for cross-references (``{numref}`fig-x```): lower case, digits, hyphens, starting with ``fig-``.
    table : pandas.DataFrame, optional
        The numbers to list under the chart. By default those of the chart's own data; give them where
        the chart computes what it plots.

    Returns
    -------
    altair chart
        A copy of `chart`.

    Raises
    ------
    InputError
        If the caption or the description is empty, or the label is not one.

    Examples
    --------
    >>> import altair as alt, pandas as pd
    >>> points = alt.Chart(pd.DataFrame({"x": [1, 2]})).mark_point().encode(x="x")
    >>> show(points, caption="Two points.", description="Points at 1 and 2.").description
    'Points at 1 and 2.'
    """
    for name, text in (("caption", caption), ("description", description)):
        if not (isinstance(text, str) and text.strip()):
            raise InputError(f"{name} of a chart is {text!r}; write one or two sentences")
    meta: dict[str, Any] = {"caption": caption.strip()}
    if label is not None:
        if not (_LABEL.fullmatch(label) and label.startswith("fig-")):
            raise InputError(f"label of a chart is {label!r}; write fig- and lower case, digits or hyphens")
        meta["label"] = label
    if table is not None:
        meta["table"] = {
            "columns": [str(column) for column in table.columns],
            "rows": [[_plain(value) for value in row] for row in table.itertuples(index=False)],
        }
    return chart.properties(description=description.strip(), usermeta=meta)


def bundle(spec: dict, **_: Any) -> dict[str, Any]:
    """Altair renderer: the one mime type of a chart, and its description as plain text.

    Parameters
    ----------
    spec : dict
        A Vega-Lite specification with a `description`.

    Returns
    -------
    dict
        Mime type to content.

    Raises
    ------
    InputError
        If the chart has no description.

    Examples
    --------
    >>> bundle({"description": "One bar.", "mark": "bar", "$schema": "..."})["text/plain"]
    '<chart: One bar.>'
    """
    description = spec.get("description")
    if not (isinstance(description, str) and description.strip()):
        raise InputError("a chart has no description; end the cell with charts.show(..., description=...)")
    return {MIME: portable(spec), "text/plain": f"<chart: {description}>"}


def portable(spec: dict) -> dict:
    """The specification without what differs between runs, sessions or processors.

    Keys are sorted, floats rounded to 12 significant digits, generated names numbered in order of appearance.
    ``$schema`` goes: JupyterLab warns about version 6, which it draws well.

    Examples
    --------
    >>> portable({"b": 0.1 + 0.2, "a": {"name": "param_0badc0ffee"}})
    {'a': {'name': 'param_1'}, 'b': 0.3}
    """
    names: dict[str, str] = {}
    counts: dict[str, int] = {}

    def number(match: re.Match) -> str:
        if match[0] not in names:
            counts[match[1]] = counts.get(match[1], 0) + 1
            kind = "rows" if match[1] == "data" else match[1]  # Vega itself makes data_1
            names[match[0]] = f"{kind}_{counts[match[1]]}"
        return names[match[0]]

    def rename(value: Any) -> Any:
        if isinstance(value, str):
            return _MADE_UP_NAME.sub(number, value)
        if isinstance(value, dict):
            return {rename(key): rename(value[key]) for key in sorted(value)}
        return [rename(item) for item in value] if isinstance(value, list) else value

    rows = spec.get("datasets", {})
    chart = rename({key: value for key, value in spec.items() if key not in ("$schema", "datasets")})
    if rows:  # after the chart, which numbers them; what stands in a row is data and keeps its name
        chart["datasets"] = {rename(name): rows[name] for name in rows}
    return _tidy(chart)


def _tidy(value: Any) -> Any:
    """Keys sorted, floats rounded, what JSON cannot say null."""
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _tidy(value[key]) for key in sorted(value)}
    return [_tidy(item) for item in value] if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    """A NumPy scalar as the Python number it holds."""
    return value.item() if hasattr(value, "item") else value


def role_scale(names: Sequence[str] | None = None) -> "alt.Scale":
    """The colour scale of a field that holds names of roles, in the order given (default: all four).

    Examples
    --------
    >>> role_scale(["policy", "critic"]).to_dict()
    {'domain': ['policy', 'critic'], 'range': ['#1a6fbd', '#973a64']}
    """
    return _scale("role", names)


def stage_scale(names: Sequence[str] | None = None) -> "alt.Scale":
    """The colour scale of a field that holds names of stages (default: all three).

    Examples
    --------
    >>> stage_scale(["training"]).to_dict()
    {'domain': ['training'], 'range': ['#bb3f17']}
    """
    return _scale("stage", names)


def quantity_scale(names: Sequence[str] | None = None) -> "alt.Scale":
    """The colour scale of a field that holds names of quantities (default: all three).

    Examples
    --------
    >>> quantity_scale(["depth"]).to_dict()
    {'domain': ['depth'], 'range': ['#2689a5']}
    """
    return _scale("quantity", names)


def powers_axis(**given: Any) -> "alt.Axis":
    """An axis of a logarithmic scale, labelled 10¹⁴ as the tables write it; other ticks stay blank.

    Parameters
    ----------
    **given
        Further arguments of ``altair.Axis``.

    Examples
    --------
    >>> powers_axis(title="Work (FLOP)").to_dict()["title"]
    'Work (FLOP)'
    """
    import altair as alt

    raised = [str(power).translate(_RAISED) for power in _POWERS]
    power = "round(log(datum.value) / LN10)"
    label = f"'10' + {raised}[{power} - ({_POWERS[0]})]"
    exact = f"abs(log(datum.value) / LN10 - {power}) < 1e-9"
    return alt.Axis(**{"labelExpr": f"{exact} ? {label} : ''"} | given)


def colour(name: str) -> str:
    """The colour of one role, stage, quantity or neutral, for a mark that has one colour.

    Examples
    --------
    >>> colour("policy")
    '#1a6fbd'
    """
    colours = design.tokens("light")
    if name not in colours:
        raise InputError(f"no colour is named {name!r}; allowed: {nearest(name, colours)}")
    return colours[name]


def _scale(group: str, names: Sequence[str] | None) -> "alt.Scale":
    import altair as alt

    members = design.GROUPS[group]
    chosen = list(members if names is None else names)
    for name in chosen:
        if name not in members:
            raise InputError(f"{name!r} is not a {group}; allowed: {nearest(name, members)}")
    return alt.Scale(domain=chosen, range=[members[name][0] for name in chosen])
