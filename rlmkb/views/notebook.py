"""Tables that notebooks show as HTML; the theory itself knows no HTML."""

from dataclasses import fields
from functools import singledispatch

from rlmkb.theory.tables import CostTable, TextTable


class NotebookCostTable(CostTable):
    """A cost table with an HTML view."""

    def _repr_html_(self) -> str:
        from rlmkb.views.tables import cost_table_html

        return cost_table_html(self)

    def __repr__(self) -> str:
        return f"Table {self.id}. {self.title}"


class NotebookTextTable(TextTable):
    """A table of text with an HTML view."""

    def _repr_html_(self) -> str:
        from rlmkb.views.tables import text_table_html

        return text_table_html(self)

    def __repr__(self) -> str:
        return f"Table {self.id}. {self.title}"


@singledispatch
def shown(table):
    """The same table, which a notebook shows as HTML.

    Examples
    --------
    >>> from rlmkb.theory.tables import table
    >>> shown(table("II"))
    Table II. Models of the pipeline
    """
    raise TypeError(f"no view for {type(table).__name__}")


@shown.register
def _(table: CostTable) -> NotebookCostTable:
    return NotebookCostTable(**_parts(table))


@shown.register
def _(table: TextTable) -> NotebookTextTable:
    return NotebookTextTable(**_parts(table))


def _parts(table) -> dict[str, object]:
    return {field.name: getattr(table, field.name) for field in fields(table)}
