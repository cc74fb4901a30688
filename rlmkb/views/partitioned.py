"""Tables and the chart of partitioned programs beside their formulas, for the chapter that compares them."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rlmkb.views import charts
from rlmkb.views.listing import Listing, listing

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from rlmkb.verification.partitioned import Row

AUTHORS = {"compiler": "compiler", "hand": "by hand"}


def compared(rows: Iterable["Row"], quantity: str, caption: str, without: tuple[str, ...] = ()) -> Listing:
    """One quantity of one device, compiled and by formula, with the reason for what is beyond a twentieth.

    Parameters
    ----------
    rows : iterable of Row
        As `rlmkb.verification.partitioned.compare` gives them; those of other quantities are passed over.
    quantity : str
        ``"work"``, ``"inputs"``, ``"gradients"``, ``"state"``, ``"kept"`` or ``"sent"``.
    caption : str
        Shown above the table.
    without : tuple of str
        Columns to leave out; empty ones are not shown anyway.

    Examples
    --------
    >>> from rlmkb.verification.partitioned import Row
    >>> compared([Row("data 8", "hand", False, "work", "", 1.01e9, 1e9)], "work", "Work of one device")
    layout  ratio  compiled     formula
    data\N{NO-BREAK SPACE}8  1.010  1.01 × 10^9  1 × 10^9
    """
    from rlmkb.verification.explanations import explanation

    chosen = [row for row in rows if row.quantity == quantity]
    columns = {
        "layout": [unbroken(row.layout) for row in chosen],
        "exchanges": [AUTHORS[row.author] for row in chosen],
        "over": [row.axes for row in chosen],
        "ratio": [f"{row.ratio:.3f}" for row in chosen],
        "to all known": [f"{row.known_ratio:.3f}" if _extended(row) else "" for row in chosen],
        "compiled": [float(row.compiled) for row in chosen],
        "formula": [float(row.formula) for row in chosen],
        "collectives": [unbroken(row.collectives) for row in chosen],
        "beyond 5%, because": [explanation(row) or "" for row in chosen],
    }
    if len(set(columns["exchanges"])) < 2:
        del columns["exchanges"]
    shown = {name: values for name, values in columns.items() if any(values) and name not in without}
    return listing([dict(zip(shown, row, strict=True)) for row in zip(*shown.values(), strict=True)], caption)


def unbroken(text: str) -> str:
    """The text with line breaks after commas and before words only: not inside "data 8" or "12 all-reduce".

    Examples
    --------
    >>> unbroken("data 8, ZeRO-3") == "data\N{NO-BREAK SPACE}8, ZeRO\N{NON-BREAKING HYPHEN}3"
    True
    """
    return re.sub(r"(?<=\w) (?=\d)|(?<=\d) (?=\w)", "\N{NO-BREAK SPACE}", text).replace("-", "\N{NON-BREAKING HYPHEN}")


def _extended(row: "Row") -> bool:
    return row.known is not None and abs(row.known / row.formula - 1) > 1e-9


def kept_per_token(rows: Iterable["Row"], tokens: int, width: int) -> Listing:
    """What a layer keeps for its backward pass, in hidden states for each token of a device's own share.

    Parameters
    ----------
    rows : iterable of Row
        Those of other quantities are passed over.
    tokens, width : int
        Of the whole batch, and of the hidden state.
    """
    from rlmkb.verification.partitioned import BYTES, DEVICES

    lines = []
    for row in rows:
        if row.quantity == "kept":
            share = tokens / (1 if row.layout == "one device" else DEVICES) * width * BYTES
            values = (row.compiled, row.formula, row.known)
            compiled, by_list, traced = (round(value / share, 1) for value in values)
            lines.append({"layout": unbroken(row.layout), "compiled": compiled, "by the list": by_list,
                          "as traced": traced, "over the list": f"{row.ratio:.2f}",
                          "over the trace": f"{row.known_ratio:.2f}"})  # fmt: skip
    return listing(lines, "Kept per layer, in hidden states per token of an equal share")


def sent_frame(rows: Iterable["Row"]) -> "pd.DataFrame":
    """What each layout sends, one line for each group of axes."""
    import pandas as pd

    lines = [
        {"layout": f"{row.layout}{' with experts' if row.experts else ''}", "exchanges": AUTHORS[row.author],
         "over": row.axes, "collectives": row.collectives, "compiled": row.compiled, "formula": row.formula,
         "ratio": round(row.ratio, 3)}
        for row in rows if row.quantity == "sent"
    ]  # fmt: skip
    return pd.DataFrame(lines).sort_values("formula", ascending=False, ignore_index=True)


def sent_chart(frame: "pd.DataFrame") -> "alt.LayerChart":
    """Compiled over formula against the elements that the formula says a device sends."""
    import altair as alt

    height = alt.Scale(domain=[0.9, 1.5], zero=False)
    hues = alt.Scale(domain=list(AUTHORS.values()), range=[charts.colour("assessment"), charts.colour("training")])
    dots = alt.Chart(frame).mark_point(size=80, strokeWidth=2).encode(
        x=alt.X("formula:Q", axis=charts.powers_axis(title="elements sent, by formula"),
                scale=alt.Scale(type="log", domain=[2e5, 4e7])),
        y=alt.Y("ratio:Q", title="compiled over formula", scale=height),
        color=alt.Color("exchanges:N", scale=hues, title="exchanges"),
        shape=alt.Shape("exchanges:N", title="exchanges"),
        tooltip=["layout", "exchanges", "over", "collectives", alt.Tooltip("compiled", format=",.0f"),
                 alt.Tooltip("formula", format=",.0f"), "ratio"],
    )  # fmt: skip
    one = alt.Chart(frame.head(1)).mark_rule(color=charts.colour("muted")).encode(y=alt.YDatum(1, scale=height))
    return one + dots
