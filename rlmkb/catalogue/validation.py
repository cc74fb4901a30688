"""From pydantic's report on a file to problems with a line, the value seen, what is allowed and a line to paste."""

import difflib
import json
import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Any

from pydantic import BaseModel, ValidationError

from rlmkb.catalogue.annotations import fields_at
from rlmkb.catalogue.fields import FORMS
from rlmkb.catalogue.loading import AnyEntry
from rlmkb.catalogue.problems import MOST, Edit, Problem, counter
from rlmkb.catalogue.syntax import Mapping, Node, Scalar, Sequence, content, follow, plain_value
from rlmkb.errors import nearest

_TYPES = {
    "string_type": "text", "string_sub_type": "text", "int_type": "a whole number", "float_type": "a number",
    "bool_type": "true or false", "tuple_type": "a list", "list_type": "a list", "model_type": "keys and values",
    "model_attributes_type": "keys and values", "dict_type": "keys and values", "none_required": "null",
    "int_from_float": "a whole number", "finite_number": "a finite number", "enum": "one of its words",
}  # fmt: skip
_BOUNDS = {
    "greater_than_equal": ("ge", "at least"), "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"), "less_than": ("lt", "less than"),
}  # fmt: skip
_FORMS = {
    **FORMS,
    r"\S": "text that is not empty",
    r"^[a-z0-9]+([.-][a-z0-9]+)*$": "lower-case letters and digits, parted by single hyphens or full stops",
}
_TRUTHS = {"yes": "true", "on": "true", "no": "false", "off": "false"}
_LOOKED_AT = 10 * MOST  # errors of one file; with unions several can be about one place
_SHOWN = 60  # characters of a value that a message repeats


def validated(tree: Mapping, schema: type[AnyEntry], path: str, stem: str) -> tuple[AnyEntry | None, list[Problem]]:
    """A file as an entry, or None with every reason why it is none.

    Parameters
    ----------
    tree : Mapping
        From `rlmkb.catalogue.syntax.parse`.
    schema : type
        The pydantic model of the kind.
    path, stem : str
        How messages call the file, and the id that it must carry.
    """
    try:
        entry = schema.model_validate(content(tree))
    except ValidationError as report:
        errors = report.errors(include_url=False, include_input=False)
        reports = (_Report(error, tree, schema) for error in errors[:_LOOKED_AT])
        places = list(_by_place(report for report in reports if not report.only_follows).values())
        found = [_merged(reports).problem(path) for reports in places[:MOST]]
        more = max(0, len(places) - MOST) + max(0, len(errors) - _LOOKED_AT)
        return None, found + ([counter(found[-1], more)] if more else [])
    if entry.id != stem:
        line, _ = follow(tree, ("id",))
        message = f"id is {entry.id!r}; allowed: the file's name, {stem!r}"
        return entry, [Problem(path, line, "V208", message, f"id: {word(stem)}", (), ("id",))]
    return entry, []


def word(text: str) -> str:
    """Text as a YAML word, in quotes where another reader could take it for something else.

    Examples
    --------
    >>> word("partial"), word("no"), word("1.10")
    ('partial', '"no"', '"1.10"')
    """
    safe = re.fullmatch(r"[A-Za-z][\w ./+-]*", text, re.ASCII) and not text.endswith(" ")
    return text if safe and isinstance(plain_value(text), str) and not misread(text) else quoted(text)


def quoted(text: str) -> str:
    """Text in double quotes."""
    return json.dumps(text, ensure_ascii=False)


def alike(node: Scalar, text: str) -> str:
    """A link in the style of the word that it takes the place of."""
    return text if node.plain and not re.search(r"\s|:$", text) else quoted(text)


@lru_cache(10_000)
def misread(plain: str) -> bool:
    """Whether YAML 1.1 takes an unquoted word for something else than we do.

    Examples
    --------
    >>> [misread(word) for word in ("no", "12:30", "2024-02-05", "1e9", "none", "1.5")]
    [True, True, True, True, False, False]
    """
    from yaml import ScalarNode
    from yaml.resolver import Resolver

    found = plain_value(plain)
    ours = {str: "str", bool: "bool", int: "int", float: "float", type(None): "null"}[type(found)]
    global _resolver
    _resolver = _resolver or Resolver()
    return _resolver.resolve(ScalarNode, plain, (True, False)) != f"tag:yaml.org,2002:{ours}"


_resolver = None


class _Report:
    """One error of pydantic at its place in the file."""

    def __init__(self, error: dict[str, Any], tree: Mapping, schema: type[BaseModel]):
        self.kind: str = error["type"]
        self.context: dict[str, Any] = error.get("ctx", {})
        self.text: str = error["msg"].removeprefix("Value error, ")
        self.where = _place(error["loc"], tree, self.kind)
        if self.kind.startswith("union_tag"):
            self.where = (*self.where, self.context["discriminator"].strip("'"))
        self.line, self.node = follow(tree, self.where)
        self.name = ".".join(_short(str(part)) for part in self.where) or "the file"
        self.tree, self.schema = tree, schema

    @cached_property
    def allowed(self) -> str:
        """What could stand there."""
        return self._allowed()

    @property
    def only_follows(self) -> bool:
        """Pydantic counts wrong items as missing; they have been told about already."""
        if self.kind != "too_short" or not isinstance(self.node, Sequence):
            return False
        return len(self.node.items) >= self.context["min_length"]

    def problem(self, path: str) -> Problem:
        """As a problem of the catalogue."""
        code, message, write, edit = self._told()
        edits = () if edit is None else (edit,)
        return Problem(path, self.line, code, message, write, edits, self.where)

    def _told(self) -> tuple[str, str, str | None, Edit | None]:
        """Rule, message, line to paste, repair."""
        key = str(self.where[-1]) if self.where else ""
        if self.kind in ("missing", "union_tag_not_found"):
            fields = fields_at(self.schema, self.where[:-1], self.tree)
            return "V201", f"{self.name} is missing", _placeholder_line(key, fields.get(key)), None
        if self.kind == "extra_forbidden":
            known = list(fields_at(self.schema, self.where[:-1], self.tree))
            _, around = follow(self.tree, self.where[:-1])
            free = [name for name in known if not (isinstance(around, Mapping) and around.get(name))]
            close = difflib.get_close_matches(key, free, n=1, cutoff=0.5)
            write = _line(close[0], self.node) if close else None
            return "V202", f"{self.name} is not a known key; allowed: {nearest(key, known)}", write, None
        seen = " contradicts itself" if self._code() == "V207" else self._seen()
        message = f"{self.name}{seen}; allowed: {self.allowed}"
        new, edit = self._repair()
        write = None if new is None else f"- {new}" if isinstance(self.where[-1], int) else f"{key}: {new}"
        return self._code(), message, write, edit

    def _code(self) -> str:
        if self.kind in ("literal_error", "enum", "union_tag_invalid"):
            return "V203"
        if self.kind == "value_error":
            return "V207" if isinstance(self.node, Mapping) or not self.where else "V205"
        if self.kind == "string_pattern_mismatch" and str(self.context["pattern"]).startswith("^http"):
            return "V206"
        return "V204" if self.kind in _TYPES else "V205"

    def _seen(self) -> str:
        match self.node:
            case Scalar(plain=True):
                value = self.node.value
                if isinstance(value, str):
                    return f" is {_short(quoted(value))}"
                if value is None:
                    return " is empty" if not self.node.raw else " is null"
                return f" is {_short(self.node.raw)}"
            case Scalar():
                return f" is {_short(quoted(self.node.raw))}"
            case Sequence() if self.kind in _TYPES:
                return " is a list"
            case Sequence(items=[]):
                return " is an empty list"
            case Sequence(items=items):
                return f" is a list of {len(items):,}"
            case Mapping() if self.kind in _TYPES:
                return " is a mapping of keys to values"
        return ""

    def _allowed(self) -> str:
        if self.kind in ("literal_error", "enum", "union_tag_invalid"):
            return nearest(self.node.raw if isinstance(self.node, Scalar) else "", self._choices())
        if self.kind in _TYPES:
            return _TYPES[self.kind]
        if self.kind in _BOUNDS:
            name, told = _BOUNDS[self.kind]
            return f"{told} {self.context[name]:,}"
        if self.kind == "string_pattern_mismatch":
            pattern = str(self.context["pattern"])
            return _FORMS.get(pattern, f"text that matches {pattern}")
        if self.kind == "string_too_short":
            return "text that is not empty"
        if self.kind == "string_too_long":
            return f"at most {self.context['max_length']:,} characters"
        if self.kind == "too_short":
            least = self.context["min_length"]
            return f"a list of at least {least} item{'s' if least > 1 else ''}"
        if self.kind == "too_long":
            return f"a list of at most {self.context['max_length']} items"
        return self.text.removeprefix("Input should be ")

    def _choices(self) -> list[str]:
        listed = self.context.get("expected") or self.context.get("expected_tags") or ""
        return re.findall(r"'([^']*)'", str(listed))

    def _repair(self) -> tuple[str | None, Edit | None]:
        """What could stand there instead, and the edit if that is a matter of form alone."""
        node = self.node
        if not isinstance(node, Scalar):
            return None, None
        new, mechanical = self._better(node)
        return new, Edit(node.start, node.end, new) if new is not None and mechanical else None

    def _better(self, node: Scalar) -> tuple[str | None, bool]:
        raw = node.raw
        if self.kind in ("literal_error", "enum", "union_tag_invalid"):
            for choice in self._choices():
                if _bare(choice) == _bare(raw):
                    return word(choice), True
            close = difflib.get_close_matches(raw, self._choices(), n=1, cutoff=0.5)
            fallback = ["unknown"] if "unknown" in self._choices() else []
            return next((word(choice) for choice in close + fallback), None), False
        if self.kind == "string_type" and node.plain and raw:
            return quoted(raw), isinstance(node.value, int | float) and not isinstance(node.value, bool)
        if self.kind in ("int_type", "float_type") and not node.plain:
            number = plain_value(raw)
            wanted = int if self.kind == "int_type" else int | float
            good = isinstance(number, wanted) and not isinstance(number, bool)
            return (raw, True) if good else (None, False)
        if self.kind == "bool_type":
            truth = _TRUTHS.get(raw.casefold()) or (raw.casefold() if raw.casefold() in ("true", "false") else None)
            return truth, truth is not None
        if self.kind == "string_pattern_mismatch" and str(self.context["pattern"]).startswith("^http"):
            if re.match(r"http://\S", raw):
                return alike(node, raw.replace("http://", "https://", 1)), not re.search(r"[\s<>\"']", raw)
            if re.match(r"[\w-]+(\.[\w-]+)+(/|$)", raw):
                return alike(node, f"https://{raw}"), False
        return None, False


def _by_place(reports: Iterable[_Report]) -> dict[tuple, list[_Report]]:
    """The reports about each place: the members of a union complain one by one."""
    found: dict[tuple, list[_Report]] = {}
    for report in reports:
        found.setdefault((report.where, report.kind == "missing"), []).append(report)
    return found


def _merged(reports: list[_Report]) -> _Report:
    """The first report about a place, with what all of them allow."""
    first = reports[0]
    for report in reports[1:]:
        if report.allowed not in first.allowed:
            first.allowed += f", or {report.allowed}"
    return first


def _place(location: tuple, tree: Node, kind: str) -> tuple:
    """Pydantic puts the names of union members into a location; a file has no such keys."""
    where, node = [], tree
    for number, part in enumerate(location):
        last = number == len(location) - 1
        if isinstance(node, Mapping) and isinstance(part, str) and (pair := node.get(part)):
            node = pair[1]
        elif isinstance(node, Sequence) and isinstance(part, int) and part < len(node.items):
            node = node.items[part]
        elif not (last and kind == "missing"):
            continue
        where.append(part)
    return tuple(where)


def _placeholder_line(key: str, field: Any) -> str | None:
    from rlmkb.catalogue.templates import placeholder

    if field is None:
        return None
    value = placeholder(field)
    return f"{key}: {value}" if value and "\n" not in value else f"{key}:"


def _line(key: str, node: Node | None) -> str:
    if not isinstance(node, Scalar):
        return f"{key}:"
    return f"{key}: {node.raw if node.plain else quoted(node.raw)}"


def _bare(text: str) -> str:
    return re.sub(r"[\W_]", "", text).casefold()


def _short(text: str) -> str:
    return text if len(text) < _SHOWN else f"{text[: _SHOWN - 3]}..."
