"""YAML text as a tree that knows its places, and every breach of the syntax that can be told at once.

The tree is built from libyaml's events without recursion, so that no file, however made, can do more than be refused.
Plain words are read by the rules of YAML 1.2's core: `no`, `12:30` and dates stay text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from rlmkb.catalogue.problems import Problem

MAX_DEPTH = 20
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_READABLE = ("F110", "F112")  # breaches that leave the rest readable
_LONGEST_NUMBER = 40  # characters; longer ones stay text, and so fail as a number

Value = None | bool | int | float | str | list["Value"] | dict[str, "Value"]


@dataclass(slots=True)
class Node:
    """A stretch of the text; `line` counts from 1."""

    start: int
    end: int
    line: int


@dataclass(slots=True)
class Scalar(Node):
    """A word, number or text; `raw` is without quotes, `plain` if it had none."""

    raw: str
    plain: bool

    @property
    def value(self) -> Value:
        """What the word, number or text means."""
        return plain_value(self.raw) if self.plain else self.raw


@dataclass(slots=True)
class Mapping(Node):
    """Keys and values in the order of the file, repeated ones included."""

    flow: bool
    pairs: list[tuple[Scalar, Node]] = field(default_factory=list)
    _first: dict[str, tuple[Scalar, Node]] = field(default_factory=dict)  # so that a file of many keys is read fast

    def add(self, key: Scalar, value: Node) -> None:
        """Take up one more pair; of equal keys, `get` finds the first."""
        self.pairs.append((key, value))
        self._first.setdefault(key.raw, self.pairs[-1])

    def get(self, key: str) -> tuple[Scalar, Node] | None:
        """The first key of that name with its value."""
        return self._first.get(key)


@dataclass(slots=True)
class Sequence(Node):
    """Items in order."""

    flow: bool
    items: list[Node] = field(default_factory=list)


def plain_value(word: str) -> Value:
    """What an unquoted word means.

    Examples
    --------
    >>> [plain_value(word) for word in ("1.10", "no", "2024-02-05", "true", "1e9", "0o10")]
    [1.1, 'no', '2024-02-05', True, 1000000000.0, '0o10']
    """
    if word in _WORDS:
        return _WORDS[word]
    if len(word) <= _LONGEST_NUMBER and word[0] in "+-.0123456789":
        if _INTEGER.fullmatch(word):
            return int(word)
        if _FLOAT.fullmatch(word):
            return float(word)
    return word


def parse(text: str, path: str) -> tuple[Mapping | None, list[Problem]]:
    """The tree of a file, or None, and every breach of the syntax.

    With a breach that leaves the rest readable, such as a key given twice, there is a tree all the same, so that
    its other problems can be told too; it must not be used for anything else.

    Parameters
    ----------
    text : str
        The whole file.
    path : str
        How messages call the file.

    Examples
    --------
    >>> tree, problems = parse("a: 1\\na: 2\\n", "x.yml")
    >>> str(problems[0])
    "x.yml:2: F112 key 'a' appears twice; keep one (the first is in line 1)"
    """
    builder = _Builder(path)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
            if builder.stopped:
                break
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = error.problem or error.context or "not YAML"
        builder.add(mark.line + 1 if mark else 1, "F107", reason + _hint(reason))
    except yaml.YAMLError as error:
        builder.add(1, "F107", f"not YAML: {getattr(error, 'reason', None) or error}")
    root = builder.root
    if not builder.problems and not isinstance(root, Mapping):
        builder.add(1, "F114", "the file is not a mapping of keys to values; allowed: lines such as id: x")
    readable = all(problem.code in _READABLE for problem in builder.problems)
    return (root if readable else None), builder.problems


def _hint(reason: str) -> str:
    if "cannot start any token" in reason:
        return "; indent with spaces, and put text that starts with a special character in quotes"
    if "mapping values are not allowed" in reason:
        return "; put text that has a colon in it in quotes"
    if "could not find expected ':'" in reason:
        return "; every line is key: value, and longer text is indented"
    return ""


class _Builder:
    """Takes events one by one and builds the tree."""

    def __init__(self, path: str):
        self.path = path
        self.root: Node | None = None
        self.problems: list[Problem] = []
        self.stopped = False
        self._open: list[Mapping | Sequence] = []
        self._keys: list[Scalar | None] = []  # of each open mapping, the key that waits for its value
        self._seen: list[dict[str, int]] = []  # of each open mapping, the keys and their lines

    def add(self, line: int, code: str, message: str, stop: bool = False) -> None:
        self.problems.append(Problem(self.path, line, code, message))
        self.stopped |= stop

    def take(self, event: yaml.Event) -> None:
        match event:
            case yaml.ScalarEvent():
                self._marks(event)
                start, end = event.start_mark, event.end_mark
                plain = event.implicit[0] and event.tag is None
                self._place(Scalar(start.index, end.index, start.line + 1, event.value, plain))
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._start(event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._open.pop().end = event.end_mark.index
                self._keys.pop()
                self._seen.pop()
            case yaml.AliasEvent():
                line = event.start_mark.line + 1
                self.add(line, "F109", f"anchor or alias {event.anchor!r}; write the value out")
                self._place(Scalar(event.start_mark.index, event.end_mark.index, line, "", False))
            case yaml.DocumentStartEvent() if self.root is not None:
                line = event.start_mark.line + 1
                self.add(line, "F108", "but found another document; one file is one entry", stop=True)
            case yaml.DocumentStartEvent() if event.version or event.tags:
                self.add(event.start_mark.line + 1, "F110", "a directive (%YAML or %TAG); remove its line")

    def _start(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent) -> None:
        self._marks(event)
        made = Mapping if isinstance(event, yaml.MappingStartEvent) else Sequence
        start = event.start_mark
        node = made(start.index, event.end_mark.index, start.line + 1, bool(event.flow_style))
        if len(self._open) == MAX_DEPTH:
            self.add(node.line, "F111", f"nested more than {MAX_DEPTH} levels deep", stop=True)
        self._place(node)
        self._open.append(node)
        self._keys.append(None)
        self._seen.append({})

    def _marks(self, event: yaml.NodeEvent) -> None:
        line = event.start_mark.line + 1
        if event.anchor is not None:
            self.add(line, "F109", f"anchor or alias {event.anchor!r}; write the value out")
        if event.tag is not None:
            shown = event.tag.replace("tag:yaml.org,2002:", "!!")
            self.add(line, "F110", f"tag {shown!r}; allowed: none, text in quotes is text and a number is a number")

    def _place(self, node: Node) -> None:
        if not self._open:
            self.root = node
            return
        parent = self._open[-1]
        if isinstance(parent, Sequence):
            parent.items.append(node)
        elif self._keys[-1] is None:
            self._keys[-1] = self._as_key(node)
        else:
            parent.add(self._keys[-1], node)
            self._keys[-1] = None

    def _as_key(self, node: Node) -> Scalar:
        if not isinstance(node, Scalar):
            self.add(node.line, "F113", "key is not text but a list or a mapping")
            return Scalar(node.start, node.end, node.line, "", False)
        if not isinstance(node.value, str):
            self.add(node.line, "F113", f"key {node.raw} is not text")
        seen = self._seen[-1]
        if node.raw in seen:
            first = seen[node.raw]
            self.add(node.line, "F112", f"key {node.raw!r} appears twice; keep one (the first is in line {first})")
        seen.setdefault(node.raw, node.line)
        return node


def content(node: Node) -> Value:
    """The plain data of a tree that has no problems."""
    match node:
        case Mapping():
            return {key.raw: content(value) for key, value in node.pairs}
        case Sequence():
            return [content(item) for item in node.items]
    return node.value


def raw_content(node: Node) -> Value:
    """The same, with every word as it is written, so that quotes make no difference."""
    match node:
        case Mapping():
            return {key.raw: raw_content(value) for key, value in node.pairs}
        case Sequence():
            return [raw_content(item) for item in node.items]
    return node.raw


def follow(node: Node, where: tuple) -> tuple[int, Node | None]:
    """The line of what `where` leads to, or of the last ancestor that exists; and the node itself, if it does."""
    line = node.line
    for part in where:
        if isinstance(node, Mapping) and (pair := node.get(part)):
            line, node = pair[0].line, pair[1]
        elif isinstance(node, Sequence) and isinstance(part, int) and part < len(node.items):
            node = node.items[part]
            line = node.line
        else:
            return line, None
    return line, node


def scalars(node: Node, where: tuple = ()) -> Iterator[tuple[tuple, Scalar]]:
    """Every value with the keys and numbers that lead to it; keys themselves are left out."""
    match node:
        case Mapping():
            for key, value in node.pairs:
                yield from scalars(value, (*where, key.raw))
        case Sequence():
            for number, item in enumerate(node.items):
                yield from scalars(item, (*where, number))
        case Scalar():
            yield where, node


def keys(node: Node) -> Iterator[Scalar]:
    """Every key."""
    match node:
        case Mapping():
            for key, value in node.pairs:
                yield key
                yield from keys(value)
        case Sequence():
            for item in node.items:
                yield from keys(item)
