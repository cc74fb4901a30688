"""`.ci/execute.py`: what is stored depends on the code alone, and a failing notebook stays as it was."""

import json

import nbformat
import pytest

import execute
import guards

pytestmark = pytest.mark.slow  # each starts kernels


@pytest.fixture
def write(tmp_path):
    """A function that writes a notebook of the given sources, as a contributor's editor may have left it."""

    def make(*sources, name="chapter.ipynb"):
        cells = [nbformat.v4.new_code_cell(source) for source in sources]
        for cell in cells:
            cell.metadata = {"collapsed": True, "tags": ["hide-input"], "execution": {"iopub.status": "2026-01-01"}}
        language = {"name": "python", "version": "3.99.0"}
        metadata = {"kernelspec": {"name": "mine", "display_name": "Mine"}, "language_info": language}
        path = tmp_path / name
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), path)
        return path

    return make


def outcome(paths, check=False):
    said = []
    return execute.run(paths, jobs=2, check=check, say=said.append), "\n".join(said)


def test_outputs_are_stored_in_the_common_form(write):
    path = write("value = 41", "", "print('a')\nprint('b')", "value + 1")
    identities = [cell["id"] for cell in json.loads(path.read_text())["cells"]]
    failed, said = outcome([path])
    assert failed == 0, said
    notebook = json.loads(path.read_text())
    assert notebook["metadata"] == guards.METADATA
    assert [cell["execution_count"] for cell in notebook["cells"]] == [1, 2, 3]
    assert [cell["id"] for cell in notebook["cells"]] == [identities[0], *identities[2:]]
    assert [cell["metadata"] for cell in notebook["cells"]] == [{"tags": ["hide-input"]}] * 3
    assert notebook["cells"][2]["outputs"][0]["data"] == {"text/plain": ["42"]}
    first = path.read_bytes()
    assert outcome([path])[0] == 0
    assert path.read_bytes() == first
    assert outcome([path], check=True)[0] == 0


def test_a_failing_cell_is_told_and_leaves_no_trace(write, tmp_path):
    bad, good = write("x = 1", "x / 0"), write("print(1)", name="good.ipynb")
    before = bad.read_bytes()
    failed, said = outcome([bad, good])
    assert failed == 1
    assert "x / 0" in said
    assert "ZeroDivisionError" in said
    assert bad.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chapter.ipynb", "good.ipynb"]


def test_a_warning_counts_as_a_problem(write):
    failed, said = outcome([write("import warnings", "warnings.warn('old')")])
    assert failed == 1
    assert "mend the warning" in said


def test_check_finds_a_stale_output_and_writes_nothing(write):
    path = write("print(1)")
    outcome([path])
    path.write_text(path.read_text().replace('"1\\n"', '"2\\n"'))
    before = path.read_bytes()
    failed, said = outcome([path], check=True)
    assert failed == 1
    assert "make execute" in said
    assert path.read_bytes() == before


def test_an_interrupted_write_leaves_the_old_file(write, monkeypatch):
    path = write("print(1)")
    before = path.read_bytes()
    monkeypatch.setattr(execute.os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        execute.replace(path, "new")
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
