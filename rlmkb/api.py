"""What the command line and notebooks call: tables and costs, dressed for display."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from rlmkb.errors import InputError
from rlmkb.iteration_cost import IterationCost, cost
from rlmkb.theory import tables
from rlmkb.theory.tables import CostTable, TextTable

_EXAMPLE = 'give a JSON object such as {"L": 32}'

__all__ = ["IterationCost", "cost", "read_point", "table"]


def table(
    id: str, at: Mapping[str, object] | None = None, *, algorithm: str | None = None
) -> CostTable | TextTable:
    """A table of the paper; notebooks show it with its mathematics typeset.

    Parameters
    ----------
    id : str
        Roman numeral: I to IX of the theory; X and XI are the catalogue's models and frameworks.
    at : mapping, optional
        From symbol name to number or array; the table then has values too.
    algorithm : str, optional
        Table IX only: ``"ppo"``, as printed and the default, ``"grpo"`` or ``"dpo"``.

    Raises
    ------
    InputError
        If the table is unknown, or a value is missing or out of range.

    Examples
    --------
    >>> point = {"L": 1, "d": 2, "d_ff": 8, "h": 1, "V": 10, "S": 3, "T": 2, "B": 1}
    >>> table("III", at=point).cell("params", model="pi").value  # 16 + 32 + 20
    68
    """
    from rlmkb import catalogue_tables
    from rlmkb.views.notebook import shown

    if isinstance(id, str) and id in catalogue_tables.TABLES:
        if at is not None:
            raise InputError(tables.NO_VALUES.format(id=id))
        if algorithm is not None:
            raise InputError(f"table {id} is not of one algorithm; algorithm goes with table IX")
        return shown(catalogue_tables.TABLES[id]())
    return shown(tables.table(id, at, algorithm=algorithm))


def read_point(source: str) -> dict[str, object]:
    """Values from a JSON file, or from standard input for ``-``.

    Parameters
    ----------
    source : str
        A path, or ``"-"``.

    Returns
    -------
    dict
        From symbol name to number.

    Raises
    ------
    InputError
        If the file cannot be read, is not JSON, or is not an object from symbol to number.
    """
    name = "standard input" if source == "-" else source
    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
        point = json.loads(text, object_pairs_hook=_without_duplicates)
    except OSError as problem:
        raise InputError(f"{name}: {problem.strerror or problem}; give a readable JSON file, or - ") from None
    except UnicodeDecodeError:
        raise InputError(f"{name}: not text in UTF-8; {_EXAMPLE}") from None
    except json.JSONDecodeError as problem:
        raise InputError(f"{name}:{problem.lineno}: not JSON ({problem.msg}); {_EXAMPLE}") from None
    except InputError as problem:
        raise InputError(f"{name}: {problem}") from None
    except (RecursionError, ValueError):  # nested too deep, or an integer of thousands of digits
        raise InputError(f"{name}: not a plain JSON object of numbers; {_EXAMPLE}") from None
    if not isinstance(point, dict):
        raise InputError(f"{name}: holds a {type(point).__name__}; give a JSON object from symbol to number")
    for symbol, value in point.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{name}: {symbol} is {json.dumps(value)[:40]}; give a number")
    return point


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{twice} is given twice; keep one")
    return dict(pairs)
