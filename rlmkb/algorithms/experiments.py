"""Results that take too long for every test run: written by a command, read by chapters."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from rlmkb.data import data_path
from rlmkb.errors import InputError, nearest

if TYPE_CHECKING:
    import pandas as pd


def document(command: str, about: dict, rows: list[dict]) -> dict:
    """A result with the command that makes it; numbers are kept to four significant digits."""
    return {
        "command": command,
        **about,
        "columns": list(rows[0]),
        "rows": [[_rounded(value) for value in row.values()] for row in rows],
    }


def write(path: Path, result: dict) -> None:
    """Write a document, one row a line."""
    rows = ",\n".join(json.dumps(row) for row in result["rows"])
    head = json.dumps({name: value for name, value in result.items() if name != "rows"}, indent=1)
    path.write_text(f'{head[:-2]},\n "rows": [\n{rows}\n]\n}}\n', encoding="utf-8")


def read(name: str) -> dict:
    """A stored document, ``learning`` or ``staleness``.

    Raises
    ------
    InputError
        If there is no result of that name.

    Examples
    --------
    >>> read("learning")["command"]
    'python -m rlmkb.algorithms.learning'
    """
    path = data_path("experiments", f"{name}.json")
    if not path.is_file():
        there = [file.stem for file in data_path("experiments").glob("*.json")]
        raise InputError(f"there is no stored result {name!r}; there are: {nearest(name, there)}")
    return json.loads(path.read_text(encoding="utf-8"))


def stored(name: str) -> "pd.DataFrame":
    """The rows of a stored document.

    Examples
    --------
    >>> sorted(stored("learning")["algorithm"].unique())
    ['dpo', 'grpo', 'ppo']
    """
    import pandas as pd

    result = read(name)
    return pd.DataFrame(result["rows"], columns=result["columns"])


def _rounded(value: str | int | float) -> str | int | float:
    return float(f"{value:.4g}") if isinstance(value, float) else value
