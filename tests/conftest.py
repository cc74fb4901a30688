"""Rules of a test run: what runs when, and that nothing is passed over in silence."""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent
# Their tests compile programs with JAX, which takes most of their time: not for the quick part.
COMPILED = (TESTS / "algorithms", TESTS / "verification", TESTS.parent / "rlmkb" / "algorithms",
            TESTS.parent / "rlmkb" / "verification")  # fmt: skip
PASSED_OVER = ("skipped", "xfailed", "xpassed")

# A slow machine is no fault of the code; CI draws the same examples every time.
settings.register_profile("rlmkb", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("rlmkb")


def pytest_collection_finish():
    """Leave what was collected, which stays to the end, out of every later search for unused objects."""
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)


def pytest_collection_modifyitems(items):
    """Mark what only `make test` runs: cells of notebooks, and tests of the built site."""
    for item in items:
        if item.path.suffix == ".ipynb":
            item.add_marker("notebook")
        elif item.path.is_relative_to(TESTS / "site"):
            item.add_marker("site")
        elif any(item.path.is_relative_to(folder) for folder in COMPILED):
            item.add_marker("slow")


def pytest_sessionfinish(session):
    """A test that was skipped or expected to fail turns the run red.

    A missing browser or library would otherwise skip its checks, and nbval turns the rest of a notebook into
    expected failures after a cell that takes too long.
    """
    if passed_over(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    if passed_over(terminalreporter.config):
        terminalreporter.write_line("failed: a test was skipped or expected to fail; here every test counts", red=True)


def passed_over(config):
    """The skipped and expectedly failed tests; with xdist only the controlling process knows them."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return [report for kind in PASSED_OVER for report in reporter.stats.get(kind, [])] if reporter else []
