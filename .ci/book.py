"""Build the site into `_build/html`, or do nothing where it is current.

    python .ci/book.py [--fresh]

One rule decides, so that no page can be stale: a digest of every file that can reach a page, and the number of tests,
which a page tells, are recorded after a build without a warning. The same record and an untouched site: nothing to
do. Anything else: build from an empty folder. A build that fails or warns records nothing, so the next one is red as
well.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import guards
from rlmkb.views.status import count_tests

ROOT = guards.ROOT
# What can reach a page. Tests, binder and workflows cannot.
SOURCES = [
    "_config.yml", "_toc.yml", "requirements.txt", "pyproject.toml", "book", "data", "rlmkb", ".ci",
    "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "LICENSE-text", "NOTICE",
]  # fmt: skip
BY_PRODUCTS = {"__pycache__", ".ipynb_checkpoints"}


def build(root: Path = ROOT, fresh: bool = False) -> int:
    """Bring the site up to date; returns the exit code."""
    site, record = root / "_build" / "html", root / "_build" / "made-from.json"
    if not fresh and is_current(root):
        print("the book is up to date")
        return _tell(site)
    started, sources = time.monotonic(), made_from(root)
    shutil.rmtree(root / "_build", ignore_errors=True)
    if guards.report(guards.all_problems(root)):
        return 1
    jupyter_book = str(Path(sys.executable).with_name("jupyter-book"))
    command = [jupyter_book, "build", str(root), "-W", "-n", "--keep-going", "-q"]
    environment = {**os.environ, "NO_COLOR": "1"}
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    built = subprocess.run(command, cwd=root, env=environment, check=False, **output)
    if built.returncode:
        print(built.stdout, "error: the book has warnings or errors, see above", sep="\n", file=sys.stderr)
        return 1
    missing = [page for page in guards.toc_pages(root) if not (site / f"{page}.html").is_file()]
    if guards.report(f"{page} is listed in _toc.yml but was not built" for page in missing):
        return 1
    record.write_text(json.dumps(sources | {"site": digest(site, ["."])}), encoding="utf-8")
    print(f"built {len(guards.toc_pages(root))} pages in {time.monotonic() - started:.0f} s")
    return _tell(site)


def is_current(root: Path = ROOT) -> bool:
    """Is the site in `_build` what the present sources give, and complete?"""
    record = root / "_build" / "made-from.json"
    if not record.is_file():
        return False
    now = made_from(root) | {"site": digest(root / "_build" / "html", ["."])}
    return json.loads(record.read_text(encoding="utf-8")) == now


def made_from(root: Path) -> dict[str, str | int]:
    """What the pages depend on."""
    return {"sources": digest(root, SOURCES), "tests": count_tests(root / "tests")}


def digest(folder: Path, names: Iterable[str]) -> str:
    """SHA-256 over the names and contents of all files below `names`, and over the Python that reads them."""
    total = hashlib.sha256(sys.version.encode())
    for name in names:
        top = folder / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and not BY_PRODUCTS & set(path.parts):
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                total.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return total.hexdigest()


def _tell(site: Path) -> int:
    print(f"open {(site / 'index.html').as_uri()}")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fresh", action="store_true", help="build from an empty folder even if nothing changed")
    raise SystemExit(build(fresh=parser.parse_args().fresh))
