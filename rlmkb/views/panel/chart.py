"""The chart of a panel: which of its rows stand beside each other as bars, drawn by `panel-chart.js`."""

from collections.abc import Sequence

from rlmkb.theory.cells import Cell
from rlmkb.views import design
from rlmkb.views.markup import text_html
from rlmkb.views.tables import TOGETHER, row_name

Bar = tuple[str, str, int]  # label, name of its colour, place of the cell
Facet = tuple[str, str, list[Bar]]  # quantity, unit, bars


def facets(cells: Sequence[Cell]) -> dict[str, list[Facet]]:
    """What a reader can choose to see: for each stage or formula its quantities, for each quantity its rows.

    A single row has nothing beside it and is left to the table.

    Examples
    --------
    >>> from rlmkb.theory.tables import table
    >>> found = facets(table("IV").cells)
    >>> list(found), [quantity for quantity, _, _ in found["training"]]
    (['generation', 'assessment', 'training'], ['work', 'depth', 'memory'])
    >>> found["training"][0][2]
    [('PPO', 'work', 2), ('GRPO', 'work', 11), ('DPO', 'work', 20)]
    """
    found: dict[str, dict[tuple[str, str], list[Bar]]] = {}
    for place, cell in enumerate(cells):
        formula = cell.formula
        name = formula.meaning if cell.model else TOGETHER.get(cell.stage or "", cell.stage or "")
        facet = found.setdefault(name, {}).setdefault((formula.quantity.value, formula.unit), [])
        facet.append((*_bar(cell), place))
    several = {name: [(*of, bars) for of, bars in parts.items() if len(bars) > 1] for name, parts in found.items()}
    return {name: parts for name, parts in several.items() if parts}


def _bar(cell: Cell) -> tuple[str, str]:
    """Label and colour: of the model where rows are models, else of the quantity."""
    role = cell.formula.role
    if cell.model and role:
        return role.value.replace("_", " "), design.KIN.get(role.value, role.value)
    return row_name(cell), cell.formula.quantity.value


def chart_html(id: str, choices: Sequence[str] = ()) -> str:
    """The place of the chart, filled by the page; `choices` name what a reader can choose to see."""
    choice = ""
    if len(choices) > 1:
        key = f"panel-{id}-chart"
        options = "".join(f"<option>{text_html(name[:1].upper() + name[1:])}</option>" for name in choices)
        label = f'<label for="{key}">Chart</label>'
        choice = f'<span class="rl-facet-choice">{label}<select id="{key}">{options}</select></span>'
    return (
        f'<figure class="rl-facets" hidden><figcaption>{choice}'
        '<span class="rl-facet-key">value at the start</span></figcaption>'
        '<div data-facets role="img" aria-label="Bars of the values; the table below has them as numbers"></div>'
        "</figure>"
    )
