"""Tables of traced programs beside their formulas, for the chapter that compares them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlmkb.views.markup import table_html

if TYPE_CHECKING:
    from rlmkb.verification.comparison import Row

EXACT = "exact"
_ROUNDING = 1e-12  # sums of logarithms end in different last digits


@dataclass(frozen=True)
class Table:
    """A small table that a notebook shows in the style of the book.

    Examples
    --------
    >>> Table("Two numbers", ("a", "b"), ((1, 2),))
    Two numbers
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def _repr_html_(self) -> str:
        return table_html(self.columns, self.rows, name=self.caption, caption=self.caption)

    def __repr__(self) -> str:
        return self.caption


def agreement(row: "Row") -> str:
    """The word exact, or traced over formula with three digits behind the point.

    Work and memory must be equal to the last unit; depth, a sum of logarithms, to the last digits of a double.
    """
    same = row.traced == row.formula or (
        row.quantity == "depth" and math.isclose(row.traced, row.formula, rel_tol=_ROUNDING)
    )
    return EXACT if same else f"{row.ratio:.3f}"


def ratio_table(rows: Iterable["Row"], caption: str) -> Table:
    """One line for each program and claim, one column for each role: exact, or traced over formula."""
    rows = list(rows)
    roles = list(dict.fromkeys(row.role for row in rows))
    lines = list(dict.fromkeys((_program(row), row.claim) for row in rows))
    cell = {(_program(row), row.claim, row.role): agreement(row) for row in rows}
    return Table(
        caption,
        ("Program", "Formula", *(role.replace("_", "-") for role in roles)),
        [[program, f"${claim}$", *(cell.get((program, claim, role)) for role in roles)] for program, claim in lines],
    )


def numbers_table(rows: Iterable["Row"], caption: str) -> Table:
    """Traced and formula side by side, with their ratio."""
    return Table(
        caption,
        ("Role", "Formula", "Unit", "Traced", "By formula", "Ratio"),
        [
            [row.role.replace("_", "-"), f"${row.claim}$", row.quantity.unit, row.traced, row.formula, agreement(row)]
            for row in rows
        ],
    )


def _program(row: "Row") -> str:
    return row.program if row.quantity == "memory" else f"{row.program}, {row.quantity}"
