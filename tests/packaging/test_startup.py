"""`import rlmkb` and `rlmkb --help` are instant: heavy libraries are loaded when they are used."""

import subprocess
import sys
import time

import pytest

HEAVY = ["numpy", "scipy", "sympy", "pandas", "altair", "pydantic", "jax", "yaml", "sphinx"]
RUNS = 7  # the fastest one counts: the others measure what else the machine does


def seconds(*arguments):
    """The least wall time of a fresh Python, with its start, over several runs."""
    best = float("inf")
    for _ in range(RUNS):
        started = time.perf_counter()
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
        best = min(best, time.perf_counter() - started)
    return best


def loaded(program):
    """The heavy libraries that a program loads."""
    report = f"import sys; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", f"{program}\n{report}"], capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[-2].split()


def test_import_is_instant():
    assert seconds("-c", "import rlmkb") < 0.3


def test_help_is_instant():
    assert seconds("-m", "rlmkb", "--help") < 0.4


@pytest.mark.parametrize(
    "program",
    [
        "import rlmkb",
        "import rlmkb.cli\ntry: rlmkb.cli.main(['--help'])\nexcept SystemExit: pass",
        "import rlmkb.cli\ntry: rlmkb.cli.main(['table', '--help'])\nexcept SystemExit: pass",
    ],
    ids=["import", "help", "help of a command"],
)
def test_nothing_heavy_is_loaded(program):
    assert loaded(program) == []


def test_the_check_sees_a_loaded_library():
    assert loaded("import yaml") == ["yaml"]
