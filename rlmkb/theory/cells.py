"""What a table of the paper is: cells with formulas, or rows of text."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rlmkb.errors import InputError, nearest
from rlmkb.notation import notation
from rlmkb.theory.evaluate import names_in
from rlmkb.theory.formula import Formula
from rlmkb.theory.values import available, check


@dataclass(frozen=True)
class Cell:
    """One cell of a cost table.

    Parameters
    ----------
    row : str
        Row id.
    formula : Formula
        What stands in it.
    scope, stage, model : str, optional
        ``per_rank`` or ``global``; the stage; the model's id (``pi ref R V ac``).
    optional : frozenset of str
        Symbols without whose value the cell stays empty, where any other missing value is refused.
    worst : Formula, optional
        The same on the fullest rank, where a split may be uneven.
    honest : Formula, optional
        Ours, where the printed cell is an idealisation.
    value, worst_rank_value, honest_value : int, float or numpy.ndarray, optional
        Once evaluated; the second only where a split is uneven.
    value_note : str, optional
        Why there is no value.
    """

    row: str
    formula: Formula
    scope: str | None = None
    stage: str | None = None
    model: str | None = None
    optional: frozenset[str] = frozenset()
    worst: Formula | None = None
    honest: Formula | None = None
    value: object = None
    value_note: str | None = None
    worst_rank_value: object = None
    honest_value: object = None

    @property
    def note(self) -> str:
        """How to read the cell, and why it has no value."""
        return " ".join(text for text in (self.formula.note, self.value_note) if text)

    def as_dict(self) -> dict[str, object]:
        """The cell as plain data, as ``rlmkb table --json`` prints it."""
        out = {
            "row": self.row, "scope": self.scope, "stage": self.stage, "model": self.model,
            "quantity": self.formula.quantity.value, "latex": self.formula.latex,
            "asymptotic": self.formula.latex_asymptotic, "unit": self.formula.unit, "per": self.formula.per,
            "meaning": self.formula.meaning, "assumptions": list(self.formula.assumptions),
            "source": self.formula.source,
        }  # fmt: skip
        if self.note:
            out["note"] = self.note
        if self.value is not None:
            out["value"] = _plain(self.value)
        elif self.value_note:
            out["value"] = None
        if self.worst_rank_value is not None:
            out["worst_rank_value"] = _plain(self.worst_rank_value)
        if self.honest is not None:
            out["honest"] = {"latex": self.honest.latex, "note": self.honest.note}
            if self.honest_value is not None:
                out["honest"]["value"] = _plain(self.honest_value)
        return out


@dataclass(frozen=True)
class CostTable:
    """A table of formulas.

    Parameters
    ----------
    id, title : str
        Roman numeral, and what it shows.
    cells : tuple of Cell
        In the printed order.
    at : mapping, optional
        The point at which it was evaluated.
    asymptotic : bool
        The paper prints orders; values are those of the explicit form nevertheless.

    Examples
    --------
    >>> from rlmkb.theory.tables import table
    >>> cell = table("III").cell("params", model="R")
    >>> cell.formula.unit
    'elements'
    """

    id: str
    title: str
    cells: tuple[Cell, ...]
    at: Mapping[str, object] | None = None
    asymptotic: bool = False

    def evaluated(self, values: Mapping[str, object]) -> "CostTable":
        """The same table with a value in each cell.

        Parameters
        ----------
        values : mapping
            From symbol name to number or array; see `rlmkb.theory.values.resolve`.

        Raises
        ------
        InputError
            If a value is missing or out of range.

        Examples
        --------
        >>> from rlmkb.theory.tables import table
        >>> point = {"L": 1, "d": 2, "d_ff": 8, "h": 1, "V": 10, "S": 3, "T": 2, "B": 1, "P_t": 1}
        >>> table("III", at=point).cell("params", model="R").value
        70
        """
        values = _numbers(values)
        return replace(self, cells=tuple(_evaluated(cell, values) for cell in self.cells), at=dict(values))

    def cell(self, row: str, **where: str) -> Cell:
        """The one cell of a row with the given scope, stage, model or quantity.

        Raises
        ------
        InputError
            If none or several match.
        """
        found = [cell for cell in self.cells if cell.row == row and _matches(cell, where)]
        if len(found) != 1:
            asked = ", ".join(f"{key}={value!r}" for key, value in {"row": row, **where}.items())
            rows = nearest(row, dict.fromkeys(cell.row for cell in self.cells))
            raise InputError(
                f"table {self.id} has {len(found)} cells for {asked}; name row, scope, stage, model or quantity;"
                f" rows: {rows}"
            )
        return found[0]

    def as_dict(self) -> dict[str, object]:
        """The table as plain data."""
        out = {"table": self.id, "title": self.title, "rows": [cell.as_dict() for cell in self.cells]}
        if self.at is not None:
            out["at"] = {key: _plain(value) for key, value in self.at.items()}
        return out


@dataclass(frozen=True)
class TextTable:
    """A table in words; `rows` maps a row id to its cells."""

    id: str
    title: str
    columns: tuple[str, ...]
    rows: Mapping[str, Mapping[str, str]]

    def as_dict(self) -> dict[str, object]:
        """The table as plain data."""
        rows = [{"row": row, "cells": dict(cells)} for row, cells in self.rows.items()]
        return {"table": self.id, "title": self.title, "rows": rows}


def _plain(value: object) -> object:
    return value.tolist() if hasattr(value, "tolist") else value


def _matches(cell: Cell, where: Mapping[str, str]) -> bool:
    have = {"scope": cell.scope, "stage": cell.stage, "model": cell.model, "quantity": cell.formula.quantity.value}
    unknown = set(where) - set(have)
    if unknown:
        raise InputError(f"unknown selector {sorted(unknown)[0]!r}; allowed: {', '.join(have)}")
    return all(have[key] == value for key, value in where.items())


def _numbers(values: object) -> dict[str, object]:
    if not isinstance(values, Mapping):
        raise InputError(f"values are {type(values).__name__}; give a mapping from symbol to number, as {{'L': 32}}")
    for name, value in values.items():
        check(notation(name), value)
    return dict(values)


def _evaluated(cell: Cell, values: Mapping[str, object]) -> Cell:
    needed = [name for name in names_in(cell.formula.explicit) if name in cell.optional]
    lacking = [name for name in needed if not available(name, values)]
    if lacking:
        return replace(cell, value_note=f"No value: {', '.join(lacking)} not given.")
    value = cell.formula.evaluate(values)
    honest = None if cell.honest is None else cell.honest.evaluate(values)
    return replace(cell, value=value, worst_rank_value=_worst_rank(cell, value, values), honest_value=honest)


def _worst_rank(cell: Cell, value: object, values: Mapping[str, object]) -> object:
    """The fullest rank's value where it differs: only there is the split uneven."""
    if cell.worst is None or not all(available(name, values) for name in names_in(cell.worst.explicit)):
        return None
    worst = cell.worst.evaluate(values)
    return None if _close(worst, value) else worst


def _close(one: object, other: object) -> bool:
    """Whether two values are the same but for rounding; integers of any size compare exactly."""
    import numpy as np

    if isinstance(one, int) and isinstance(other, int):
        return one == other
    try:
        return bool(np.allclose(np.asarray(one, dtype=float), np.asarray(other, dtype=float), rtol=1e-12, atol=0))
    except OverflowError:  # one is beyond double precision, the other is not
        return False
