"""The catalogue: one YAML file per entry under `data/`, read into typed, frozen entries.

A kind is a folder of `data/` and a module of this package with the same name, whose `SCHEMA` is the pydantic model of
one file. A file is named after the `id` that it carries. `list_entries`, `show`, `check`, `new` and `export` are what
the command line calls; they load when used.
"""

import functools
import importlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from rlmkb.data import data_path
from rlmkb.errors import InputError, nearest

if TYPE_CHECKING:
    from rlmkb.catalogue.checking import check
    from rlmkb.catalogue.loading import Entry
    from rlmkb.catalogue.queries import export, list_entries, show
    from rlmkb.catalogue.templates import new

KINDS = ("models", "frameworks", "features", "algorithms", "architectures", "hardware")

_LAZY = {
    "list_entries": "queries", "show": "queries", "export": "queries", "check": "checking", "new": "templates",
}  # fmt: skip

__all__ = ["KINDS", "check", "entries", "entry", "export", "list_entries", "new", "read_folder", "schema_of", "show"]


def __getattr__(name: str):
    if name in _LAZY:
        return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has: {', '.join(__all__)}")


@functools.cache
def entries(kind: str) -> Mapping[str, "Entry"]:
    """All entries of a kind by id, in alphabetical order, read once.

    Parameters
    ----------
    kind : str
        One of `KINDS`.

    Returns
    -------
    Mapping[str, Entry]
        Read-only.

    Raises
    ------
    InputError
        For an unknown kind, or naming file and line of the first wrong entry.

    Examples
    --------
    >>> entries("architectures")["llama-3.1-8b"].attention.kv_heads
    8
    """
    return MappingProxyType(read_folder(data_path(kind), schema_of(kind)))


@functools.cache
def entry(kind: str, id: str) -> "Entry":
    """One entry; reads only its own file.

    Raises
    ------
    InputError
        For an unknown id, with the nearest known ones.

    Examples
    --------
    >>> entry("architectures", "llama-3.1-8b").vocab_size
    128256
    >>> entry("architectures", "llama-3.1-8")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    rlmkb.errors.InputError: 'llama-3.1-8' is not in data/architectures; nearest of ...: llama-3.1-8b, ...
    """
    schema = schema_of(kind)
    known = sorted(path.stem for path in data_path(kind).glob("*.yml"))
    if id not in known:
        close = ", ".join(nearest(str(id).lower(), known).split(", ")[:3])
        raise InputError(f"{id!r} is not in data/{kind}; nearest of {len(known)}: {close}")
    return _loading().read_entry(data_path(kind, f"{id}.yml"), schema)


def read_folder(folder: Path, schema: type["Entry"]) -> dict[str, "Entry"]:
    """Every ``*.yml`` of a folder as an entry, by id."""
    read = _loading().read_entry
    return {path.stem: read(path, schema) for path in sorted(folder.glob("*.yml"), key=lambda path: path.stem)}


def schema_of(kind: str) -> type["Entry"]:
    """The pydantic model of a kind.

    Raises
    ------
    InputError
        For an unknown kind, with the nearest known ones.

    Examples
    --------
    >>> schema_of("hardware").__name__
    'Hardware'
    """
    if kind not in KINDS:
        raise InputError(f"{kind!r} is not a kind of the catalogue; allowed: {nearest(str(kind), KINDS)}")
    return importlib.import_module(f"rlmkb.catalogue.{kind}").SCHEMA


def _loading():
    # pydantic and yaml take a tenth of a second to import: only when an entry is read
    return importlib.import_module("rlmkb.catalogue.loading")
