"""The wheel: it carries the data and the licences, and works away from the checkout."""

import subprocess
import sys
import zipfile

import pytest

import guards

ROOT = guards.ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


def test_the_wheel_carries_package_data_and_licences(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    data = {path.relative_to(ROOT / "data").as_posix() for path in (ROOT / "data").rglob("*") if path.is_file()}
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "rlmkb").rglob("*.py")}
    assert data
    assert {f"rlmkb/_data/{name}" for name in data} <= names
    assert modules <= names
    licences = {name.rsplit("/", 1)[1] for name in names if "/licenses/" in name}
    assert {"LICENSE", "LICENSE-text", "NOTICE"} <= licences
    assert not [name for name in names if name.startswith(("tests/", "book/"))]


def test_an_installed_wheel_finds_its_own_data(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    program = "import rlmkb, rlmkb.data; print(rlmkb.__file__, rlmkb.data.data_path('references.bib'), sep='\\n')"
    place = {"cwd": tmp_path, "env": {"PYTHONPATH": str(tmp_path / "installed")}}
    done = subprocess.run([sys.executable, "-c", program], **place, capture_output=True, text=True, check=True)
    package, references = done.stdout.splitlines()
    assert package.startswith(str(tmp_path))
    assert references == str(tmp_path / "installed" / "rlmkb" / "_data" / "references.bib")
