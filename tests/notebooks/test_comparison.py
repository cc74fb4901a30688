"""The strict comparison of stored outputs, run as `make test` runs it, on notebooks that must turn it red."""

import subprocess
import sys

import nbformat
import pytest

import execute
import guards

pytestmark = pytest.mark.slow  # each starts pytest and a kernel


@pytest.fixture
def compare(tmp_path):
    """A function that executes cells, lets a test spoil the file, and runs the comparison on it."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "conftest.py").write_bytes((guards.ROOT / "tests" / "conftest.py").read_bytes())
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    notebook: x\n    site: x\nfilterwarnings = error\n")

    def run(*sources, spoil=lambda text: text, options=()):
        path = tmp_path / "chapter.ipynb"
        nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in sources]), path)
        path.write_text(spoil(execute.executed(path)))
        command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "-p", "no:cacheprovider", "-q"]
        command += [*options, "tests", path.name]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    return run


def test_true_outputs_pass(compare):
    code, said = compare("x = 20", "print(x)\nx + 1")
    assert code == 0, said


def test_a_wrong_number_fails(compare):
    code, said = compare("print(20)", spoil=lambda text: text.replace('"20\\n"', '"21\\n"'))
    assert code == 1
    assert "1 failed" in said


def test_a_lost_output_fails(compare):
    code, said = compare("print(20)", spoil=lambda text: text.replace('"20\\n"', ""))
    assert code == 1, said


def test_a_cell_past_its_time_fails(compare):
    """nbval marks what follows such a cell as expected to fail."""
    slowed = {"spoil": lambda text: text.replace("sleep(0)", "sleep(3)"), "options": ["--nbval-cell-timeout=0.5"]}
    code, said = compare("import time\ntime.sleep(0)", "1", **slowed)
    assert code == 1
    assert "1 failed" in said
    assert "here every test counts" in said


def test_a_skipped_test_fails(compare, tmp_path):
    test = "import pytest\n\ndef test_x():\n    pytest.importorskip('nothing')\n"
    (tmp_path / "tests" / "test_x.py").write_text(test)
    code, said = compare("print(1)")
    assert code == 1
    assert "here every test counts" in said
