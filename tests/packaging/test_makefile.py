"""The commands: listed, and `make test` leaves nothing out."""

import os
import re
import subprocess

import guards

CLEAN = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}


def make(*arguments):
    done = subprocess.run(["make", *arguments], cwd=guards.ROOT, env=CLEAN, capture_output=True, text=True, check=True)
    return done.stdout


def test_make_alone_lists_the_commands():
    assert {"book", "test", "unit", "execute", "serve", "lock", "binder", "vendor", "clean"} <= listed()


def listed():
    return set(re.findall(r"^make (\w+)", make(), re.MULTILINE))


def test_documented_commands_are_listed():
    pages = [guards.ROOT / name for name in ("README.md", "CONTRIBUTING.md", "DEVELOPERS.md")]
    pages += [path for name in guards.toc_pages() for path in guards.ROOT.glob(f"{name}.*")]
    named = {command for page in pages for command in re.findall(r"`make (\w+)", page.read_text(encoding="utf-8"))}
    assert named <= listed()
    assert "env" in named


def test_the_whole_test_has_every_part():
    script = make("--dry-run", "test")
    for part in ("ruff check", "guards.py", "book.py --fresh", "tests book", "--nbval --nbval-current-env"):
        assert part in script, part


def test_what_one_run_leaves_out_the_other_runs():
    """The quick run excludes exactly what the last step of `make test` selects."""
    script = make("--dry-run", "test")
    selected = re.findall(r'-m "([^"]+)"', script)
    assert sorted(selected) == ["not slow and not notebook and not site", "slow or notebook or site"]
