"""Configurations of table IX side by side: what each changes, and which one suits which mix of stages."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlmkb.errors import InputError
from rlmkb.theory.algorithms import GRPO, Algorithm
from rlmkb.theory.configurations import CONFIGURATIONS
from rlmkb.theory.derivations.disagreements_configurations import in_seconds
from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.formula import Formula, Quantity
from rlmkb.theory.residency import live_sets, peak
from rlmkb.theory.table_nine import cells
from rlmkb.views import charts

if TYPE_CHECKING:
    import pandas as pd

# what a row is called in the charts, and which of its readings is drawn
READINGS = {
    "disaggregated models": ("with barriers", "period"),
    "stage fusion": ("fused, as printed", "printed"),
    "asynchronous execution": ("asynchrony, η = 1", "period"),
    "all combined, staleness 1": ("both, η = 1", "period"),
    "all combined": ("both, η = 2", "period"),
}
SERIAL = 100  # seconds of all stages in a row
_DASHES = ([1, 0], [14, 4], [8, 5], [2, 4], [8, 4, 2, 4])


def changes(algorithm: Algorithm, at: Mapping[str, object]) -> list[dict[str, object]]:
    """Work, critical path, period and peak memory of each row of table IX, relative to the baseline.

    Parameters
    ----------
    algorithm : Algorithm
        What runs.
    at : mapping
        From symbol name to number.

    Returns
    -------
    list of dict
        From column heading to value. Paths and periods are depths; memory is that of the fullest group, once with
        models that leave when their stage ends, once with all that stay.

    Examples
    --------
    >>> point = {"L": 2, "d": 8, "d_ff": 32, "h": 2, "V": 50, "B": 2, "K": 2, "S": 4, "T": 4, "P_t": 2}
    >>> [row["work"] for row in changes(GRPO, point)]
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    numbers = {}
    for id, configuration in CONFIGURATIONS.items():
        work = sum(cell.printed.evaluate(at) for cell in cells(algorithm)
                   if (cell.row, cell.printed.quantity) == (id, Quantity.WORK))  # fmt: skip
        parts = configuration.parts(algorithm)
        depths = [_value(expr, parts, at) for expr in (configuration.critical_path(algorithm),
                                                       configuration.period(algorithm))]  # fmt: skip
        peaks = [evaluate(peak(live_sets(configuration, algorithm, offload=leave)), at) for leave in (True, False)]
        numbers[id] = (work, *depths, *peaks)
    names = ("work", "critical path", "period", "peak, offloaded", "peak, resident")
    base = numbers["baseline"]
    return [
        {"configuration": CONFIGURATIONS[id].title,
         **{name: float(own / whole) for name, own, whole in zip(names, values, base, strict=True)}}
        for id, values in numbers.items()
    ]  # fmt: skip


def _value(expr: object, parts: Sequence[Formula], at: Mapping[str, object]) -> float:
    return evaluate(expr.xreplace({part.handle: part.explicit for part in parts}), at)


def mixes(generation: Sequence[float], assessment: Sequence[float]) -> "pd.DataFrame":
    """Seconds between iterations in the long run, for mixes of the three stages that take `SERIAL` seconds in a row.

    Parameters
    ----------
    generation : sequence of float
        Its shares of the time in a row.
    assessment : sequence of float
        Its shares of the rest; training has what remains.

    Returns
    -------
    pandas.DataFrame
        ``assessment``, ``generation``, ``configuration`` and ``seconds``. Each stage keeps its time on a group of
        its own; one model assesses and one is trained, as in GRPO with a verifier.

    Examples
    --------
    >>> frame = mixes([0.5], [0.0])
    >>> dict(zip(frame["configuration"], frame["seconds"]))["asynchrony, η = 1"]
    50.0
    """
    import pandas as pd

    algorithm, lines = GRPO.with_verifier(), []
    for rest in assessment:
        for share in generation:
            left = SERIAL * (1 - share)
            times = {"policy/generation": SERIAL * share, "reference/assessment": left * rest,
                     "policy/training": left * (1 - rest)}  # fmt: skip
            for row in in_seconds(algorithm, {node: round(time, 9) for node, time in times.items()}):
                name, reading = READINGS[row["configuration"]]
                lines.append({"assessment": rest, "generation": share, "configuration": name,
                              "seconds": round(row[reading], 6)})  # fmt: skip
    return pd.DataFrame(lines)


def mix_chart(curves: "pd.DataFrame", assessment: float | None = None) -> Any:
    """Seconds between iterations against generation's share, a line for each configuration; a slider for assessment.

    Parameters
    ----------
    curves : pandas.DataFrame
        Of `mixes`, with evenly spaced shares of assessment.
    assessment : float, optional
        Share at which the slider starts; default: the first.

    Returns
    -------
    altair chart
        For `charts.show`.

    Raises
    ------
    InputError
        If a column is missing.

    Examples
    --------
    >>> mix_chart(mixes([0.25, 0.75], [0.0, 0.5])).to_dict()["params"][0]["value"]
    0.0
    """
    import altair as alt

    missing = {"assessment", "generation", "configuration", "seconds"} - set(curves.columns)
    if missing:
        raise InputError(f"the chart's data lack {', '.join(sorted(missing))}; give those of mixes()")
    shares = [float(share) for share in dict.fromkeys(curves["assessment"])]
    step = shares[1] - shares[0] if len(shares) > 1 else 1.0
    name = "Assessment’s share of the rest"
    pick = alt.param("rest", value=shares[0] if assessment is None else assessment,
                     bind=alt.binding_range(min=shares[0], max=shares[-1], step=round(step, 9), name=name))  # fmt: skip
    names = [shown for shown, _ in READINGS.values()]
    lines = (
        alt.Chart(curves)
        .transform_filter("abs(datum.assessment - rest) < 1e-6")
        .mark_line(color=charts.colour("accent"))
        .encode(
            x=alt.X("generation:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"),
                    title="Generation’s share of the time in a row"),
            y=alt.Y("seconds:Q", scale=alt.Scale(domain=[0, SERIAL]), title="Seconds between iterations"),
            strokeDash=alt.StrokeDash("configuration:N", sort=names, title=None,
                                      scale=alt.Scale(domain=names, range=list(_DASHES[: len(names)])),
                                      legend=alt.Legend(columns=2, symbolType="stroke", symbolSize=400,
                                                        symbolStrokeWidth=2.5, labelLimit=240,
                                                        symbolStrokeColor=charts.colour("accent"))),
            tooltip=["configuration", alt.Tooltip("generation:Q", format=".0%"),
                     alt.Tooltip("seconds:Q", format=".1f")],
        )
    )  # fmt: skip
    return lines.add_params(pick)
