"""The README's commands and Python lines give the output that stands below them."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from rlmkb.cli import main

README = Path(__file__).resolve().parents[1] / "README.md"
CONSOLE = re.findall(r"^\$ (rlmkb .+)\n((?:(?!```).*\n)*)```", README.read_text(encoding="utf-8"), re.MULTILINE)


def test_python_lines():
    text = README.read_text(encoding="utf-8").replace("```", "")
    lines = doctest.DocTestParser().get_doctest(text, {}, "README", str(README), 0)
    result = doctest.DocTestRunner().run(lines)
    assert result.attempted >= 4
    assert result.failed == 0


@pytest.mark.parametrize(("command", "output"), CONSOLE, ids=[command for command, _ in CONSOLE])
def test_command_prints_what_is_shown(command, output, capsys):
    assert main(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out.strip() == output.strip()


def test_there_is_a_command():
    assert CONSOLE


def test_the_house_names_every_package():
    house = README.read_text(encoding="utf-8").partition("## The house")[2].partition("```\n\n")[0]
    packages = {path.parent.name for path in (README.parent / "rlmkb").glob("*/__init__.py")}
    assert packages == set(re.findall(r"^  (\w+)/ ", house, re.MULTILINE))
