"""Imports only ever point down: which part of the package may import which, wherever in a file the import stands."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache

import pytest

import guards

PACKAGE = guards.ROOT / "rlmkb"

# from the lowest up; the parts of one line know nothing of each other
LAYERS = (
    ("errors",),
    ("data", "notation"),
    ("catalogue", "measurements", "theory"),
    ("architecture", "simulation", "verification"),
    ("algorithms", "catalogue_rules", "catalogue_tables", "iteration_cost"),
    ("views",),
    ("api", "cli_catalogue"),
    ("cli",),
    ("__main__",),
)
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}


def part_of(path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(source: str, name: str = "<text>") -> Iterator[tuple[int, str]]:
    """Line and part of every import of the package; of its root, only what is a part (not its version)."""
    for node in ast.walk(ast.parse(source, name)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name}:{node.lineno}: give the whole name of what is imported"
            whole = [f"rlmkb.{alias.name}" for alias in node.names]
            modules = whole if node.module == "rlmkb" else [node.module]
        else:
            continue
        for module in modules:
            root, _, rest = module.partition(".")
            if root == "rlmkb" and rest.split(".")[0] in LEVEL:
                yield node.lineno, rest.split(".")[0]


def upward(part: str, imports: Iterable[tuple[int, str]], name: str = "<text>") -> list[str]:
    return [
        f"{name}:{line}: {part} imports {other}, which is not below it"
        for line, other in imports
        if other != part and LEVEL[other] >= LEVEL[part]
    ]


@cache
def files(part: str) -> tuple[tuple[str, list[tuple[int, str]]], ...]:
    """The files of a part, each with its imports."""
    paths = [path for path in PACKAGE.rglob("*.py") if part_of(path) == part]
    return tuple((path.name, list(imported(path.read_text(encoding="utf-8"), path.name))) for path in paths)


def test_every_part_has_its_layer():
    parts = {part_of(path) for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert parts - {"__init__"} == set(LEVEL)


@pytest.mark.parametrize("part", LEVEL)
def test_imports_point_down(part):
    assert files(part)
    assert [told for name, imports in files(part) for told in upward(part, imports, name)] == []


@pytest.mark.parametrize(
    "source",
    [
        "import rlmkb.views.tables",
        "from rlmkb import iteration_cost",
        "def f():\n    from rlmkb.architecture import canonical",
        "if TYPE_CHECKING:\n    from rlmkb.catalogue.models import Model",
    ],
)
def test_an_import_that_points_up_or_sideways_is_found(source):
    assert len(upward("theory", imported(source))) == 1


def test_imports_within_a_part_and_of_the_version_are_fine():
    source = "from rlmkb import __version__\nfrom rlmkb.theory.formula import Term\nfrom rlmkb.notation import symbol"
    assert upward("theory", imported(source)) == []


def test_imports_point_down_in_the_house_of_the_readme_too():
    house = (guards.ROOT / "README.md").read_text(encoding="utf-8").split("## The house")[1].split("```")[1]
    named = re.findall(r"^  (\w+)(?:\.py|/) ", house, re.MULTILINE)
    assert {path.parent.name for path in PACKAGE.glob("*/__init__.py")} <= set(named)
    for place, part in enumerate(named):
        needed = {other for _, imports in files(part) for _, other in imports}
        assert not needed & set(named[:place]), f"{part} imports what stands above it in the README"
