"""One file more: a new entry of each kind passes the check, and every test that reads the data stays green."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rlmkb.catalogue import check, new
from rlmkb.catalogue_rules import RULES

ROOT = Path(__file__).resolve().parents[2]
MADE = ("frameworks", "models", "hardware", "algorithms")
# those of a file that exists, as somebody would fill them in
FILLED = {
    ("architectures", "qwen3-4b"): {"id": "zz-net-4b", "name": '"ZZ-Net 4B"'},
    ("hardware", "gaudi-3"): {"id": "gaudi-4", "name": "Gaudi 4", "vendor": "ZZ"},
    ("models", "glm-4.5"): {"id": "zz-5", "name": "ZZ 5", "released": '"2025-12"'},
    ("algorithms", "simpo"): {"id": "zzpo", "name": "ZZPO", "description": "It leaves out more than others."},
    ("frameworks", "prime-rl"): {"id": "zz-rl", "name": "ZZ RL", "description": "It trains on one device."},
}


def filled(folder):
    """Copies of entries under other names."""
    for (kind, id), changes in FILLED.items():
        text = (folder / kind / f"{id}.yml").read_text(encoding="utf-8")
        for key, value in changes.items():
            text, count = re.subn(rf"^{key}: .*(\n  .*)*", f"{key}: {value}", text, count=1, flags=re.MULTILINE)
            assert count == 1
        path = folder / kind / f"{changes['id']}.yml"
        path.write_text(text, encoding="utf-8")
        yield path


def test_new_entries_of_all_kinds_pass_the_check_together(tmp_path):
    shutil.copytree(ROOT / "data", tmp_path / "data", ignore=shutil.ignore_patterns("measurements"))
    for kind in MADE:
        new(kind, "yy-new", tmp_path / "data" / kind)
        new(kind, "yy-newer", tmp_path / "data" / kind)
    for path in filled(tmp_path / "data"):
        assert path.is_file()
    assert check([tmp_path / "data"], rules=RULES).must_fix == ()


def test_no_notebook_prints_whatever_the_catalogue_holds():
    found = {
        path.name
        for path in (ROOT / "book").rglob("*.ipynb")
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code" and re.search(r"\b(entries|list_entries|export)\(", "".join(cell["source"]))
    }
    assert found == set(), "an entry more would change a stored output; name the entries"


@pytest.mark.slow
def test_new_entries_leave_the_tests_of_the_catalogue_green(tmp_path):
    for name in ("rlmkb", "data", "tests", "book/_static", ".ci", ".github"):
        skipped = shutil.ignore_patterns("vendor", "__pycache__")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=skipped)
    for name in ("pyproject.toml", "_toc.yml", "_config.yml"):
        shutil.copy(ROOT / name, tmp_path)
    for kind in MADE:
        new(kind, "zz-new", tmp_path / "data" / kind)
    assert len(list(filled(tmp_path / "data"))) == len(FILLED)
    tests = ("tests/catalogue", "tests/test_cli_catalogue.py", "tests/architecture", "tests/views/catalogue")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow"]
    done = subprocess.run(
        [*command, *tests, "rlmkb/catalogue", "rlmkb/views/catalogue", "rlmkb/architecture"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout
