"""Without a browser the pages are not looked at, so the run must be red."""

import subprocess
import sys

import pytest

import guards

pytestmark = pytest.mark.slow


def test_a_missing_browser_fails(site):
    only = ["tests/site/test_behaviour.py", "-k", "root"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *only]
    place = {"cwd": guards.ROOT, "env": {"PATH": "/nowhere"}}
    done = subprocess.run(command, **place, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no browser found" in done.stdout
    assert "apt-get install chromium" in done.stdout
