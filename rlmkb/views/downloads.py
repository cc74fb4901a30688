"""What one can take away from the site: notebooks, the catalogue, the tables of formulas."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from html import escape
from pathlib import Path

from rlmkb.views.markup import Html, number_html, table_html

TABLES = "tables.json"
EVERYTHING = "catalogue.json"
BIBLIOGRAPHY = "references.bib"


@cache
def files() -> Mapping[str, str]:
    """The content of every file that is made for downloading, by name.

    Returns
    -------
    Mapping
        ``KIND.csv`` and ``KIND.json`` for each kind of entry, the tables of measurements as they are stored,
        everything in ``catalogue.json``, the cost tables in ``tables.json``, the bibliography.
    """
    from rlmkb.catalogue import KINDS
    from rlmkb.catalogue.queries import as_csv, export
    from rlmkb.data import data_path
    from rlmkb.theory.tables import table
    from rlmkb.views.symbols import COST_TABLES

    everything = export()
    made = {EVERYTHING: _json(everything), TABLES: _json({id: table(id).as_dict() for id in COST_TABLES})}
    for kind in KINDS:
        made |= {f"{kind}.csv": as_csv(everything[kind]), f"{kind}.json": _json(everything[kind])}
    stored = [*sorted(data_path("measurements").glob("*.csv")), data_path(BIBLIOGRAPHY)]
    return made | {path.name: path.read_text(encoding="utf-8") for path in stored}


def data_html(to: Callable[[str], str]) -> str:
    """Table of the files of :func:`files`; `to` gives the address of a file."""
    made = files()
    texts = [name for name in made if name.endswith((".csv", ".bib"))]
    rows: list[list] = [["the whole catalogue", None, None, _link(EVERYTHING, to)]]
    for text in texts:
        name = text.partition(".")[0]
        document = _link(f"{name}.json", to) if f"{name}.json" in made else None
        title = name if document or text == BIBLIOGRAPHY else f"measurements: {name.replace('_', ' ')}"
        rows.append([title, _count(text), _link(text, to), document])
    formulas = sum(len(one["rows"]) for one in json.loads(made[TABLES]).values())
    rows.append(["formulas of tables III to IX", formulas, None, _link(TABLES, to)])
    return table_html(["What", "Entries", "As text", "As JSON"], rows, name="Data to download")


def _count(name: str) -> int:
    """Entries of a text file: rows of a table below its heading, works of a bibliography."""
    text = files()[name]
    return sum(1 for _ in csv.reader(io.StringIO(text))) - 1 if name.endswith(".csv") else text.count("\n@")


def notebooks_html(notebooks: Iterable[tuple[str, Path]], to: Callable[[str], str]) -> str:
    """Table of the chapters that are notebooks.

    Parameters
    ----------
    notebooks : iterable of (str, Path)
        Name of a page and its file.
    to : callable
        From the name of a page to the address of its notebook.
    """
    rows = [
        [title(path), _anchor(to(name), escape(path.name), path.stat().st_size)]
        for name, path in notebooks
    ]
    return table_html(["Chapter", "Notebook"], rows, name="Notebooks to download")


def title(path: Path) -> str:
    """The first heading of a notebook."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        for line in "".join(cell["source"]).splitlines():
            if cell["cell_type"] == "markdown" and line.startswith("# "):
                return line.removeprefix("# ")
    return path.stem


def _link(name: str, to: Callable[[str], str]) -> Html:
    return _anchor(to(name), escape(name), len(files()[name].encode()))


def _anchor(address: str, text: str, size: int) -> Html:
    shown = number_html(max(1, round(size / 1000)))
    return Html(f'<a href="{escape(address)}" download>{text}</a> <span class="rl-small">{shown} KB</span>')


def _json(document: object) -> str:
    return json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n"
