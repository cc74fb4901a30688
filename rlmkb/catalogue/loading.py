"""Safe, strict reading of one YAML file into a pydantic model, with errors that name file and line."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rlmkb.data import data_path
from rlmkb.errors import InputError, nearest

Size = Annotated[int, Field(ge=1, le=10**15)]
Text = Annotated[str, Field(min_length=1)]

Item = TypeVar("Item")
Many = Annotated[tuple[Item, ...], Field(strict=False)]  # a list in the file, immutable in the entry


class Facts(BaseModel):
    """Base of everything stored in the catalogue: exact types, no unknown keys, immutable."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Entry(Facts):
    """One file of the catalogue."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9]+([.-][a-z0-9]+)*$")]
    name: Text


AnyEntry = TypeVar("AnyEntry", bound=Entry)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Safe loader of the YAML 1.2 core types: `no`, `12:30` and dates stay text, duplicate keys are errors."""

    yaml_implicit_resolvers: dict = {}  # noqa: RUF012 (overrides PyYAML's own class attribute)

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            name = self.construct_object(key, deep=True)
            if not isinstance(name, str):
                raise yaml.constructor.ConstructorError(None, None, f"key {name!r} is not text", key.start_mark)
            if name in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key {name!r} appears twice", key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep)


for _tag, _pattern, _first in (
    ("bool", r"true|false", "tf"),
    ("null", r"null|~|", ["n", "~", ""]),
    ("int", r"[-+]?(0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), list(_first))


def read_entry(path: Path, schema: type[AnyEntry]) -> AnyEntry:
    """One catalogue file as a validated entry.

    Parameters
    ----------
    path : pathlib.Path
        The YAML file; its stem must equal the `id` inside.
    schema : type
        The pydantic model of the kind.

    Raises
    ------
    InputError
        One line: ``file:line: what is wrong, what was found, what is allowed``.
    """
    data, node = _parse(path)
    try:
        found = schema.model_validate(data)
    except ValidationError as error:
        problems = [_message(problem, schema, node) for problem in error.errors(include_url=False)]
        line, first = problems[0]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise InputError(f"{_shown(path)}:{line}: {first}{more}") from None
    if found.id != path.stem:
        raise InputError(
            f"{_shown(path)}:{_line(node, ['id'])}: id is {found.id!r}; allowed: the file's name, {path.stem!r}"
        )
    return found


def _parse(path: Path) -> tuple[Any, yaml.Node]:
    """The plain data of a file, and its syntax tree, which knows the lines."""
    try:
        text = path.read_text(encoding="utf-8")
        if "&" in text or "*" in text:
            _refuse_aliases(text)
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            if not isinstance(node, yaml.MappingNode):
                raise InputError(f"{_shown(path)}:1: the file is not a mapping of keys to values")
            return loader.construct_document(node), node
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise InputError(f"{_shown(path)}:{mark.line + 1 if mark else 1}: {error.problem or error.context}") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or getattr(error, "reason", None) or type(error).__name__
        raise InputError(f"{_shown(path)}: cannot be read as YAML: {str(reason).lower()}") from None


def _refuse_aliases(text: str) -> None:
    for event in yaml.parse(text, Loader=_Loader):
        if getattr(event, "anchor", None):
            raise yaml.MarkedYAMLError(
                problem=f"anchor or alias {event.anchor!r}; write the value out", problem_mark=event.start_mark
            )


def _shown(path: Path) -> str:
    """The path as a reader knows it: from `data/` on, for a file of the catalogue."""
    root = data_path()
    return f"data/{path.relative_to(root).as_posix()}" if path.is_relative_to(root) else str(path)


# ---- from pydantic's report to one line -----------------------------------------------------------------


def _message(problem: dict, schema: type[BaseModel], node: yaml.Node) -> tuple[int, str]:
    """Line and sentence of one problem that pydantic reports."""
    where = [part for part in problem["loc"] if _is_key(part, node, problem["loc"])]
    name = ".".join(map(str, where)) or "the file"
    match problem["type"]:
        case "missing":
            return _line(node, where[:-1]), f"{name} is missing"
        case "extra_forbidden":
            known = nearest(str(where[-1]), _keys(schema, where[:-1]))
            return _line(node, where), f"{name} is not a known key; allowed: {known}"
        case "union_tag_invalid":
            key, found = problem["ctx"]["discriminator"].strip("'"), problem["ctx"]["tag"]
            allowed = problem["ctx"]["expected_tags"]
            return _line(node, [*where, key]), f"{name}.{key} is {json.dumps(found)}; allowed: {allowed}"
        case "union_tag_not_found":
            return _line(node, where), f"{name}.{problem['ctx']['discriminator']} is missing".replace("'", "")
    found = json.dumps(problem["input"], default=str, ensure_ascii=False)
    context = problem.get("ctx", {})
    allowed = context.get("expected") or problem["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    if not found.startswith(("{", "[")):
        name = f"{name} is {found if len(found) < 60 else found[:57] + '...'}"
    return _line(node, where), f"{name}; allowed: {allowed}"


def _is_key(part: str | int, node: yaml.Node, whole: tuple) -> bool:
    """Pydantic puts the names of union members into a location; a file has no such keys."""
    return isinstance(part, int) or part == whole[-1] or part in set(_all_keys(node))


def _all_keys(node: yaml.Node) -> Iterator[str]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield key.value
            yield from _all_keys(value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from _all_keys(value)


def _line(node: yaml.Node, where: list) -> int:
    """Line of the key that `where` leads to, or of the last ancestor that exists."""
    line = node.start_mark.line + 1
    for part in where:
        if isinstance(node, yaml.MappingNode):
            match = [(key, value) for key, value in node.value if key.value == part]
            if not match:
                break
            key, node = match[0]
            line = key.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            break
    return line


def _keys(schema: Any, where: list) -> list[str]:
    """The keys that are allowed at a place of the schema."""
    models = _models(schema)
    for part in where:
        if isinstance(part, str):
            models = [found for model in models if part in model.model_fields
                      for found in _models(model.model_fields[part].annotation)]  # fmt: skip
    return [name for model in models for name in model.model_fields]


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _models(argument)]
