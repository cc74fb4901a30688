"""Tables of traced programs beside their formulas, for the chapter that compares them."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rlmkb.views.listing import Listing

if TYPE_CHECKING:
    from rlmkb.verification.comparison import Row

EXACT = "exact"
_ROUNDING = 1e-12  # sums of logarithms end in different last digits


def agreement(row: "Row") -> str:
    """The word exact, or traced over formula with three digits behind the point.

    Work and memory must be equal to the last unit; depth, a sum of logarithms, to the last digits of a double.
    """
    same = row.traced == row.formula or (
        row.quantity == "depth" and math.isclose(row.traced, row.formula, rel_tol=_ROUNDING)
    )
    return EXACT if same else f"{row.ratio:.3f}"


def ratio_table(rows: Iterable["Row"], caption: str) -> Listing:
    """One line for each program and claim, one column for each role: exact, or traced over formula."""
    rows = list(rows)
    roles = list(dict.fromkeys(row.role for row in rows))
    lines = list(dict.fromkeys((_program(row), row.claim) for row in rows))
    cell = {(_program(row), row.claim, row.role): agreement(row) for row in rows}
    return Listing(
        caption,
        ("Program", "Formula", *(role.replace("_", "-") for role in roles)),
        [[program, f"${claim}$", *(cell.get((program, claim, role)) for role in roles)] for program, claim in lines],
    )


def numbers_table(rows: Iterable["Row"], caption: str) -> Listing:
    """Traced and formula side by side, with their ratio."""
    return Listing(
        caption,
        ("Role", "Formula", "Unit", "Traced", "By formula", "Ratio"),
        [
            [row.role.replace("_", "-"), f"${row.claim}$", row.quantity.unit, row.traced, row.formula, agreement(row)]
            for row in rows
        ],
    )


def _program(row: "Row") -> str:
    return row.program if row.quantity == "memory" else f"{row.program}, {row.quantity}"
