"""The check of the catalogue: every problem of every file at once, and the repair of those that are mere form."""

import difflib
import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rlmkb.catalogue import KINDS, entries, schema_of
from rlmkb.catalogue.advice import entry_advice
from rlmkb.catalogue.fixing import repaired, write_text
from rlmkb.catalogue.loading import MAX_BYTES, Entry, plain_text, read_text, shown
from rlmkb.catalogue.measured import table_problems
from rlmkb.catalogue.problems import MOST, Problem, listed
from rlmkb.catalogue.style import style_problems, tab_problems, text_problems
from rlmkb.catalogue.syntax import Mapping as Tree
from rlmkb.catalogue.syntax import follow, parse
from rlmkb.catalogue.validation import validated, word
from rlmkb.data import data_path
from rlmkb.errors import InputError, nearest

MEASUREMENTS = "measurements"
REFERENCES = "references"
MAX_TABLE_BYTES = 5_000_000
# kind, then the key whose texts name something, then what they name
NAMES: dict[str, dict[str, str]] = {
    "models": {"references": REFERENCES, "architectures": "architectures"},
    "frameworks": {"references": REFERENCES, "upstream": "frameworks"},
    "algorithms": {"references": REFERENCES, "based_on": "algorithms"},
}


Found = tuple[tuple, str, str]  # where, code, message
EntryRule = Callable[[Entry, Mapping[str, Entry]], Iterable[Found]]


@dataclass(frozen=True)
class Report:
    """What a check found.

    Attributes
    ----------
    files : int
        How many were looked at.
    problems : tuple of Problem
        Those that must be mended and advice, by file and line.
    mended : tuple of Problem
        What `fix` repaired.
    """

    files: int
    problems: tuple[Problem, ...]
    mended: tuple[Problem, ...] = ()

    @cached_property
    def must_fix(self) -> tuple[Problem, ...]:
        """What fails the check."""
        return tuple(problem for problem in self.problems if problem.must_fix)

    @cached_property
    def advice(self) -> tuple[Problem, ...]:
        """What would make an entry better."""
        return tuple(problem for problem in self.problems if not problem.must_fix)

    @property
    def passed(self) -> bool:
        """Whether nothing must be mended."""
        return not self.must_fix

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        listed = [problem.as_dict() for problem in self.problems]
        mended = [problem.as_dict() for problem in self.mended]
        return {"passed": self.passed, "files": self.files, "problems": listed, "mended": mended}

    def __str__(self) -> str:
        lines = [f"mended {problem}".split("\n")[0] for problem in self.mended[:MOST]]
        if len(self.mended) > MOST:
            lines.append(f"mended {len(self.mended) - MOST:,} more")
        for title, found in (("must be mended", self.must_fix), ("advice", self.advice)):
            if found:
                lines += ["", f"{title.capitalize()} ({_sum(found):,})", *map(str, found)]
        return "\n".join([*lines, "", self._summary()]).strip()

    def _summary(self) -> str:
        files = _counted(self.files, "file")
        if not self.problems:
            return f"{files}: no problems"
        told = f"{files}: {_counted(_sum(self.must_fix), 'problem')} to mend, {_sum(self.advice):,} of advice"
        fixable = sum(bool(problem.edits) for problem in self.problems)
        if fixable:
            all_listed = all(problem.count == 1 for problem in self.problems)
            told += f"; {fixable} of {'them' if all_listed else 'those listed'} can be mended with --fix"
        return f"{told}\nWhat a code means: rlmkb catalogue check --rules"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _sum(problems: Iterable[Problem]) -> int:
    return sum(problem.count for problem in problems)


def check(
    paths: Iterable[str | Path] = (), *, fix: bool = False, rules: Mapping[str, EntryRule] = MappingProxyType({})
) -> Report:
    """Every problem of some files, or of the whole catalogue.

    Parameters
    ----------
    paths : iterable of str or Path
        Files and folders; the folder of a file tells its kind. Default: the whole catalogue.
    fix : bool
        Mend first what is mere form: quotes, order, spaces, links. Nothing else in a file changes.
    rules : mapping
        For a kind, what else an entry must agree with, such as `rlmkb.catalogue_rules.RULES`: a function of the entry
        and of all entries of its kind.

    Raises
    ------
    InputError
        If a path does not exist, or its folder is not a kind of the catalogue.

    Examples
    --------
    >>> from rlmkb.data import data_path
    >>> check([data_path("architectures", "llama-3.1-8b.yml")]).passed
    True
    """
    files = _files([Path(path) for path in paths])
    mended = [problem for kind, path in files if fix for problem in _mend(kind, path)]
    found, read = [], []
    for kind, path in files:
        problems, entry, tree = _examined(kind, path)
        found += listed(problems)
        if entry is not None:
            read.append((kind, path, entry, tree))
    found += [*_between(read), *_ruled(read, rules)]
    return Report(len(files), tuple(sorted(found)), tuple(mended))


# ---- which files ----------------------------------------------------------------------------------------


def _files(paths: Sequence[Path]) -> list[tuple[str, Path]]:
    """Kind and path of each file, each once, in the order of the kinds and of the alphabet."""
    if not paths:
        paths = [data_path(kind) for kind in (*KINDS, MEASUREMENTS) if data_path(kind).is_dir()]
    listed = [file for path in paths for file in _expanded(path)]
    return list(dict.fromkeys((_kind(path), path) for path in listed))


def _expanded(path: Path) -> list[Path]:
    if not path.exists() and not path.is_symlink():
        raise InputError(f"{path}: no such file or folder; give a file data/KIND/ID.yml, or a folder of them")
    if not path.is_dir():
        return [path]
    if path.absolute().name in (*KINDS, MEASUREMENTS):
        skipped = {"README.md"} if path.absolute().name == MEASUREMENTS else set()
        return sorted(file for file in path.iterdir() if not file.name.startswith(".") and file.name not in skipped)
    inside = [path / kind for kind in (*KINDS, MEASUREMENTS) if (path / kind).is_dir()]
    if not inside:
        raise InputError(f"{path}: not a folder of the catalogue; allowed: one named {', '.join(KINDS)}, or above them")
    return [file for folder in inside for file in _expanded(folder)]


def _kind(path: Path) -> str:
    name = path.absolute().parent.name
    if name not in (*KINDS, MEASUREMENTS):
        raise InputError(f"{path}: its folder tells no kind; put it in one named {nearest(name, KINDS)}")
    return name


# ---- one file -------------------------------------------------------------------------------------------


def _examined(kind: str, path: Path) -> tuple[list[Problem], Entry | None, Tree | None]:
    """The problems of a file, and the entry with its tree if there is one."""
    label = shown(path)
    if path.is_dir() or path.suffix != (".csv" if kind == MEASUREMENTS else ".yml"):
        wanted = "NAME.csv" if kind == MEASUREMENTS else "ID.yml"
        return [Problem(label, 1, "F116", f"nobody reads {path.name!r}; allowed: a file {wanted}")], None, None
    raw, problems = read_text(path, MAX_TABLE_BYTES if kind == MEASUREMENTS else MAX_BYTES)
    if raw is None:
        return problems, None, None
    if kind == MEASUREMENTS:
        return [*text_problems(raw, label), *table_problems(raw, path.stem, label)], None, None
    return _text_examined(raw, kind, label, path.stem)


def _text_examined(raw: str, kind: str, label: str, stem: str) -> tuple[list[Problem], Entry | None, Tree | None]:
    found = list(text_problems(raw, label))
    if any(problem.code == "F103" for problem in found):
        return found, None, None
    entry, text, schema = None, plain_text(raw), schema_of(kind)
    tree, problems = parse(text, label)
    if tree is not None:
        entry, more = validated(tree, schema, label, stem)
        entry = None if problems else entry
        wrong = {problem.where for problem in more}
        problems = [*problems, *more, *style_problems(text, tree, schema, label, wrong)]
        if entry is not None and not more:
            problems += entry_advice(kind, entry, tree, text, label)
    elif any(problem.code == "F107" for problem in problems):
        problems = problems + list(tab_problems(text, label))
    if text != raw:  # places were counted without the mark and with plain line ends, which are mended first
        problems = [replace(problem, edits=()) for problem in problems]
    return found + problems, entry, tree


def _mend(kind: str, path: Path) -> list[Problem]:
    """Mend the form of a file; what was mended."""
    table = kind == MEASUREMENTS
    if path.suffix != (".csv" if table else ".yml") or not path.is_file():
        return []
    raw, _ = read_text(path, MAX_TABLE_BYTES if table else MAX_BYTES)
    if raw is None:
        return []
    label = shown(path)

    def examine(text: str) -> list[Problem]:
        return list(text_problems(text, label)) if table else _text_examined(text, kind, label, path.stem)[0]

    text, mended = repaired(raw, examine)
    if text != raw:
        write_text(path, text)
    return mended


# ---- between files --------------------------------------------------------------------------------------

Read = tuple[str, Path, Entry, Tree]
_OWN = (("name",), ("description",), ("row", "name"))  # what no two entries of a kind share


def _between(read: Sequence[Read]) -> Iterator[Problem]:
    """What entries say about other entries and works that are not there, and names that two of them share."""
    known: dict[str, set[str]] = {}
    names: dict[tuple, Path] = {}
    for kind, path, entry, tree in read:
        for key, target in NAMES.get(kind, {}).items():
            if target not in known:
                known[target] = _ids(target) | {id.stem for other, id, *_ in read if other == target}
            yield from _dangling(entry, key, target, known[target], tree, shown(path))
        for where in _OWN:
            value = _at(entry, where)
            first = path if value in (None, "unknown") else names.setdefault((kind, where, value.casefold()), path)
            if first != path:
                told = f"{'.'.join(where)} is {value[:60]!r}, as in {shown(first)}"
                yield Problem(shown(path), follow(tree, where)[0], "R303", told)


def _at(entry: Any, where: tuple[str, ...]) -> str | None:
    for key in where:
        entry = getattr(entry, key, None)
    return entry


def _ruled(read: Sequence[Read], rules: Mapping[str, EntryRule]) -> Iterator[Problem]:
    known = {kind: _known(kind, read) for kind in rules}
    for kind, path, entry, tree in read:
        for where, code, told in rules[kind](entry, known[kind]) if kind in rules else ():
            yield Problem(shown(path), follow(tree, where)[0], code, told, where=where)


def _known(kind: str, read: Sequence[Read]) -> Mapping[str, Entry]:
    """The entries of a kind: those that are checked, and those of the catalogue if they can be read."""
    checked = {entry.id: entry for other, _, entry, _ in read if other == kind}
    try:
        return ChainMap(checked, entries(kind)) if checked else {}
    except InputError:
        return checked


def _dangling(entry: Entry, key: str, target: str, known: set[str], tree: Tree, label: str) -> Iterator[Problem]:
    value = getattr(entry, key)
    listed = value if isinstance(value, tuple) else [value] if value else []
    for number, id in enumerate(listed):
        if id in known:
            continue
        line, _ = follow(tree, (key, number) if isinstance(value, tuple) else (key,))
        near = difflib.get_close_matches(id, known, n=3, cutoff=0.4)
        where = "data/references.bib" if target == REFERENCES else f"data/{target}"
        told = f"{key} names {id!r}, which is not in {where}" + (f"; nearest: {', '.join(near)}" if near else "")
        write = None
        if difflib.get_close_matches(id, near, n=1, cutoff=0.8):
            write = f"- {word(near[0])}" if isinstance(value, tuple) else f"{key}: {word(near[0])}"
        yield Problem(label, line, "R301" if target == REFERENCES else "R302", told, write)


def _ids(target: str) -> set[str]:
    if target == REFERENCES:
        text = data_path("references.bib").read_text(encoding="utf-8")
        return set(re.findall(r"^@\w+\{([^,\s]+),", text, re.MULTILINE))
    return {path.stem for path in data_path(target).glob("*.yml")}
