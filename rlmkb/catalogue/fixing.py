"""Repairs of a file's form: edits of its lines that lose nothing, written at once or not at all."""

import contextlib
import os
import re
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from rlmkb.catalogue.problems import Edit, Problem
from rlmkb.catalogue.syntax import Mapping, Node, Scalar, Sequence, Value, parse, raw_content
from rlmkb.errors import InputError

_LAYOUT = ("F104", "F105", "F106", "A401", "A402", "A403", "A407")  # may change no value, only where it stands
_ROUNDS = 20  # a repair can make another one possible, such as an order once the tabs are gone

Examine = Callable[[str], list[Problem]]


def repaired(text: str, examine: Examine) -> tuple[str, list[Problem]]:
    """A text with everything mended that a machine can mend, and what was mended.

    Parameters
    ----------
    text : str
        The whole file, as it is.
    examine : callable
        From text to its problems; their `edits` are applied.

    Examples
    --------
    >>> from functools import partial
    >>> from rlmkb.catalogue.style import text_problems
    >>> repaired("\\ufeffa: 1\\n", lambda text: list(text_problems(text, "x.yml")))[0]
    'a: 1\\n'
    """
    mended: list[Problem] = []
    refused: set[tuple] = set()
    for _ in range(_ROUNDS):
        found = [problem for problem in examine(text) if problem.edits and _mark(problem) not in refused]
        problem = min(found, key=lambda problem: (problem.code not in _LAYOUT, problem), default=None)
        if problem is None:
            break
        same = [other for other in found if other.code == problem.code]
        for batch in (same, [problem]):  # all of a rule at once, or where they get in each other's way one by one
            new = _applied(text, [edit for other in batch for edit in other.edits])
            if new != text and _loses_nothing(text, new, batch):
                text, mended = new, mended + batch
                break
        else:
            refused.add(_mark(problem))
    return text, mended


def write_text(path: Path, text: str) -> None:
    """Replace a file's text in one step; a link to a file stays a link.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    path = path.resolve()
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
            os.chmod(name, mode)
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
    except OSError as error:
        raise InputError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _mark(problem: Problem) -> tuple:
    return problem.code, problem.line, problem.edits


def _applied(text: str, edits: Iterable[Edit]) -> str:
    """A text with edits that do not overlap; of two that do, the first."""
    parts, place = [], 0
    for edit in sorted(set(edits)):
        if edit.start >= place:
            parts += [text[place : edit.start], edit.text]
            place = edit.end
    return "".join([*parts, text[place:]])


def _loses_nothing(before: str, after: str, mended: list[Problem]) -> bool:
    """Whether values and comments are the same, apart from the values that were to change."""
    old, new = _tree(before), _tree(after)
    if old is None:  # cannot be read whole, so only spaces and marks may change
        return _letters(before) == _letters(after) and (new is not None or mended[0].code != "F106")
    if new is None or comments(before, old) != comments(after, new):
        return False
    layout = mended[0].code in _LAYOUT
    return _differences(raw_content(old), raw_content(new)) <= (0 if layout else len(mended))


def _tree(text: str) -> Mapping | None:
    tree, problems = parse(text, "")
    return None if problems else tree


def _letters(text: str) -> str:
    return "".join(text.removeprefix("\ufeff").split())


def _differences(before: Value, after: Value) -> float:
    """How many words differ; infinite if a key or an item came or went."""
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        return sum(_differences(before[key], after[key]) for key in before)
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return sum(map(_differences, before, after))
    if isinstance(before, str) and isinstance(after, str):
        return float(_plain(before) != _plain(after))
    return float("inf")


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def comments(text: str, tree: Mapping) -> list[str]:
    """The comments of a file, sorted.

    Examples
    --------
    >>> text = "# one\\na: 'no # comment'  # two\\n"
    >>> comments(text, parse(text, "")[0])
    ['one', 'two']
    """
    outside, place = [], 0
    for start, end in sorted((word.start, word.end) for word in _words(tree)):
        outside.append(text[place:start])
        place = max(place, end)
    gaps = "\x00".join([*outside, text[place:]])
    return sorted(_plain(match[1]) for match in re.finditer(r"(?:^|[\s\x00])#([^\n\x00]*)", gaps))


def _words(node: Node) -> Iterator[Scalar]:
    match node:
        case Mapping():
            for key, value in node.pairs:
                yield key
                yield from _words(value)
        case Sequence():
            for item in node.items:
                yield from _words(item)
        case Scalar():
            yield node
