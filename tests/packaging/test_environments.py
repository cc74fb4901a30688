"""Locks and environments: hashed, complete, in agreement with pyproject.toml and with each other."""

import os
import platform
import re
import subprocess
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import environment
import guards

ROOT = guards.ROOT
PYTHON = platform.python_version()
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def lock_problems(text):
    """Lines of a lock that do not pin one version, and pins without a hash."""
    found = []
    for entry in entries(text):
        first = entry.splitlines()[0].rstrip("\\").strip()
        if not re.fullmatch(r"[a-z0-9-]+==[\w.+!]+( ; .+)?", first):
            found.append(f"{first}: not one version")
        elif "--hash=sha256:" not in entry:
            found.append(f"{first}: no hash")
    return found


def entries(text):
    """The packages of a lock, each with its continuation lines."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return re.findall(r"^\S.*(?:\n[ \t].*)*", "\n".join(lines), re.MULTILINE)


def pins(text, python=PYTHON):
    """The version of each package that a lock holds for a Python on this system."""
    found = [Requirement(entry.splitlines()[0].rstrip("\\")) for entry in entries(text)]
    place = {"python_full_version": python, "python_version": ".".join(python.split(".")[:2])}
    return {
        requirement.name: str(requirement.specifier).removeprefix("==")
        for requirement in found
        if requirement.marker is None or requirement.marker.evaluate(place)
    }


def required(name=None):
    """The requirements of an extra, or of the package itself; extras that name others are followed."""
    project = PYPROJECT["project"]
    for text in project["optional-dependencies"][name] if name else project["dependencies"]:
        requirement = Requirement(text)
        if requirement.name == "rlmkb":
            for other in requirement.extras:
                yield from required(other)
        else:
            yield requirement


LOCK = (ROOT / "requirements.txt").read_text(encoding="utf-8")
BINDER = (ROOT / "binder" / "requirements.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("lock", [LOCK, BINDER], ids=["book", "binder"])
def test_every_package_is_one_version_with_hashes(lock):
    assert len(entries(lock)) > 50
    assert lock_problems(lock) == []


def test_a_loose_or_unhashed_package_is_noticed():
    text = "a==1 \\\n    --hash=sha256:00\n    # via b\nb>=2 \\\n    --hash=sha256:00\nc==3\n"
    assert lock_problems(text) == ["b>=2: not one version", "c==3: no hash"]


@pytest.mark.parametrize("python", ["3.11.0", "3.12.0", "3.13.0"])
@pytest.mark.parametrize(("lock", "name"), [(LOCK, "test"), (BINDER, "binder")], ids=["book", "binder"])
def test_the_lock_satisfies_pyproject(lock, name, python):
    pinned = pins(lock, python)
    build = map(Requirement, PYPROJECT["build-system"]["requires"])
    for requirement in [*required(), *required(name), *build]:
        version = pinned.get(canonicalize_name(requirement.name))
        assert version, f"{requirement.name} is not in the lock; run `make lock`"
        assert requirement.specifier.contains(version), f"{requirement} but the lock has {version}; run `make lock`"


def test_binder_has_no_site_builder_and_agrees_with_the_book():
    python = (ROOT / "binder" / "runtime.txt").read_text().strip().removeprefix("python-")
    binder, book = pins(BINDER), pins(LOCK, python=f"{python}.0")
    unwanted = [name for name in binder if re.match(r"sphinx|jupyter-book|myst|nbval|pytest|playwright|ruff", name)]
    assert unwanted == []
    assert {"jupyterlab", "jax", "ipykernel", "altair"} <= binder.keys()
    assert {name: version for name, version in binder.items() if name in book and book[name] != version} == {}


def test_binder_files_are_what_repo2docker_reads():
    version = (ROOT / "binder" / "runtime.txt").read_text().strip()
    assert re.fullmatch(r"python-3\.1[123]", version)
    build = ROOT / "binder" / "postBuild"
    assert os.access(build, os.X_OK)
    assert build.read_text().startswith("#!/bin/bash\n")
    assert subprocess.run(["bash", "-n", build], check=False).returncode == 0
    assert sorted(path.name for path in (ROOT / "binder").iterdir()) == ["postBuild", "requirements.txt", "runtime.txt"]
    assert not (ROOT / ".binder").exists()


def test_supported_pythons_agree_with_pyproject():
    from packaging.specifiers import SpecifierSet

    allowed = SpecifierSet(PYPROJECT["project"]["requires-python"])
    for minor in range(8, 18):
        assert (environment.refusal((3, minor)) is None) == (f"3.{minor}.0" in allowed), minor


def test_an_unsupported_python_gets_one_line():
    for version, has_pip in [((3, 10), True), ((3, 14), True), ((3, 12), False)]:
        told = environment.refusal(version, has_pip)
        assert told
        assert "\n" not in told
    assert "PYTHON=" in environment.refusal((3, 10))


def test_the_environment_follows_its_ingredients(tmp_path):
    """The lock asks for a new environment, packaging for an installation, settings of tools for nothing."""
    (tmp_path / "requirements.txt").write_text("a==1\n")
    settings = '[build-system]\nrequires = []\n[project]\nname = "x"\n'
    (tmp_path / "pyproject.toml").write_text(settings)
    first = environment.made_from(tmp_path)
    (tmp_path / "pyproject.toml").write_text(settings + "[tool.ruff]\nline-length = 1\n")
    assert environment.made_from(tmp_path) == first
    (tmp_path / "pyproject.toml").write_text(settings.replace('"x"', '"y"'))
    second = environment.made_from(tmp_path)
    assert (second["lock"], second["project"] != first["project"]) == (first["lock"], True)
    (tmp_path / "requirements.txt").write_text("a==2\n")
    assert environment.made_from(tmp_path)["lock"] != first["lock"]


def test_installed_packages_are_the_locked_ones():
    from importlib.metadata import distributions

    pinned = pins(LOCK)
    found = {canonicalize_name(each.metadata["Name"]): each.version for each in distributions()}
    different = {name: found[name] for name in found.keys() & pinned.keys() if found[name] != pinned[name]}
    assert different == {}, "run `make env`"
    assert sys.prefix != sys.base_prefix
