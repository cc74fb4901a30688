"""What a pull request changes in the catalogue, as Markdown for the summary of a workflow.

    python -m rlmkb.views.catalogue.difference BEFORE AFTER

Both are folders `data`. Entries that cannot be read are named, and the rest is still shown.
"""

import functools
import re
import sys
from collections.abc import Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

from rlmkb.catalogue import KINDS, schema_of
from rlmkb.catalogue.features import FEATURES
from rlmkb.errors import InputError
from rlmkb.views.catalogue.states import LOOKS, short_name
from rlmkb.views.catalogue.text import markdown, number_of
from rlmkb.views.catalogue_text import row_of

_WORDS = {"unknown": "unknown"}  # its symbol is its short form
SYMBOLS = {"yes": "●", "partial": "◐", "no": "○", "unknown": "?", "not_applicable": "–"}
_ADDRESS = re.compile(r"https://[!#-;=?-~]+")
MOST = 60  # problems that are listed
LONGEST = 500_000  # characters; a summary may have a mebibyte


def difference(before: Path, after: Path) -> str:
    """Markdown that shows each changed entry before and after.

    Parameters
    ----------
    before, after : pathlib.Path
        Folders with one folder a kind.

    Returns
    -------
    str
        Nothing that an entry says is markup in it.
    """
    sections = [section for kind in KINDS for section in _kind(kind, before / kind, after / kind)]
    head = f"## Catalogue: {number_of(len(sections), 'entry', 'entries')} changed"
    kept = [text for text, end in zip(sections, accumulate(map(len, sections)), strict=True) if end <= LONGEST]
    more = [f"… and {len(sections) - len(kept)} more."] if len(sections) > len(kept) else []
    return "\n\n".join([head, _checked(after), *kept, *more]) + "\n"


def _checked(folder: Path) -> str:
    """What the check says, the problems that must be mended first."""
    from rlmkb.catalogue import check
    from rlmkb.catalogue_rules import RULES

    report = check([folder], rules=RULES)
    lines = [f"- **{problem.code}** {markdown(str(problem))}" for problem in (*report.must_fix, *report.advice)]
    title = "The check passes" if report.passed else f"{number_of(len(report.must_fix), 'problem')} to mend"
    advice = f", {number_of(len(report.advice), 'piece', 'pieces')} of advice" if report.advice else ""
    return "\n".join([f"**{title}{advice}.**", "", *lines[:MOST]]).strip()


def _kind(kind: str, before: Path, after: Path) -> Iterator[str]:
    names = sorted({path.name for folder in (before, after) for path in folder.glob("*.yml")})
    for name in names:
        old, new = (folder / name for folder in (before, after))
        if _bytes(old) != _bytes(new):
            yield _entry(kind, old, new)


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _entry(kind: str, old: Path, new: Path) -> str:
    found = [_read(kind, path) for path in (old, new)]
    what = "added" if not old.is_file() else "removed" if not new.is_file() else "changed"
    title = f"### {markdown(f'{kind}/{new.stem}')}, {what}"
    if isinstance(found[1], str):
        return f"{title}\n\nCannot be read: {markdown(found[1])}"
    records = [entry if isinstance(entry, dict) else {} for entry in found]
    return "\n\n".join([title, *_rows(kind, *records), _fields(*map(_flat, records))])


def _read(kind: str, path: Path) -> Mapping[str, Any] | str | None:
    """The entry as plain data, the reason why it cannot be read, or None if it is not there."""
    from rlmkb.catalogue.loading import read_entry

    if not path.is_file():
        return None
    try:
        return read_entry(path, schema_of(kind)).model_dump(mode="json")
    except InputError as error:
        return str(error)


def _rows(kind: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The row of the kind's table, before and after."""
    shown = _states if kind == "frameworks" else functools.partial(row_of, kind)
    found = [(name, shown(record)) for name, record in (("before", old), ("after", new)) if record]
    if not found:
        return []
    columns = ["", *map(markdown, found[0][1])]
    rows = [[name, *map(markdown, row.values())] for name, row in found]
    return ["\n".join(f"| {' | '.join(cells)} |" for cells in [columns, ["---"] * len(columns), *rows])]


def _states(record: Mapping[str, Any]) -> dict[str, str]:
    states = {short_name(feature): record["features"][feature]["state"] for feature in FEATURES}
    return {name: f"{SYMBOLS[state]} {_WORDS.get(state, LOOKS[state].short)}" for name, state in states.items()}


def _flat(value: Any, key: str = "") -> dict[str, str]:
    """Every value by the keys that lead to it."""
    if isinstance(value, Mapping):
        inner = [(f"{key}.{name}" if key else name, item) for name, item in value.items()]
    elif isinstance(value, list):
        inner = [(f"{key}[{place}]", item) for place, item in enumerate(value)]
    else:
        return {} if value is None else {key: str(value)}
    return {name: text for path, item in inner for name, text in _flat(item, path).items()}


def _fields(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    changed = [key for key in dict.fromkeys([*old, *new]) if old.get(key) != new.get(key)]
    if not changed:
        return "Only the form of the file changed."
    rows = [f"| {markdown(key)} | {_shown(old.get(key))} | {_shown(new.get(key))} |" for key in changed]
    table = "\n".join(["| key | before | after |", "| --- | --- | --- |", *rows])
    return f"<details><summary>{number_of(len(changed), 'value')}</summary>\n\n{table}\n\n</details>"


def _shown(text: str | None) -> str:
    """A value; an address can be followed."""
    if text is None:
        return ""
    return f"<{text.replace('|', '%7C')}>" if _ADDRESS.fullmatch(text) else markdown(text)


def main(arguments: list[str]) -> int:
    """Print the difference between two folders."""
    if len(arguments) != 2:
        print("usage: python -m rlmkb.views.catalogue.difference BEFORE AFTER", file=sys.stderr)
        return 2
    print(difference(*map(Path, arguments)), end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
