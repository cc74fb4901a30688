"""Tables of the book as HTML: notation, roles, costs, algorithms.

Directives show the first two and the last one when a page is built; `rlmkb.table` shows a cost table in a notebook.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlmkb.views.markup import (
    Html,
    Math,
    cell_html,
    chip,
    code,
    join,
    link,
    math_html,
    prose,
    small,
    table_html,
    text_html,
)

if TYPE_CHECKING:
    from rlmkb.theory.tables import Cell, CostTable, TextTable


def notation_table_html() -> str:
    """Table I: every symbol with its meaning, unit and range; those of a single role beside the common one."""
    from rlmkb.notation import CONCEPTS, SYMBOLS

    empty = Html("")
    concepts = [
        (item.group, [Math(item.latex), empty, prose(item.meaning), empty, empty, empty]) for item in CONCEPTS
    ]
    symbols = [
        (item.group, [Math(item.latex), code(item.name), prose(item.meaning), item.unit, item.range, _of_roles(item)])
        for item in SYMBOLS
        if item.role is None
    ]
    rows = concepts + symbols
    groups = [(group, [row for own, row in rows if own == group]) for group in dict.fromkeys(own for own, _ in rows)]
    columns = ("Symbol", "Name in code", "Meaning", "Unit", "Range", "Of one role")
    return table_html(columns, groups=groups, name="Table I: notation")


def _of_roles(common: Any) -> Html:
    from rlmkb.notation import SYMBOLS

    own = [Html(cell_html(Math(item.latex))) for item in SYMBOLS if item.default == common.name]
    return join(own, ", ")


def role_table_html() -> str:
    """Table II: the models of the pipeline, what state they are in and where they are used."""
    from rlmkb.theory.models import MODELS

    rows = [
        [
            chip(row.role.value, row.name),
            Math(row.role.latex),
            row.state.value,
            join([chip(stage.value) for stage in row.stages]),
            row.output.value,
            prose(row.remark),
        ]
        for row in MODELS
    ]
    columns = ("Model", "Symbol", "Weights", "Used in", "One pass gives", "For the system")
    return table_html(columns, rows, name="Table II: models of the pipeline")


def cost_table_html(table: "CostTable") -> str:
    """A cost table: formulas, and their values if it was evaluated.

    Cells that answer the same question stand below each other: algorithms by quantity and stage, strategies by
    quantity, models by formula. Notes become numbered footnotes, assumptions and sources a folded list.
    """
    groups: dict[Any, list[Cell]] = {}
    for cell in table.cells:
        groups.setdefault(_question(cell), []).append(cell)
    said = dict.fromkeys(cell.note for cell in table.cells if cell.note)
    notes = {text: number for number, text in enumerate(said, 1)}
    shown = {
        "Cost": True,
        "Value": table.at is not None,
        "Worst rank": any(cell.worst_rank_value is not None for cell in table.cells),
        "Honest value": any(cell.honest_value is not None for cell in table.cells),
        "Formula": True,
        "Honest formula": any(cell.honest is not None for cell in table.cells),
        "Order": any(cell.formula.asymptotic not in (None, cell.formula.expr) for cell in table.cells),
    }
    columns = [name for name, kept in shown.items() if kept]
    body = table_html(
        columns,
        groups=[(_heading(cells[0]), [_line(cell, columns, notes) for cell in cells]) for cells in groups.values()],
        name=_name(table),
        caption=table.title,
    )
    return body + _footnotes(notes) + _assumptions(groups.values())


def text_table_html(table: "TextTable") -> str:
    """A table in words, its cells escaped; a column named symbol is mathematics."""
    rows = [
        [Math(text) if name == "symbol" and text else text for name, text in cells.items()]
        for cells in table.rows.values()
    ]
    return table_html(table.columns, rows, name=_name(table))


def _question(cell: "Cell") -> Any:
    """What the rows of a group have in common."""
    return (cell.formula.quantity, cell.stage) if cell.stage or cell.scope else cell.row


def _heading(cell: "Cell") -> Html:
    formula = cell.formula
    what = stage_html(cell.stage) if cell.stage else Html(text_html(formula.meaning))
    unit = Html(f'<span class="rl-unit">{text_html(f"{formula.unit} per {formula.per}")}</span>')
    return join([chip(formula.quantity.value), what, unit])


# stages of table IX that are several at once
TOGETHER = {"inter": "generation and assessment together", "intra": "training", "aggregate": "the whole iteration"}


def stage_html(name: str) -> Html:
    """A stage as a chip, or in words where it is several at once.

    Examples
    --------
    >>> stage_html("inter").text
    'generation and assessment together'
    """
    return Html(text_html(TOGETHER[name])) if name in TOGETHER else chip(name)


def _line(cell: "Cell", columns: Sequence[str], notes: Mapping[str, int]) -> list[Any]:
    formula, mark = cell.formula, notes.get(cell.note)
    label = text_html(row_name(cell)) if cell.stage or cell.scope else math_html(formula.left)
    none = formula.expr == 0
    parts = {
        "Cost": Html(label + (f"<sup>{mark}</sup>" if mark else "")),
        "Value": None if none else _number(cell.value),
        "Worst rank": None if none else _number(cell.worst_rank_value),
        "Honest value": _number(cell.honest_value),
        "Formula": None if none else Math(formula.latex),
        "Honest formula": Math(cell.honest.latex) if cell.honest else None,
        "Order": Math(formula.latex_asymptotic) if formula.latex_asymptotic else None,
    }
    return [parts[name] for name in columns]


CAPITALS = ("ppo", "grpo", "dpo", "3d", "5d")


def row_name(cell: "Cell") -> str:
    """A row in words: PPO and 3D in capitals, `stage_fusion` as "Stage fusion"."""
    if cell.row in CAPITALS:
        return cell.row.upper()
    words = cell.row.replace("ac_", "AC ").replace("_", " ")
    return words[0].upper() + words[1:]


def _footnotes(notes: Mapping[str, int]) -> str:
    return "".join(f'<p class="rl-note"><sup>{mark}</sup> {text_html(text)}</p>' for text, mark in notes.items())


def _assumptions(groups: Iterable[Sequence["Cell"]]) -> str:
    items = ""
    for cells in groups:
        texts = dict.fromkeys(text for cell in cells for text in cell.formula.assumptions)
        source = "; ".join(dict.fromkeys(cell.formula.source for cell in cells))
        said = text_html(f"{'; '.join(texts)}. Source: {source}." if texts else f"Source: {source}.")
        items += f"<li>{_heading(cells[0]).text}: {said}</li>"
    return f'<details class="rl-data"><summary>Assumptions and sources</summary><ul>{items}</ul></details>'


def _name(table: "CostTable | TextTable") -> str:
    return f"Table {table.id}: {table.title}"


def _number(value: Any) -> Any:
    """A value of a cell: a number, or from the least to the greatest where it was evaluated at many points."""
    if hasattr(value, "min") and getattr(value, "size", 1) > 1:
        low, high = (cell_html(bound.item()) for bound in (value.min(), value.max()))
        return Html(f"{low} to {high}")
    return value.item() if hasattr(value, "item") else value


_FAMILIES = {
    "ppo": "PPO and its variants: a critic estimates values",
    "grpo": "GRPO and its relatives: groups of rollouts instead of a critic",
    "dpo": "DPO and its variants: preference pairs, no generation in the loop",
    "likelihood": "Likelihood objectives",
}


def algorithm_families_html() -> str:
    """The algorithms of the catalogue by family: what each changes, and what that changes in the cost."""
    from rlmkb.catalogue import entries

    found = entries("algorithms").values()
    groups = [
        (title, [_algorithm(entry) for entry in found if entry.family == family])
        for family, title in _FAMILIES.items()
    ]
    columns = ("Algorithm", "What changes", "Models", "Cost", "Sources")
    return table_html(columns, groups=[group for group in groups if group[1]], name="Algorithm families")


def _algorithm(entry: Any) -> list[Html]:
    cost = "; ".join(text for text in (entry.cost_in_words, entry.beyond_in_words) if text)
    links = [link(item.url, str(number), item.says) for number, item in enumerate(entry.sources, 1)]
    return [
        join([Html(text_html(entry.name)), small(entry.full_name)]),
        prose(entry.changes),
        join([chip(role.value) for role in entry.models]),
        join([prose(f"{cost[0].upper()}{cost[1:]}."), small(entry.cost.note)]),
        Html(f'<span class="rl-numbers">{join(links).text}</span>'),
    ]
