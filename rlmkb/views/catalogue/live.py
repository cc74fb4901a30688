"""Tables that a reader sorts and filters in the page: plain tables without JavaScript, `live-table.js` does the rest.

Order and filter keys stand in the markup (`data-v` of a cell, `data-f-…` of a row), so the script knows no content.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape


@dataclass(frozen=True)
class Column:
    """A heading; `title` tells it in full, `over` groups neighbours, `key` names it in an address."""

    heading: str
    title: str = ""
    over: str = ""
    numeric: bool = False
    key: str = ""


@dataclass(frozen=True)
class Cell:
    """Markup of a cell, and what it is sorted by if that is not its text."""

    html: str
    order: float | str | None = None


@dataclass(frozen=True)
class Row:
    """Cells, the first being the row's heading, and the words by which it is filtered."""

    cells: Sequence[Cell]
    facets: Mapping[str, Iterable[str]] = field(default_factory=dict)
    group: str = ""


@dataclass(frozen=True)
class Facet:
    """A choice above the table: rows whose words include the chosen one stay."""

    key: str
    label: str
    options: Mapping[str, str]


def live_table_html(
    columns: Sequence[Column],
    rows: Sequence[Row],
    *,
    name: str,
    noun: str,
    facets: Sequence[Facet] = (),
    kind: str = "",
) -> str:
    """A table with its controls.

    Parameters
    ----------
    columns : sequence of Column
    rows : sequence of Row
        Rows of one `group` stand together under it, until a reader sorts.
    name : str
        What the table is, for readers who hear the page.
    noun : str
        What a row is, in the plural.
    facets : sequence of Facet
        Keys other than ``find``, ``sort`` and ``cell``, which the script uses.
    kind : str
        A class for the stylesheet.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> table = live_table_html([Column("x")], [Row([Cell("a")])], name="Letters", noun="letters")
    >>> '<tbody><tr><th scope="row">a</th></tr></tbody>' in table
    True
    """
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    bodies = "".join(_body(group, inside, columns) for group, inside in groups.items())
    told = f"rl-live {kind}".strip()
    return (
        f'<div class="{told}">{_controls(facets, name, noun, len(rows))}'
        f'<div class="rl-table rl-tall" role="group" tabindex="0" aria-label="{escape(name)}">'
        f"<table><thead>{_over(columns)}<tr>{''.join(map(_heading, columns))}</tr></thead>{bodies}</table></div>"
        f'<p class="rl-nothing" hidden>None of the {len(rows)} {escape(noun)} fits. Choose less, or show all.</p></div>'
    )


def _controls(facets: Sequence[Facet], name: str, noun: str, count: int) -> str:
    choices = "".join(_choice(facet) for facet in facets)
    return (
        f'<form class="rl-controls" aria-label="Filter: {escape(name)}" hidden>'
        f'<label>Find <input type="search" name="find" autocomplete="off" spellcheck="false"></label>{choices}'
        f'<span class="rl-count"><output>{count}</output> of {count} {escape(noun)}</span>'
        '<button type="reset">Show all</button></form>'
    )


def _choice(facet: Facet) -> str:
    options = "".join(
        f'<option value="{escape(value)}">{escape(word)}</option>' for value, word in facet.options.items()
    )
    return (
        f'<label>{escape(facet.label)} <select name="{escape(facet.key)}">'
        f'<option value="">any</option>{options}</select></label>'
    )


def _over(columns: Sequence[Column]) -> str:
    """A row of headings over neighbours, if any column has one."""
    if not any(column.over for column in columns):
        return ""
    runs: list[tuple[str, int]] = []
    for column in columns:
        if runs and runs[-1][0] == column.over:
            runs[-1] = (column.over, runs[-1][1] + 1)
        else:
            runs.append((column.over, 1))
    cells = "".join(
        f'<th scope="colgroup" colspan="{span}"><span>{escape(text)}</span></th>'
        if text
        else f'<td colspan="{span}"></td>'
        for text, span in runs
    )
    return f'<tr class="rl-over">{cells}</tr>'


def _heading(column: Column) -> str:
    attributes = {"class": "num" if column.numeric else "", "title": column.title, "data-k": column.key}
    told = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items() if value)
    return f'<th scope="col"{told}>{escape(column.heading)}</th>'


def _body(group: str, rows: Sequence[Row], columns: Sequence[Column]) -> str:
    title = ""
    if group:
        title = (
            f'<tr class="rl-group"><th scope="rowgroup" colspan="{len(columns)}"><span>{escape(group)}</span></th></tr>'
        )
    return f"<tbody>{title}{''.join(_row(row, columns) for row in rows)}</tbody>"


def _row(row: Row, columns: Sequence[Column]) -> str:
    facets = "".join(f' data-f-{key}="{escape(" ".join(words))}"' for key, words in row.facets.items())
    cells = "".join(
        _cell(cell, column, 'th scope="row"' if place == 0 else "td")
        for place, (cell, column) in enumerate(zip(row.cells, columns, strict=True))
    )
    return f"<tr{facets}>{cells}</tr>"


def _cell(cell: Cell, column: Column, tag: str) -> str:
    told = ' class="num"' if column.numeric else ""
    order = "" if cell.order is None else f' data-v="{escape(str(cell.order))}"'
    return f"<{tag}{told}{order}>{cell.html}</{tag.split()[0]}>"
