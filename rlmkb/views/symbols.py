"""Index of symbols: which of them stand in which table, read off the formulas."""

from collections.abc import Mapping
from html import escape

from rlmkb.views.markup import Html, Math, code, join, prose, table_html

COST_TABLES = ("III", "IV", "V", "VI", "VII", "VIII", "IX")


def tables_of_symbols() -> dict[str, dict[str, tuple[str, ...]]]:
    """Where each symbol stands.

    A model's own dimension counts as the common one: ``L_pi`` as ``L``.

    Returns
    -------
    dict
        From the name of a symbol to a dict from a quantity (``work``, ``depth``, ``memory``) to the tables whose
        formulas of that quantity contain it, in the paper's order.

    Examples
    --------
    >>> tables_of_symbols()["K"]["work"]
    ('IV', 'IX')
    >>> tables_of_symbols()["kappa"]
    {}
    """
    from rlmkb.notation import SYMBOLS, notation
    from rlmkb.theory.evaluate import names_in
    from rlmkb.theory.tables import table

    found: dict[str, dict[str, dict[str, None]]] = {entry.name: {} for entry in SYMBOLS if entry.role is None}
    for id in COST_TABLES:
        for cell in table(id).cells:
            for formula in filter(None, (cell.formula, cell.honest, cell.worst)):
                for name in names_in(formula.explicit):
                    common = notation(name).default or name
                    found[common].setdefault(formula.quantity.value, {})[id] = None
    return {
        name: {quantity: tuple(ids) for quantity, ids in sorted(quantities.items())}
        for name, quantities in found.items()
    }


def symbol_index_html(addresses: Mapping[str, str]) -> str:
    """The index as a table.

    Parameters
    ----------
    addresses : mapping
        From the number of a table to the place that shows it; a table without one is named without a link.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> '<a class="reference internal" href="x.html">IV</a>' in symbol_index_html({"IV": "x.html"})
    True
    """
    from rlmkb.notation import notation
    from rlmkb.theory.formula import Quantity

    def tables(ids: tuple[str, ...]) -> Html | None:
        if not ids:
            return None
        links = (
            f'<a class="reference internal" href="{escape(addresses[id])}">{id}</a>' if id in addresses else id
            for id in ids
        )
        return join([Html(text) for text in links], ", ")

    rows = []
    for name, quantities in tables_of_symbols().items():
        entry = notation(name)
        where = [tables(quantities.get(quantity.value, ())) for quantity in Quantity]
        rows.append([Math(entry.latex), code(name), prose(entry.meaning), *where])
    columns = ["Symbol", "Name in code", "Meaning", *(f"In {quantity.value}" for quantity in Quantity)]
    return table_html(columns, rows, name="Index of symbols")
