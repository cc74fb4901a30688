"""A new entry to fill in: every key of the schema with its meaning, `unknown` wherever that is an answer."""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from rlmkb.catalogue import entries, schema_of
from rlmkb.catalogue.annotations import models, words
from rlmkb.catalogue.problems import printable
from rlmkb.catalogue.schemas import descriptions, is_list, may_be_null, value_in_words
from rlmkb.catalogue.validation import misread, quoted, word
from rlmkb.data import data_path
from rlmkb.errors import InputError

UNKNOWN = "unknown"
EXAMPLE_LINK = "https://example.org"
WIDTH = 110
_HONEST = (UNKNOWN, "no")  # what a new entry says where it may choose
_FORMS = {  # part of a pattern: a value of that form
    "http": f'"{EXAMPLE_LINK}"',
    "[0-9]{4}[a-z0-9]+": "besta2026performance",
    "-[0-9]{2}-[0-9]{2}": '"2026-01-01"',
    "(0[1-9]|1[0-2])": '"2026-01"',
}
_START = {  # keys whose first values depend on each other
    "frameworks": {"repository": "null", "no_repository": UNKNOWN},
    "algorithms": {"based_on": "ppo", "models": "[policy, reference, reward, critic]", "cost.edits": "none"},
}
_NOT_MADE = {
    "features": "the features are fixed; to propose another one, open an issue",
    "architectures": "its numbers cannot be unknown; copy the entry of a similar model in data/architectures",
    "measurements": "add a row to a file of data/measurements, as its README says",
}


def new(kind: str, id: str, folder: Path | None = None) -> Path:
    """Write a new entry that passes the check, to be filled in.

    Parameters
    ----------
    kind : str
        `models`, `frameworks`, `algorithms` or `hardware`.
    id : str
        Lower case with hyphens; the name of the file.
    folder : pathlib.Path, optional
        Default: the kind's folder of the catalogue.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    InputError
        If the file exists, the id is malformed, or the kind has no entries of this sort.
    """
    text = template(kind, id)
    path = (folder or data_path(kind)) / f"{id}.yml"
    if path.exists():
        raise InputError(f"{reachable(path)} exists; change it, or choose another id")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"{reachable(path)} cannot be written: {(error.strerror or str(error)).lower()}") from None
    return path


def reachable(path: Path) -> str:
    """A path as one can type it where one is: from here on, or from the root if it lies elsewhere.

    Examples
    --------
    >>> reachable(Path.cwd() / "data" / "x.yml") == str(Path("data", "x.yml")), reachable(Path("/x.yml"))
    (True, '/x.yml')
    """
    here = Path.cwd()
    return printable(str(path.relative_to(here) if path.is_relative_to(here) else path))


def template(kind: str, id: str) -> str:
    """The text of a new entry.

    Raises
    ------
    InputError
        As `new`.

    Examples
    --------
    >>> [line for line in template("models", "my-model").splitlines() if line.startswith(("id", "access"))]
    ['id: my-model', 'access: unknown']
    """
    if kind in _NOT_MADE:
        raise InputError(f"{kind} are not made from a template: {_NOT_MADE[kind]}")
    schema = schema_of(kind)
    pattern = next(item.pattern for item in schema.model_fields["id"].metadata if hasattr(item, "pattern"))
    if not re.fullmatch(pattern, id):
        close = re.sub(r"[^a-z0-9.]+", "-", id.lower()).strip("-.") or "my-entry"
        raise InputError(f"{id!r} is not an id; allowed: lower-case letters, digits and hyphens, such as {close}")
    given = {"id": word(id), "name": word(id), **_START.get(kind, {})}
    return "\n".join([*_head(kind, id), *_lines(schema, "", given, _Told(_questions(kind))), ""])


def placeholder(field: FieldInfo) -> str:
    """What stands in a field until somebody knows better, as YAML; empty where keys and values follow.

    Examples
    --------
    >>> from rlmkb.catalogue.architectures import SCHEMA
    >>> placeholder(SCHEMA.model_fields["family"])
    'unknown'
    """
    annotation = field.annotation
    if is_list(annotation) and not _least(field):
        return "[]"
    choices = words(annotation)
    if choices:
        value = word(next((choice for choice in _HONEST if choice in choices), choices[0]))
    elif may_be_null(annotation):
        return "null"
    elif models(annotation):
        return ""
    else:
        value = _by_form(field)
    return f"[{value}]" if is_list(annotation) else value


def _by_form(field: FieldInfo) -> str:
    """A value of the form that a field asks for."""
    told = f"{field.annotation} {field.metadata}"
    for pattern, value in _FORMS.items():
        if pattern in told:
            return value
    match value_in_words(field.annotation):
        case "true or false":
            return "false"
        case "number" | "whole number":
            return str(next((item.ge for item in field.metadata if hasattr(item, "ge")), 1))
    return UNKNOWN


def _least(field: FieldInfo) -> int:
    return max([item.min_length for item in field.metadata if hasattr(item, "min_length")], default=0)


def _head(kind: str, id: str) -> list[str]:
    return [
        f"# yaml-language-server: $schema=../schema/{kind}.schema.json",
        "# Write what you know and leave the rest: `unknown` is an honest answer. Comments may go.",
        "# To use a key that stands in a comment, remove the # in front of it. Then run:",
        f"#     rlmkb catalogue check data/{kind}/{id}.yml",
    ]


def _questions(kind: str) -> dict[str, str]:
    """What the cells of a framework ask, from the entries of the features."""
    if kind != "frameworks":
        return {}
    return {id: f"{feature.name}: {feature.question}" for id, feature in entries("features").items()}


class _Told:
    """What the comments of a template have explained so far: each model once, not for each of thirteen cells."""

    def __init__(self, questions: dict[str, str]):
        self.questions = questions
        self._models: set[type[BaseModel]] = set()

    def anew(self, model: type[BaseModel]) -> bool:
        if model in self._models:
            return False
        self._models.add(model)
        return True


def _lines(model: type[BaseModel], indent: str, given: dict[str, str], told: _Told, prefix: str = "") -> Iterator[str]:
    """The keys of a model, each after its meaning; optional ones as comments."""
    anew, meaning = told.anew(model), descriptions(model)
    for key, field in model.model_fields.items():
        name = prefix + key
        text = told.questions.get(key) or _explained(meaning.get(key, ""), field)
        needed = field.is_required() or name in given
        if not needed and not anew:
            continue
        if (anew or key in told.questions) and name not in ("id", "name"):
            yield from _comment(text, indent)
        if not needed:
            yield f"{indent}# {_key(key)}:"
            yield from _sketch(field, f"{indent}# ")
            continue
        value = given.get(name) or placeholder(field)
        if value:
            yield f"{indent}{_key(key)}: {value}"
            continue
        yield f"{indent}{_key(key)}:"
        body = list(_lines(models(field.annotation)[0], f"{indent}  ", given, told, f"{name}."))
        yield from _as_item(body, indent) if is_list(field.annotation) else body


def _sketch(field: FieldInfo, margin: str) -> Iterator[str]:
    """What belongs below an optional key of keys and values: its needed keys."""
    for inner in models(field.annotation)[:1]:
        needed = {name: part for name, part in inner.model_fields.items() if part.is_required()}
        body = [f"{_key(name)}: {placeholder(part)}".rstrip() for name, part in needed.items()]
        first, rest = ("- ", "  ") if is_list(field.annotation) else ("", "")
        yield from (f"{margin}  {rest if number else first}{line}" for number, line in enumerate(body))


def _explained(meaning: str, field: FieldInfo) -> str:
    value = value_in_words(field.annotation)
    return meaning if value == "keys and values" else f"{meaning} ({value})".strip()


def _key(name: str) -> str:
    return quoted(name) if misread(name) else name


def _as_item(body: list[str], indent: str) -> Iterator[str]:
    """The lines of a mapping as the first item of a list, its comments in front."""
    yield from (line for line in body if line.lstrip().startswith("#"))
    keys = [line for line in body if not line.lstrip().startswith("#")]
    for number, line in enumerate(keys):
        yield f"{indent}  - {line.lstrip()}" if not number else f"  {line}"


def _comment(text: str, indent: str) -> list[str]:
    width = WIDTH - len(indent) - 2
    return [f"{indent}# {line}" for line in textwrap.wrap(text, width, break_on_hyphens=False)]
