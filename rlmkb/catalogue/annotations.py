"""What a schema says about one place of a file: the keys it may have, and the type of its value."""

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from rlmkb.catalogue.syntax import Mapping, Node, Scalar, Sequence


def models(annotation: Any) -> list[type[BaseModel]]:
    """The models that an annotation is made of.

    Examples
    --------
    >>> from rlmkb.catalogue.architectures import Norm
    >>> models(tuple[Norm, ...] | None)
    [<class 'rlmkb.catalogue.architectures.Norm'>]
    """
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in models(argument)]


def words(annotation: Any) -> tuple[str, ...]:
    """The words that a field allows, in their order; empty if it is not one of a few words.

    Examples
    --------
    >>> words(Literal["grouped", "latent"] | None)
    ('grouped', 'latent')
    """
    if get_origin(annotation) is Literal:
        return tuple(word for word in get_args(annotation) if isinstance(word, str))
    if isinstance(annotation, type) and hasattr(annotation, "__members__"):
        return tuple(member.value for member in annotation)
    return tuple(word for argument in get_args(annotation) for word in words(argument))


def fields_at(schema: type[BaseModel], where: tuple, tree: Node | None) -> dict[str, FieldInfo]:
    """The keys that a place of a file may have, in the schema's order."""
    found, node = [schema], tree
    for part in where:
        if isinstance(part, int):
            node = node.items[part] if isinstance(node, Sequence) and part < len(node.items) else None
        else:
            found = [
                inner
                for model in found
                if part in model.model_fields
                for inner in models(model.model_fields[part].annotation)
            ]
            pair = node.get(part) if isinstance(node, Mapping) else None
            node = pair[1] if pair else None
        found = _told_apart(found, node)
    return {name: field for model in found for name, field in model.model_fields.items()}


def _told_apart(found: list[type[BaseModel]], node: Node | None) -> list[type[BaseModel]]:
    """Of a union's models those whose telling word the mapping has."""
    if len(found) < 2 or not isinstance(node, Mapping):
        return found
    return [model for model in found if _names(model, node)] or found


def _names(model: type[BaseModel], node: Mapping) -> bool:
    for name, field in model.model_fields.items():
        pair = node.get(name)
        if get_origin(field.annotation) is Literal and pair and isinstance(pair[1], Scalar):
            return pair[1].raw in get_args(field.annotation)
    return False


def annotation_at(schema: type[BaseModel], where: tuple, tree: Node) -> Any:
    """The type of the key that `where` leads to or through at its end; None if there is none."""
    keys = [number for number, part in enumerate(where) if isinstance(part, str)]
    if not keys:
        return None
    field = fields_at(schema, where[: keys[-1]], tree).get(where[keys[-1]])
    return None if field is None else field.annotation


def mappings(node: Node, where: tuple = ()) -> Iterator[tuple[tuple, Mapping]]:
    """Every mapping of a tree with the keys and numbers that lead to it."""
    if isinstance(node, Mapping):
        yield where, node
        for key, value in node.pairs:
            yield from mappings(value, (*where, key.raw))
    elif isinstance(node, Sequence):
        for number, item in enumerate(node.items):
            yield from mappings(item, (*where, number))
