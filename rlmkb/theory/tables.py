"""The paper's tables as objects: symbolic, printable, evaluable.

Tables III and IV are made of formulas; tables I and II are facts in words.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rlmkb.errors import InputError, nearest
from rlmkb.notation import CONCEPTS, SYMBOLS, Role, Stage, notation
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import ALGORITHMS
from rlmkb.theory.evaluate import names_in
from rlmkb.theory.formula import Formula, Quantity
from rlmkb.theory.iteration import TABLE_IV, stage_cost
from rlmkb.theory.models import MODELS
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
    value : int, float or numpy.ndarray, optional
        Once evaluated.
    value_note : str, optional
        Why there is no value.
    """

    row: str
    formula: Formula
    scope: str | None = None
    stage: str | None = None
    model: str | None = None
    optional: frozenset[str] = frozenset()
    value: object = None
    value_note: str | None = None

    def as_dict(self) -> dict[str, object]:
        """The cell as plain data, as ``rlmkb table --json`` prints it."""
        out = {
            "row": self.row, "scope": self.scope, "stage": self.stage, "model": self.model,
            "quantity": self.formula.quantity.value, "latex": self.formula.latex,
            "asymptotic": self.formula.latex_asymptotic, "unit": self.formula.unit, "per": self.formula.per,
            "meaning": self.formula.meaning, "assumptions": list(self.formula.assumptions),
            "source": self.formula.source,
        }  # fmt: skip
        note = " ".join(text for text in (self.formula.note, self.value_note) if text)
        if note:
            out["note"] = note
        if self.value is not None:
            out["value"] = self.value.tolist() if hasattr(self.value, "tolist") else self.value
        elif self.value_note:
            out["value"] = None
        return out


@dataclass(frozen=True)
class CostTable:
    """A table of formulas.

    Examples
    --------
    >>> cell = table("III").cell("params", model="R")
    >>> cell.formula.unit
    'elements'
    """

    id: str
    title: str
    cells: tuple[Cell, ...]
    at: Mapping[str, object] | None = None

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
    return replace(cell, value=cell.formula.evaluate(values))


ALL_ROLES = (Role.POLICY, Role.REFERENCE, Role.REWARD, Role.CRITIC, Role.ACTOR_CRITIC)
GENERATING = (Role.POLICY, Role.ACTOR_CRITIC)

# a pipeline need not share an actor-critic, nor shard a model
OPTIONAL_III = frozenset({"P_t", *(entry.name for entry in SYMBOLS if entry.role is Role.ACTOR_CRITIC)})

ROWS_III = (
    (blocks.forward, ALL_ROLES),
    (blocks.backward, ALL_ROLES),
    (blocks.training, ALL_ROLES),
    (blocks.prefill, GENERATING),
    (blocks.decode, GENERATING),
    (blocks.generation, GENERATING),
    (blocks.depth_forward, ALL_ROLES),
    (blocks.depth_forward_tp, ALL_ROLES),
    (blocks.depth_backward, ALL_ROLES),
    (blocks.depth_training, ALL_ROLES),
    (blocks.depth_generation, GENERATING),
    (blocks.parameter_count, ALL_ROLES),
    (blocks.activation_memory, ALL_ROLES),
    (blocks.inference_memory, ALL_ROLES),
    (blocks.cache_memory, GENERATING),
)


def _table_one() -> TextTable:
    words = {
        concept.name: {"symbol": concept.latex, "meaning": concept.meaning, "unit": "", "range": "",
                       "group": concept.group}
        for concept in CONCEPTS
    }  # fmt: skip
    numbers = {
        entry.name: {"symbol": entry.latex, "meaning": entry.meaning, "unit": entry.unit, "range": entry.range,
                     "group": entry.group}
        for entry in SYMBOLS
    }  # fmt: skip
    return TextTable("I", "Notation", ("symbol", "meaning", "unit", "range", "group"), words | numbers)


def _table_two() -> TextTable:
    rows = {
        row.id: {
            "model": row.name, "symbol": row.role.latex, "state": row.state.value,
            "used in": ", ".join(stage.value for stage in row.stages), "gives": row.output.value,
            "remark": row.remark,
        }
        for row in MODELS
    }  # fmt: skip
    return TextTable(
        "II", "Models of the pipeline", ("model", "symbol", "state", "used in", "gives", "remark"), rows
    )


def _table_three() -> CostTable:
    cells = tuple(
        Cell(formula.name, formula, model=role.suffix, optional=OPTIONAL_III)
        for block, roles in ROWS_III
        for role in roles
        for formula in (block(role),)
    )
    return CostTable("III", "Building blocks: what one model costs", cells)


def _table_four() -> CostTable:
    cells = tuple(
        Cell(algorithm.id, stage_cost(algorithm, stage, quantity, TABLE_IV), stage=stage.value)
        for algorithm in ALGORITHMS.values()
        for quantity in Quantity
        for stage in Stage
    )
    return CostTable("IV", "Work, depth and memory of one iteration", cells)


_TABLES = {"I": _table_one, "II": _table_two, "III": _table_three, "IV": _table_four}


def table(id: str, at: Mapping[str, object] | None = None) -> CostTable | TextTable:
    """A table of the paper, symbolic or with values.

    Parameters
    ----------
    id : str
        Roman numeral: I, II, III or IV.
    at : mapping, optional
        From symbol name to number; cost tables only.

    Returns
    -------
    CostTable or TextTable
        III and IV are cost tables, I and II tables of text.

    Raises
    ------
    InputError
        If the table is unknown, is one of text but values are given, or a value is missing or out of range.

    Examples
    --------
    >>> table("IV").cell("dpo", stage="generation", quantity="work").formula.expr
    0
    """
    if id not in _TABLES:
        raise InputError(f"there is no table {id!r}; available: {', '.join(_TABLES)}")
    found = _TABLES[id]()
    if at is None:
        return found
    if isinstance(found, TextTable):
        raise InputError(f"table {id} is a table of text and takes no values; leave --at (at=) out")
    return found.evaluated(at)
