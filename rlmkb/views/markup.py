"""Pieces of HTML: escaped text, mathematics, numbers, chips, and one kind of table.

Whatever comes in as text goes out escaped; only ``$...$`` in it is read, as mathematics.
Mathematics is marked as Sphinx marks it, so MathJax sets it in the book and in JupyterLab.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from html import escape
from typing import Any

from rlmkb.views import design

DIGITS = 4  # significant, of a number in a table
MATH = re.compile(r"\$([^$]+)\$")
_NUMERIC = {True: ' class="num"', False: ""}
_NO_VALUE = '<span class="rl-none" aria-label="none">–</span>'


@dataclass(frozen=True)
class Math:
    """LaTeX without its delimiters."""

    latex: str


@dataclass(frozen=True)
class Html:
    """Markup made by this package, to be used as it is."""

    text: str


def text_html(text: str) -> str:
    """Escaped text with ``$...$`` as mathematics.

    Examples
    --------
    >>> text_html("a < b")
    'a &lt; b'
    """
    parts = MATH.split(text)  # text, mathematics, text, ...
    return "".join(math_html(part) if index % 2 else escape(part) for index, part in enumerate(parts))


def math_html(latex: str) -> str:
    r"""Inline mathematics.

    Examples
    --------
    >>> math_html("d < h")
    '<span class="math notranslate nohighlight">\\(d &lt; h\\)</span>'
    """
    return rf'<span class="math notranslate nohighlight">\({escape(latex)}\)</span>'


def number_html(value: float) -> str:
    """A number with four significant digits; whole numbers below a million in full.

    Examples
    --------
    >>> number_html(128256), number_html(1.369e14), number_html(0.25)
    ('128\u202f256', '1.369 × 10<sup>14</sup>', '0.25')
    """
    if isinstance(value, float) and not math.isfinite(value):
        return _NO_VALUE
    size = abs(value)
    if size and not 1e-3 <= size < 1e6:
        # an exact integer may be beyond double precision
        digits, exponent = f"{Decimal(value):.{DIGITS - 1}e}".split("e")
        return f"{digits.rstrip('0').rstrip('.')} × 10<sup>{int(exponent)}</sup>".replace("-", "−")
    shown = f"{value:,}" if isinstance(value, int) else _short(value)
    return shown.replace(",", "\u202f").replace("-", "−")


def _short(value: float) -> str:
    places = max(0, DIGITS - 1 - math.floor(math.log10(abs(value)))) if value else 0
    shown = f"{value:,.{places}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def chip(name: str, text: str | None = None) -> Html:
    """A name of a role, stage or quantity in its colour.

    Examples
    --------
    >>> chip("policy").text
    '<span class="rl-chip rl-policy">policy</span>'
    """
    colour = design.KIN.get(name, name)
    design.variable(colour)  # refuses a name without a colour
    return Html(f'<span class="rl-chip rl-{colour}">{escape(text or name.replace("_", " "))}</span>')


def code(text: str) -> Html:
    """A name as one types it.

    Examples
    --------
    >>> code("d_ff").text
    '<code>d_ff</code>'
    """
    return Html(f"<code>{escape(text)}</code>")


def small(text: str) -> Html:
    """A second line in a cell."""
    return Html(f'<span class="rl-small">{text_html(text)}</span>')


def prose(text: str) -> Html:
    """Sentences in a cell: a column wide enough to read them."""
    return Html(f'<span class="rl-prose">{text_html(text)}</span>')


def link(url: str, text: str, title: str = "") -> Html:
    """A link to another site.

    Examples
    --------
    >>> link("https://example.org/?a=1&b=2", "1").text
    '<a class="reference external" href="https://example.org/?a=1&amp;b=2">1</a>'
    """
    tip = f' title="{escape(title)}"' if title else ""
    return Html(f'<a class="reference external" href="{escape(url)}"{tip}>{escape(text)}</a>')


def join(parts: Sequence[Html], between: str = " ") -> Html:
    """Several pieces of markup as one."""
    return Html(between.join(part.text for part in parts))


def cell_html(value: Any) -> str:
    """The content of one cell: text, number, `Math`, `Html` or None.

    Examples
    --------
    >>> cell_html(None) == cell_html("")
    True
    """
    if value is None or value == "":
        return _NO_VALUE
    if isinstance(value, Html):
        return value.text
    if isinstance(value, Math):
        return math_html(value.latex)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number_html(value) if isinstance(value, int | float) else text_html(str(value))


def table_html(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]] = (),
    *,
    name: str,
    caption: str = "",
    groups: Sequence[tuple[str | Html, Sequence[Sequence[Any]]]] = (),
) -> str:
    """A table that scrolls inside itself, with its heading row and first column in place.

    Parameters
    ----------
    columns : sequence of str
        Headings.
    rows : sequence of rows
        Cells as :func:`cell_html` takes them; the first of a row is its heading.
    name : str
        What the table is, for readers who hear the page; the caption says it if there is one.
    caption : str
        Shown above the table.
    groups : sequence of (str or Html, rows)
        Instead of `rows`: rows under a heading of their own.

    Returns
    -------
    str
        HTML without ids, so that a page may hold several.

    Examples
    --------
    >>> '<th scope="row">a</th><td class="num">1</td>' in table_html(["x", "n"], [["a", 1]], name="Example")
    True
    """
    parts = list(groups) or [("", rows)]
    every = [row for _, part in parts for row in part]
    cells = zip(*every, strict=True) if every else [()] * len(columns)
    numeric = [bool(column) and all(map(_is_number, column)) for column in cells]
    head = "".join(
        f'<th scope="col"{_NUMERIC[is_number]}>{text_html(column)}</th>'
        for column, is_number in zip(columns, numeric, strict=True)
    )
    bodies = "".join(_body(heading, part, numeric) for heading, part in parts)
    title = f"<caption>{text_html(caption)}</caption>" if caption else ""
    return (
        f'<div class="rl-table" role="group" tabindex="0" aria-label="{escape(name)}">'
        f"<table>{title}<thead><tr>{head}</tr></thead>{bodies}</table></div>"
    )


def _body(heading: str | Html, rows: Sequence[Sequence[Any]], numeric: Sequence[bool]) -> str:
    title = ""
    if heading:
        cell = f'<th scope="rowgroup" colspan="{len(numeric)}"><span>{cell_html(heading)}</span></th>'
        title = f'<tr class="rl-group">{cell}</tr>'
    return f"<tbody>{title}{''.join(_row(row, numeric) for row in rows)}</tbody>"


def _row(row: Sequence[Any], numeric: Sequence[bool]) -> str:
    first, *others = row
    cells = "".join(
        f"<td{_NUMERIC[is_number]}>{cell_html(cell)}</td>"
        for cell, is_number in zip(others, numeric[1:], strict=True)
    )
    return f'<tr><th scope="row">{cell_html(first)}</th>{cells}</tr>'


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
