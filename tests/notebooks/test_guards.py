"""The rules of `.ci/guards.py`: the book keeps them, and each breach is noticed."""

import copy
import json
import subprocess
import sys

import pytest
import yaml

import guards

CONFIG = yaml.safe_load((guards.ROOT / "_config.yml").read_text(encoding="utf-8"))


def code_cell(source="print(1 + 1)", count=1, outputs=None, tags=None, identity="a"):
    shown = [{"output_type": "stream", "name": "stdout", "text": ["2\n"]}] if outputs is None else outputs
    metadata = {"tags": tags} if tags else {}
    return {"cell_type": "code", "execution_count": count, "id": identity, "metadata": metadata,
            "outputs": shown, "source": source}  # fmt: skip


def result(**data):
    """The value of a last expression, by mime type with an underscore for the slash."""
    named = {key.replace("_", "/"): [text] for key, text in data.items()}
    return [{"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": named}]


def stderr(text):
    return [{"output_type": "stream", "name": "stderr", "text": [text]}]


def error(name="ZeroDivisionError"):
    return [{"output_type": "error", "ename": name, "evalue": "division by zero", "traceback": []}]


@pytest.fixture
def problems(tmp_path):
    """A function that writes a notebook of the given code cells and returns its problems."""

    def check(*cells, **changes):
        notebook = {"cells": list(cells), "metadata": guards.METADATA, "nbformat": 4, "nbformat_minor": 5}
        path = tmp_path / "chapter.ipynb"
        path.write_text(json.dumps(notebook | changes))
        return guards.notebook_problems(path)

    return check


def test_the_book_keeps_every_rule():
    assert guards.all_problems() == []


def test_a_sound_notebook_has_no_problems(problems):
    assert problems(code_cell(), code_cell("2", 2, result(text_plain="2"), identity="b")) == []
    assert problems(code_cell("1 / 0", outputs=error(), tags=["raises-exception"])) == []
    html = result(text_plain="<IPython.core.display.HTML object>", text_html="<b>2</b>")
    assert problems(code_cell("HTML('<b>2</b>')", outputs=html)) == []


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        (code_cell("1 / 0", outputs=error()), "failed: ZeroDivisionError"),
        (code_cell(outputs=stderr("UserWarning: x")), "wrote to stderr"),
        (code_cell("x\n" * 21), "21 lines"),
        (code_cell("  "), "is empty"),
        (code_cell("object()", outputs=result(text_plain="<object at 0x7f00aa11bb22>")), "memory address"),
        (code_cell("f", outputs=result(text_plain="<function f>")), "bare object"),
        (code_cell("chart", outputs=result(text_plain="alt.Chart(...)")), "bare object"),
        (code_cell("x", outputs=result(text_plain="np.float64(0.5)")), "NumPy scalar"),
        (code_cell(tags=["hide-imput"]), "tag 'hide-imput'"),
        (code_cell(tags=["skip-execution"]), "tag 'skip-execution'"),
        (code_cell(tags=["nbval-skip"]), "tag 'nbval-skip'"),
        (code_cell("# NBVAL_IGNORE_OUTPUT\nprint(2)"), "switches off"),
        (code_cell("!ls"), "not plain Python"),
        (code_cell("%time x"), "not plain Python"),
        (code_cell("open('x')"), "opens a file"),
        (code_cell("load('../data/x')"), "names the file"),
        (code_cell("load('sizes.csv')"), "names the file"),
        (code_cell("load('https://example.org/x')"), "without a network"),
        (code_cell("import urllib.request"), "without a network"),
        (code_cell("from requests import get"), "without a network"),
        (code_cell("import sys\nsys.path.append('x')"), "sys.path"),
    ],
)
def test_a_bad_cell_is_noticed(problems, cell, told):
    found = problems(code_cell(), cell | {"id": "b", "execution_count": 2})
    assert len([line for line in found if line.startswith("code cell 2: ") and told in line]) == 1, found


@pytest.mark.parametrize("counts", [(None,), (2,), (1, None), (1, 3), (2, 1), (1, 1)])
def test_an_unexecuted_cell_is_noticed(problems, counts):
    cells = [code_cell(count=count, identity=f"{place}") for place, count in enumerate(counts)]
    assert [line for line in problems(*cells) if "not executed from top to bottom" in line]
    cleared = [cell | {"outputs": []} for cell in cells]
    assert [line for line in problems(*cleared) if "no output is compared" in line]


def test_an_uncompared_output_needs_a_reason(problems):
    tags = ["nbval-ignore-output"]
    assert any("not compared" in line for line in problems(code_cell(), code_cell(count=2, tags=tags, identity="b")))
    given = code_cell("# not compared: a duration\nprint(2)", 2, tags=tags, identity="b")
    assert problems(code_cell(), given) == []
    assert problems(given | {"execution_count": 1}) == ["no output is compared; show at least one result"]


def test_a_notebook_out_of_form_is_noticed(problems):
    kernel = {"kernelspec": {"name": "mine"}}
    assert any("metadata" in line for line in problems(code_cell(), metadata=kernel))
    assert any("format 4.5" in line for line in problems(code_cell(), nbformat_minor=4))
    assert any("ids" in line for line in problems(code_cell(), code_cell(count=2)))
    assert any("no code cell" in line for line in problems())


@pytest.mark.parametrize(
    ("link", "found"),
    [
        ("https://github.com/a/b", 1),
        ("https://github.com/a/b.c/", 1),
        ("https://github.com/a/b/blob/0f7d9aa/c.md#L3", 0),
        ("https://github.com/a/b/commit/0f7d9aa", 0),
        ("https://github.com/a", 0),
        ("https://example.org/a/b", 0),
    ],
)
def test_a_link_to_a_repository_without_a_file_is_noticed(tmp_path, link, found):
    text = f"Measured ([data]({link}))."
    page, chapter = tmp_path / "page.md", tmp_path / "chapter.ipynb"
    page.write_text(text)
    cell = {"cell_type": "markdown", "id": "b", "metadata": {}, "source": [text]}
    chapter.write_text(json.dumps({"cells": [code_cell(f"'{link}'"), cell]}))
    assert [len(guards.link_problems(path)) for path in (page, chapter)] == [found, found]


def test_a_file_that_is_no_notebook_is_noticed(tmp_path):
    (tmp_path / "x.ipynb").write_text("<html>")
    assert "not a notebook" in guards.notebook_problems(tmp_path / "x.ipynb")[0]


@pytest.fixture
def book_folder(tmp_path):
    (tmp_path / "book" / "_static").mkdir(parents=True)
    for name in ("index.md", "one.md", "_static/notes.md"):
        (tmp_path / "book" / name).write_text("# Page\n")
    toc = {"format": "jb-book", "root": "book/index", "parts": [{"caption": "A", "chapters": [{"file": "book/one"}]}]}
    (tmp_path / "_toc.yml").write_text(yaml.safe_dump(toc))
    return tmp_path


def test_a_complete_table_of_contents_has_no_problems(book_folder):
    assert guards.toc_problems(book_folder) == []
    assert guards.toc_pages(book_folder) == ["book/index", "book/one"]


def test_entries_of_the_catalogue_that_a_pattern_names_are_pages(book_folder):
    (book_folder / "data" / "things").mkdir(parents=True)
    for name in ("b-1.5.yml", "a.yml", "notes.txt"):
        (book_folder / "data" / "things" / name).write_text("id: x\n")
    toc = yaml.safe_load((book_folder / "_toc.yml").read_text())
    toc["parts"][0]["chapters"][0]["sections"] = [{"glob": "data/things/*"}]
    (book_folder / "_toc.yml").write_text(yaml.safe_dump(toc))
    assert guards.toc_pages(book_folder)[1:] == ["book/one", "data/things/a", "data/things/b-1.5"]
    assert guards.toc_problems(book_folder) == []


def test_a_missing_page_is_noticed(book_folder):
    (book_folder / "book" / "one.md").unlink()
    assert guards.toc_problems(book_folder) == ["_toc.yml: book/one has no .md or .ipynb file"]


def test_a_page_that_nobody_lists_is_noticed(book_folder):
    (book_folder / "book" / "two.ipynb").write_text("{}")
    assert "book/two is not listed" in guards.toc_problems(book_folder)[0]


def test_a_page_with_two_files_is_noticed(book_folder):
    (book_folder / "book" / "one.ipynb").write_text("{}")
    assert guards.toc_problems(book_folder) == ["book/one exists as .md and as .ipynb"]


def test_the_configuration_has_no_unknown_key():
    assert guards.config_problems(CONFIG) == []


@pytest.mark.parametrize(
    "place",
    [
        (),
        ("execute",),
        ("html",),
        ("repository",),
        ("launch_buttons",),
        ("parse",),
        ("sphinx",),
        ("sphinx", "config", "html_context"),
    ],
)
def test_a_misspelt_key_is_noticed_in_every_section(place):
    config = copy.deepcopy(CONFIG)
    section = config
    for key in place:
        section = section[key]
    name, value = next(iter(section.items()))
    section[f"{name[:-1]}_"] = value
    found = guards.config_problems(config)
    assert len(found) == 1
    assert f"{name[:-1]}_ is not a key" in found[0]


def test_the_command_names_the_problem_and_fails():
    done = subprocess.run([sys.executable, guards.__file__], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert guards.report(["x: y"]) == 1
    assert guards.report([]) == 0
