"""JSON Schemas for editors and a reference for readers, both made from the pydantic models.

A field is described by the text below it in its class, so that code, schema, template and reference say the same.
"""

import ast
import functools
import importlib
import inspect
import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from rlmkb.catalogue import KINDS, schema_of
from rlmkb.catalogue.annotations import models, words
from rlmkb.data import data_path

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(kind: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a kind.

    Raises
    ------
    InputError
        For an unknown kind.

    Examples
    --------
    >>> json_schema("hardware")["properties"]["vendor"]["description"]
    'Who makes it.'
    """
    schema = schema_of(kind)
    found = schema.model_json_schema(mode="validation")
    described = {model.__name__: model for model in _all_models(schema)}
    for name, definition in {schema.__name__: found, **found.get("$defs", {})}.items():
        if name in described:
            _describe(definition, described[name])
    head = {"$schema": DRAFT, "title": f"An entry of data/{kind}"}
    return head | {key: value for key, value in _without_titles(found).items() if key != "title"}


def schema_text(kind: str) -> str:
    """The content of ``data/schema/KIND.schema.json``."""
    return json.dumps(json_schema(kind), indent=2, ensure_ascii=False) + "\n"


def write_schemas(folder: Path | None = None) -> list[Path]:
    """Write the schemas of all kinds; a test holds the committed ones equal."""
    folder = folder or data_path("schema")
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{kind}.schema.json" for kind in KINDS]
    for kind, path in zip(KINDS, paths, strict=True):
        path.write_text(schema_text(kind), encoding="utf-8")
    return paths


@functools.cache
def descriptions(model: type[BaseModel]) -> Mapping[str, str]:
    """What each field of a model means, from the text below it, inherited fields included.

    Examples
    --------
    >>> from rlmkb.catalogue.loading import Entry
    >>> descriptions(Entry)["name"]
    'As its makers write it.'
    """
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel) and base is not BaseModel:
            found |= _documented(base.__module__).get(base.__name__, {})
    for name, field in model.model_fields.items():
        inner = models(field.annotation)
        if field.description:
            found[name] = field.description
        elif name not in found and len(inner) == 1 and inner[0].__doc__:
            found[name] = inspect.cleandoc(inner[0].__doc__).split("\n\n")[0].replace("\n", " ")
    return MappingProxyType({name: found[name] for name in model.model_fields if name in found})


@functools.cache
def _documented(module: str) -> dict[str, dict[str, str]]:
    """Class to field to the string that follows it in the source."""
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return {node.name: dict(_documented_fields(node.body)) for node in classes}


def _documented_fields(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for first, second in itertools.pairwise(body):
        if isinstance(first, ast.AnnAssign) and isinstance(first.target, ast.Name) and isinstance(second, ast.Expr):
            text = getattr(second.value, "value", None)
            if isinstance(text, str):
                yield first.target.id, inspect.cleandoc(text).replace("\n", " ")


def _all_models(schema: type[BaseModel]) -> list[type[BaseModel]]:
    """A model and all that its fields are made of, each once, the outer ones first."""
    found = [schema]
    for model in found:
        inner = [part for field in model.model_fields.values() for part in models(field.annotation)]
        found += [part for part in dict.fromkeys(inner) if part not in found]
    return found


def _describe(definition: dict[str, Any], model: type[BaseModel]) -> None:
    for name, text in descriptions(model).items():
        definition["properties"][name]["description"] = text


def _without_titles(node: Any) -> Any:
    """Pydantic repeats every key as a title, which editors would show in place of the description."""
    if isinstance(node, dict):
        return {
            key: _without_titles(value)
            for key, value in node.items()
            if not (key == "title" and isinstance(value, str))
        }
    return [_without_titles(item) for item in node] if isinstance(node, list) else node


# ---- the reference for readers --------------------------------------------------------------------------


def reference_rows(kind: str) -> list[tuple[str, str, str, str]]:
    """Key, whether it is needed, what may stand there, and what it means; nested keys with full stops.

    Examples
    --------
    >>> reference_rows("hardware")[0][:3]
    ('id', 'needed', 'text')
    """
    return list(_rows(schema_of(kind), ""))


def schema_reference(kind: str) -> str:
    """The keys of a kind as a Markdown table.

    Raises
    ------
    InputError
        For an unknown kind.

    Examples
    --------
    >>> schema_reference("hardware").splitlines()[2]
    "| `id` | needed | text | The file's name without its ending: the name in lower case, with hyphens. |"
    """
    lines = ["| key | | value | meaning |", "| --- | --- | --- | --- |"]
    for key, needed, value, meaning in reference_rows(kind):
        cells = (f"`{key}`", needed, value, meaning)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def _rows(model: type[BaseModel], prefix: str, seen: frozenset = frozenset()) -> Iterator[tuple[str, str, str, str]]:
    meaning = descriptions(model)
    for name, field in model.model_fields.items():
        needed = "needed" if field.is_required() else "optional"
        yield prefix + name, needed, value_in_words(field.annotation), meaning.get(name, "")
        for inner in models(field.annotation):
            if inner not in seen:
                mark = "[]." if is_list(field.annotation) else "."
                seen |= {inner}
                yield from _rows(inner, f"{prefix}{name}{mark}", seen)


def parts(annotation: Any) -> list[Any]:
    """The members of a union, without `Annotated`.

    Examples
    --------
    >>> parts(int | Annotated[float, "x"] | None)
    [<class 'int'>, <class 'float'>, <class 'NoneType'>]
    """
    origin = get_origin(annotation)
    if origin is Annotated:
        return parts(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return [part for argument in get_args(annotation) for part in parts(argument)]
    return [annotation]


def is_list(annotation: Any) -> bool:
    """Whether a field holds a list."""
    return any(get_origin(part) is tuple for part in parts(annotation))


def may_be_null(annotation: Any) -> bool:
    """Whether `null` may stand there."""
    return type(None) in parts(annotation)


def value_in_words(annotation: Any) -> str:
    """What may stand in a field: its words, or its type.

    Examples
    --------
    >>> from rlmkb.catalogue.architectures import SCHEMA, Norm
    >>> value_in_words(Norm.model_fields["kind"].annotation)
    'one of rms, layer'
    >>> value_in_words(SCHEMA.model_fields["source"].annotation)
    'list of text'
    """
    choices = words(annotation)
    if choices:
        told = f"{'list of' if is_list(annotation) else 'one of'} {', '.join(choices)}"
    else:
        kinds = dict.fromkeys(_type_in_words(part) for part in parts(annotation) if part is not type(None))
        told = " or ".join(kind for kind in kinds if not (kind == "whole number" and "number" in kinds))
    return f"{told}; or null" if may_be_null(annotation) else told


def _type_in_words(part: Any) -> str:
    if get_origin(part) is tuple:
        return f"list of {value_in_words(get_args(part)[0])}"
    if models(part):
        return "keys and values"
    return {bool: "true or false", int: "whole number", float: "number", str: "text"}.get(part, "text")


if __name__ == "__main__":
    write_schemas()
