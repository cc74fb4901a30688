"""data/references.bib: well formed, sorted, with sound links; and every citation in the book resolves."""

import json
import re
from pathlib import Path

import pytest
from pybtex.database import parse_file

from rlmkb.catalogue import entries
from rlmkb.data import data_path

BIB = data_path("references.bib")
TEXT = BIB.read_text(encoding="utf-8")
KEYS = re.findall(r"^@\w+\{(.*),$", TEXT, re.M)
BOOK = Path(__file__).resolve().parents[1] / "book"
REQUIRED = {
    "article": {"journal", "title", "year"},
    "inproceedings": {"booktitle", "title", "year"},
    "misc": {"title", "year"},
    "book": {"publisher", "title", "year"},
}
CITATION = re.compile(r"\{cite(?::[a-z]+)?\}`([^`]+)`")


def cited(text: str) -> set[str]:
    return {key.strip() for group in CITATION.findall(text) for key in group.split(",")}


def markdown(path: Path) -> str:
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def test_keys_are_unique_sorted_and_of_one_form():
    assert sorted(KEYS) == KEYS
    assert len(set(KEYS)) == len(KEYS) > 100
    assert not [key for key in KEYS if not re.fullmatch(r"[a-z]+\d{4}[a-z][a-z0-9]+", key)]


@pytest.mark.filterwarnings("error")
def test_every_entry_has_its_fields_and_a_way_to_find_the_work():
    database = parse_file(str(BIB))
    assert list(database.entries) == KEYS
    for key, entry in database.entries.items():
        assert set(entry.fields) >= REQUIRED[entry.type], key
        assert entry.persons.get("author"), key
        assert {"doi", "url", "eprint"} & set(entry.fields), key
        assert entry.fields["year"] == re.search(r"\d{4}", key)[0], key
        assert entry.fields["title"].startswith("{"), f"{key}: braces keep the title's capitals"


def test_links_are_https_and_identifiers_are_bare():
    database = parse_file(str(BIB))
    for key, entry in database.entries.items():
        fields = entry.fields
        assert fields.get("url", "https://").startswith("https://"), key
        assert re.fullmatch(r"10\.\d{4,}/\S+", fields.get("doi", "10.0000/x")), key
        assert re.fullmatch(r"\d{4}\.\d{4,5}", fields.get("eprint", "0000.00000")), key
    assert "http://" not in TEXT


def test_no_work_stands_twice():
    database = parse_file(str(BIB))
    for name in ("title", "doi", "url", "eprint"):
        values = [entry.fields[name] for entry in database.entries.values() if name in entry.fields]
        assert len(set(values)) == len(values), name


def test_citations_of_the_book_resolve():
    pages = [path for path in BOOK.rglob("*") if path.suffix in {".md", ".ipynb"} and "_" not in path.parts[-2][:1]]
    assert pages
    missing = {(path.name, key) for path in pages for key in cited(markdown(path)) - set(KEYS)}
    assert not missing


def test_references_of_the_catalogue_resolve():
    for id, entry in entries("algorithms").items():
        assert set(entry.references) <= set(KEYS), id


def test_the_citation_pattern_sees_what_the_book_writes():
    assert cited("as {cite:p}`a2020b, c2021d` and {cite:t}`e2022f`, {cite}`g2023h`") == {
        "a2020b",
        "c2021d",
        "e2022f",
        "g2023h",
    }
