"""Make or refresh the virtual environment `.venv` from the hashed lock file; do nothing where it is current.

    python3 .ci/environment.py [FOLDER]

Runs on a bare Python. A small file inside the environment records what it was made from: the lock, the Python and
the place (a change makes a new environment, so nothing of the old one survives), and the project's own packaging (a
change only installs the project again). It is written after each step, so an interrupted run counts as not made.
"""

from __future__ import annotations  # an old Python must reach the message, not a syntax error

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLDEST, NEWEST = (3, 11), (3, 13)
RECORD = "made-from.json"


def refusal(version: tuple, has_pip: bool = True) -> str | None:
    """One line that says why this Python cannot make the environment, or None."""
    name = f"{sys.executable} (Python {version[0]}.{version[1]})"
    if not OLDEST <= tuple(version[:2]) <= NEWEST:
        return (
            f"rlmkb needs Python {OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}, not {name}; "
            "name another one, for example: make book PYTHON=python3.12"
        )
    if not has_pip:
        return f"{name} lacks the standard module ensurepip; on Debian: apt-get install python3-venv"
    return None


def made_from(root: Path = ROOT) -> dict[str, str]:
    """Digests of what an environment is made from: `lock` (packages, Python, place) and `project` (packaging)."""
    import tomllib

    pyproject = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    lock = [(root / "requirements.txt").read_text(encoding="utf-8"), sys.version, str(root)]
    project = [pyproject["build-system"], pyproject["project"], pyproject.get("tool", {}).get("hatch")]
    return {"lock": _digest(lock), "project": _digest(project)}


def ensure(folder: Path, root: Path = ROOT) -> None:
    """Bring the environment in `folder` up to date."""
    wanted, record = made_from(root), folder / RECORD
    found = json.loads(record.read_text()) if record.is_file() else {}
    if found.get("lock") != wanted["lock"]:
        print(f"making {folder.name} from requirements.txt (once; about a minute)", flush=True)
        venv.create(folder, clear=True, symlinks=os.name != "nt", with_pip=True)
        _pip(folder, "--require-hashes", "-r", str(root / "requirements.txt"))
        found = {"lock": wanted["lock"]}
        record.write_text(json.dumps(found))
    if found.get("project") != wanted["project"]:
        _pip(folder, "--no-deps", "--no-build-isolation", "--editable", str(root))
        record.write_text(json.dumps(wanted))


def _pip(folder: Path, *arguments: str) -> None:
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    options = ["--quiet", "--disable-pip-version-check", "--no-input"]
    if subprocess.run([str(python), "-m", "pip", "install", *options, *arguments], check=False).returncode:
        raise SystemExit("the environment could not be made; pip says why above")


def _digest(parts: list) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def main() -> None:
    problem = refusal(sys.version_info, importlib.util.find_spec("ensurepip") is not None)
    if problem:
        raise SystemExit(problem)
    ensure(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / ".venv").absolute())


if __name__ == "__main__":
    main()
