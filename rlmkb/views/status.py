"""How much of the book there is: counted when a page is built."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

from rlmkb.views.markup import table_html

_TEST = re.compile(r"^ *def test_", re.MULTILINE)


def count_tests(folder: Path) -> int:
    """Tests below a folder; one that runs on many inputs counts once.

    Examples
    --------
    >>> count_tests(Path("no such folder"))
    0
    """
    return sum(len(_TEST.findall(path.read_text(encoding="utf-8"))) for path in sorted(folder.rglob("test_*.py")))


def code_cells(notebooks: Iterable[Path]) -> int:
    """Cells of code in some notebooks."""
    cells = (cell for path in notebooks for cell in json.loads(path.read_text(encoding="utf-8"))["cells"])
    return sum(cell["cell_type"] == "code" for cell in cells)


def status_html(root: Path, notebooks: Iterable[Path]) -> str:
    """Table of counts.

    Parameters
    ----------
    root : Path
        The checkout.
    notebooks : iterable of Path
        The chapters that are executed.
    """
    from rlmkb.catalogue.queries import ALL_KINDS, list_entries
    from rlmkb.notation import SYMBOLS
    from rlmkb.theory.tables import table
    from rlmkb.views.downloads import BIBLIOGRAPHY, files
    from rlmkb.views.symbols import COST_TABLES

    cells = [cell for id in COST_TABLES for cell in table(id).cells]
    chapters = list(notebooks)
    entries = {f"catalogue: {kind}": len(list_entries(kind)) for kind in ALL_KINDS}
    counts = {
        "cells of tables III to IX, each a formula": len(cells),
        "different expressions in them": len({cell.formula.expr for cell in cells}),
        "symbols, with those of single models": len(SYMBOLS),
        "chapters that are executed and compared": len(chapters),
        "their cells of code": code_cells(chapters),
        "test functions": count_tests(root / "tests"),
        **entries,
        "works in the bibliography": files()[BIBLIOGRAPHY].count("\n@"),
    }
    return table_html(["What", "Count"], [[what, count] for what, count in counts.items()], name="Status")
