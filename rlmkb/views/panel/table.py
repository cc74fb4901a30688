"""A cost table that the reader can change: fields, presets, and every cell with its value."""

from collections.abc import Collection

from rlmkb.errors import InputError
from rlmkb.notation import Role
from rlmkb.theory.cells import Cell, CostTable
from rlmkb.theory.values import LIMITS
from rlmkb.views.javascript import literal
from rlmkb.views.markup import Html, chip, math_html, table_html, text_html
from rlmkb.views.panel.chart import chart_html, facets
from rlmkb.views.panel.inputs import EXPERTS, SHAPE, START_ARCHITECTURE, WORKLOADS, Field, fields, shapes
from rlmkb.views.panel.program import program, symbols
from rlmkb.views.tables import row_name, stage_html

# what the second column of values is called
SECOND = {"honest": "Honest value", "worst": "Worst rank"}

# models that may have a shape of their own
ROLES = (Role.REWARD, Role.CRITIC)


def panel_of_table(id: str) -> str:
    """The panel of a cost table.

    Parameters
    ----------
    id : str
        Roman numeral of a table of formulas.

    Returns
    -------
    str
        HTML with its program; without scripts it shows the table's formulas.

    Raises
    ------
    InputError
        If there is no such table.
    """
    from rlmkb.theory.tables import table

    found = table(id)
    if not isinstance(found, CostTable):
        raise InputError(f"table {id} is a table of text and has nothing to change; choose one of III to IX")
    return shapes_script() + panel_html(id, f"Table {id} with your numbers", found.cells)


def panel_html(id: str, title: str, cells: tuple[Cell, ...]) -> str:
    """A panel for any cells: fields for their symbols, one row each."""
    formulas = [cell.formula for cell in cells]
    second = [cell.honest or cell.worst for cell in cells]
    needed = symbols([*formulas, *filter(None, second)])
    asked, drawn = fields(needed), facets(cells)
    data = {
        "id": id,
        "needs": needed,
        "fields": [[field.name, field.start, field.slider_end] for field in asked],
        "limits": limits(needed),
        "roles": [role.suffix for role in ROLES if f"L_{role.suffix}" in needed],
        "chart": list(drawn.values()),
    }
    return (
        f'<section class="rl-panel" id="panel-{id}" aria-labelledby="panel-{id}-title">'
        f'<p class="rl-panel-title" id="panel-{id}-title">{text_html(title)}</p>'
        f"{form_html(id, asked, data['roles'])}{chart_html(id, list(drawn))}{_table(cells)}"
        f"<script>(window.rlmkbPanels??={{}})[{literal(id)}]=Object.assign({literal(data)},"
        f"{{first:{program(formulas)},second:{_second(second)}}});</script></section>"
    )


def limits(needed: Collection[str]) -> list[list]:
    """What a panel refuses: a symbol, the one that it cannot exceed, and why.

    Examples
    --------
    >>> limits(("P_t", "h"))
    [['P_t', 'h', 'it cannot be cut into more pieces']]
    """
    return [list(limit) for limit in LIMITS if limit.part in needed]


def _second(formulas: list) -> str:
    """The second value of a cell (worst rank, or the honest reading), where it has one."""
    present = [formula for formula in formulas if formula is not None]
    places = [place for place, formula in enumerate(formulas) if formula is not None]
    return f"{{places:{literal(places)},values:{program(present)}}}" if present else "null"


def shapes_script() -> str:
    """The shapes and workloads that all panels of a page offer, as one script element."""
    data = {
        "shapes": shapes(), "names": [*SHAPE, *EXPERTS], "start": START_ARCHITECTURE,
        "workloads": [[workload.id, workload.name, workload.sizes] for workload in WORKLOADS],
    }  # fmt: skip
    return f"<script>window.rlmkbShapes={literal(data)};</script>"


def form_html(id: str, asked: tuple[Field, ...], roles: list[str], choices: str = "") -> str:
    """Presets, then a field and a slider for each symbol; `choices` are further selects before them."""
    names = {field.name for field in asked}
    presets = []
    if set(SHAPE[:4]) & names:
        presets.append(_select(id, "shape", "Model", "every model"))
    presets += [_select(id, f"shape_{suffix}", f"{_role(suffix)}", "as the policy") for suffix in roles]
    if {"S", "T"} <= names:
        presets.append(_select(id, "workload", "Workload", "your own"))
    controls = "".join(_control(id, field) for field in asked)
    return (
        f'<form class="rl-panel-form" autocomplete="off"><div class="rl-panel-presets">{choices}{"".join(presets)}'
        '<span class="rl-panel-actions"><button type="button" data-do="reset">Reset</button>'
        '<button type="button" data-do="share">Copy link</button></span></div>'
        f'<div class="rl-panel-fields">{controls}</div>'
        '<p class="rl-panel-message" role="status" aria-live="polite"></p></form>'
    )


def _role(suffix: str) -> str:
    return next(role for role in Role if role.suffix == suffix).value.replace("_", " ").capitalize()


def _select(id: str, name: str, label: str, first: str) -> str:
    key = f"panel-{id}-{name}"
    options = f'<option value="">{text_html(first)}</option>'
    return preset_html(key, label, f'<select id="{key}" data-preset="{name}">{options}</select>')


def preset_html(key: str, label: str, select: str) -> str:
    """A select with its label."""
    return f'<span class="rl-panel-preset"><label for="{key}">{text_html(label)}</label>{select}</span>'


def _control(id: str, field: Field) -> str:
    key = f"panel-{id}-{field.name}"
    return (
        f'<div class="rl-panel-field"><label for="{key}">{math_html(field.latex)} <span>{text_html(field.meaning)}'
        f"</span></label>"
        f'<input id="{key}" name="{field.name}" type="number" min="1" step="1" inputmode="numeric"'
        f' value="{field.start}" aria-describedby="{key}-unit"><span class="rl-unit" id="{key}-unit">'
        f"{text_html(field.unit)}</span>"
        f'<input type="range" data-for="{field.name}" min="0" max="1000" aria-label="{text_html(field.meaning)}"></div>'
    )


def _table(cells: tuple[Cell, ...]) -> str:
    groups: dict[object, list[tuple[int, Cell]]] = {}
    for place, cell in enumerate(cells):
        key = (cell.formula.quantity, cell.stage) if cell.stage or cell.scope else cell.row
        groups.setdefault(key, []).append((place, cell))
    extra = next((name for name in ("honest", "worst") if any(getattr(cell, name) for cell in cells)), None)
    columns = ["Cost", "Value", *([SECOND[extra]] if extra else []), "Formula"]
    rows = [(_heading(found[0][1]), [_row(place, cell, extra) for place, cell in found]) for found in groups.values()]
    return table_html(columns, groups=rows, name="Values")


def _heading(cell: Cell) -> Html:
    stage = stage_html(cell.stage) if cell.stage else Html("")
    what = "" if cell.scope or cell.stage else text_html(cell.formula.meaning)
    unit = text_html(f"{cell.formula.unit} per {cell.formula.per}")
    return Html(f'{chip(cell.formula.quantity.value).text} {stage.text}{what} <span class="rl-unit">{unit}</span>')


def _row(place: int, cell: Cell, extra: str | None) -> list:
    label = Html(text_html(row_name(cell)) if cell.stage or cell.scope else math_html(cell.formula.left))
    second = getattr(cell, extra) if extra else None
    outputs = [Html(f'<output data-cell="{place}"></output>')]
    if extra:
        outputs.append(Html(f'<output data-second="{place}"></output>') if second else None)
    return [label, *outputs, Html(math_html(cell.formula.latex)) if cell.formula.expr != 0 else None]
