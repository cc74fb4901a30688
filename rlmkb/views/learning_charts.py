"""Charts of what small runs learn: what they show is computed by the caller, how they look is decided here."""

from typing import TYPE_CHECKING, Any

from rlmkb.views import charts

if TYPE_CHECKING:
    import pandas as pd


def curves(stored: "pd.DataFrame", here: "pd.DataFrame", steps: str) -> Any:
    """Stored learning curves as lines, one for each seed, and what was computed just now as points.

    Parameters
    ----------
    stored : pandas.DataFrame
        ``seed``, ``step`` and ``reward``.
    here : pandas.DataFrame
        ``step`` and ``reward``.
    steps : str
        Title of the horizontal axis.
    """
    import altair as alt

    x = alt.X("step:Q", title=steps)
    y = alt.Y("reward:Q", title="Mean reward", scale=alt.Scale(domain=[0, 1]))
    lines = (
        alt.Chart(stored)
        .mark_line(color=charts.colour("policy"), strokeWidth=1.5, opacity=0.7)
        .encode(x=x, y=y, detail="seed:N", tooltip=["seed", "step", "reward"])
    )
    points = alt.Chart(here).mark_point(color=charts.colour("training"), size=45)
    return lines + points.encode(x=x, y=y, tooltip=["step", "reward"])


def ages(measured: "pd.DataFrame", first: str) -> Any:
    """A measure over the iterations of a run, by age of the samples, with a menu of measures.

    Parameters
    ----------
    measured : pandas.DataFrame
        ``objective``, ``staleness``, ``iteration``, ``measure`` and ``value``.
    first : str
        The measure shown at the start.
    """
    import altair as alt

    names = list(dict.fromkeys(measured["measure"]))
    chosen = alt.param("measure", value=first, bind=alt.binding_select(options=names, name="Measure"))
    shades = [charts.colour(name) for name in ("policy-ink", "generation", "reward", "training")]
    old = list(dict.fromkeys(measured["staleness"]))
    return (
        alt.Chart(measured)
        .transform_filter("datum.measure == measure")
        .mark_line(strokeCap="butt", strokeWidth=2)
        .encode(
            x=alt.X("iteration:Q", title="Iteration"),
            y=alt.Y("value:Q", title=None),
            color=alt.Color("staleness:N", title="Updates old", scale=alt.Scale(domain=old, range=shades[: len(old)])),
            strokeDash=alt.StrokeDash("objective:N", title="Clipping"),
            tooltip=["objective", "staleness", "iteration", "value"],
        )
        .add_params(chosen)
    )


def trained_on(shares: "pd.DataFrame", control: str, label: str) -> Any:
    """How old the tokens are that an update trains on, with a menu of ways in which rollouts move.

    Parameters
    ----------
    shares : pandas.DataFrame
        ``updates old``, ``share`` and the column of the control.
    control : str
        The column; its first value is shown first.
    label : str
        What the menu is called.
    """
    import altair as alt

    options = list(dict.fromkeys(shares[control]))
    chosen = alt.param("way", value=options[0], bind=alt.binding_select(options=options, name=label))
    ages = sorted(dict.fromkeys(shares["updates old"]))
    return (
        alt.Chart(shares)
        .transform_filter(f"datum['{control}'] == way")
        .mark_bar(color=charts.colour("training"))
        .encode(
            x=alt.X("updates old:O", title="Updates old", scale=alt.Scale(domain=ages), axis=alt.Axis(labelAngle=0)),
            y=alt.Y("share:Q", title="Share of tokens", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
            tooltip=[control, "updates old", alt.Tooltip("share:Q", format=".1%")],
        )
        .add_params(chosen)
        .properties(height=220)
    )
