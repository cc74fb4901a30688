"""Execute the notebooks of the book in place, or check that executing them changes nothing.

    python .ci/execute.py [NOTEBOOK ...] [--jobs N] [--check]

What is stored is the same on every machine: cells numbered from 1, no times, no versions, no kernel of one's own. A
notebook is replaced in one step after all its cells have run; one that fails is left as it was.
"""

import argparse
import asyncio
import hashlib
import os
import re
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import ipykernel.kernelspec
import nbformat
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from guards import METADATA, ROOT, notebook_problems, notebooks

CELL_TIMEOUT = 120  # seconds


class ThisPython(AsyncKernelManager):
    """Starts the Python that runs this script, whatever kernels the machine has installed."""

    @property
    def kernel_spec(self) -> KernelSpec:
        quiet = ["--log-level=ERROR"]  # else each kernel warns that local TCP is not encrypted
        return KernelSpec(**ipykernel.kernelspec.get_kernel_dict(extra_arguments=quiet))


def executed(path: Path) -> str:
    """The notebook's text after running all its cells; raises CellExecutionError at the first that fails."""
    notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    normalise(notebook)
    client = NotebookClient(
        notebook,
        kernel_manager_class=ThisPython,
        timeout=CELL_TIMEOUT,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    asyncio.run(client.async_execute())
    normalise(notebook)
    return nbformat.writes(notebook) + "\n"


def normalise(notebook: nbformat.NotebookNode) -> None:
    """Drop what differs between machines and runs: metadata, times, counts that do not start at 1."""
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.cells = [cell for cell in notebook.cells if cell.source.strip()]
    number = 0
    for position, cell in enumerate(notebook.cells):
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.from_dict({"tags": list(tags)} if tags else {})
        cell.setdefault("id", hashlib.sha256(f"{position}{cell.source}".encode()).hexdigest()[:8])
        if cell.cell_type == "code":
            number += 1
            cell.execution_count = number
            for output in cell.outputs:
                if "execution_count" in output:
                    output.execution_count = number


def process(path: Path, check: bool) -> list[str]:
    """Execute one notebook; returns what is wrong with it, one entry per problem."""
    before = path.read_text(encoding="utf-8")
    try:
        after = executed(path)
    except CellExecutionError as error:
        return [f"a cell failed; the file is unchanged\n{_indented(str(error))}"]
    except Exception as error:  # a kernel that dies or a cell past its time: any of them is this notebook's problem
        return [f"{type(error).__name__}: {error}; the file is unchanged"]
    if check:
        return [] if after == before else ["executing it changes it; run `make execute`"]
    if after != before:
        replace(path, after)
    return notebook_problems(path)


def replace(path: Path, text: str) -> None:
    """Write a file in one step: a reader, or an interruption, sees the old text or the new, never a part."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8", newline="\n")
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def run(paths: list[Path], jobs: int, check: bool, say: Callable[[str], None] = print) -> int:
    """Process the notebooks, `jobs` at a time, and report progress; the number that have problems."""
    started, failed = time.monotonic(), 0
    with ThreadPoolExecutor(jobs) as pool:  # threads suffice: the work is done by the kernels
        tasks = {pool.submit(_timed, path, check): path for path in paths}
        for count, task in enumerate(as_completed(tasks), start=1):
            problems, seconds = task.result()
            failed += bool(problems)
            name = os.path.relpath(tasks[task], ROOT)
            say(f"[{count}/{len(paths)}] {name}  {seconds:.1f} s  {'FAILED' if problems else 'ok'}")
            for line in problems:
                say(f"    {line}")
    say(f"{len(paths)} notebooks in {time.monotonic() - started:.0f} s, {failed} failed")
    return failed


def _timed(path: Path, check: bool) -> tuple[list[str], float]:
    started = time.monotonic()
    return process(path, check), time.monotonic() - started


def _indented(text: str) -> str:
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return "\n".join(f"        {line}" for line in plain.strip().splitlines())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path, metavar="NOTEBOOK", help="default: all of the book")
    parser.add_argument("--jobs", type=int, default=2, help="notebooks at a time (default 2)")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the outputs would change")
    options = parser.parse_args()
    paths = [path.absolute() for path in options.paths] or notebooks()
    missing = [path for path in paths if not path.is_file()]
    if missing:
        print(f"error: no such notebook: {missing[0]}", file=sys.stderr)
        return 2
    return 1 if run(paths, options.jobs, options.check) else 0


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    raise SystemExit(main())
