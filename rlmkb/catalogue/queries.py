"""Questions to the catalogue: entries that meet conditions, one entry, everything; as plain data."""

import csv
import difflib
import functools
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rlmkb import __version__
from rlmkb.catalogue import KINDS, entries, entry, schema_of
from rlmkb.catalogue.annotations import fields_at, words
from rlmkb.catalogue.syntax import plain_value
from rlmkb.data import data_path
from rlmkb.errors import InputError, nearest

MEASUREMENTS = "measurements"
ALL_KINDS = (*KINDS, MEASUREMENTS)
_NAMED = 5  # values that a message names, where any text may stand
_TRUTHS = {"true": "yes", "false": "no"}

Record = dict[str, Any]


def list_entries(kind: str, where: Mapping[str, str] | None = None) -> list[Record]:
    """The entries of a kind that meet all conditions.

    Parameters
    ----------
    kind : str
        One of `ALL_KINDS`.
    where : mapping, optional
        From key to value. A key can be nested (``signal.family``), or the id of a feature (``async``) for the state
        of a framework. Several values are parted by ``|``; a list meets a condition if one of its items does.

    Returns
    -------
    list of dict
        Sorted by id.

    Raises
    ------
    InputError
        For an unknown kind, key or word, with the nearest known ones.

    Examples
    --------
    >>> [found["id"] for found in list_entries("features", {"group": "inter_model"})]
    ['ac_share', 'async', 'disagg', 'hybrid', 'stage_fusion']
    """
    found = _records(kind)
    for key, value in (where or {}).items():
        found = _meeting(found, kind, key, value)
    return list(found)


def conditions(text: str) -> dict[str, str]:
    """``KEY=VALUE,...`` as a mapping.

    Raises
    ------
    InputError
        Where a part is not of that form.

    Examples
    --------
    >>> conditions("async=yes,license=Apache-2.0|MIT")
    {'async': 'yes', 'license': 'Apache-2.0|MIT'}
    """
    found: dict[str, str] = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not (key.strip() and equals and value.strip()):
            raise InputError(f"--where has {part!r}; give KEY=VALUE, several of them parted by commas")
        if key.strip() in found:
            raise InputError(f"--where names {key.strip()!r} twice; give several values as {key.strip()}=A|B")
        found[key.strip()] = value.strip()
    return found


def show(id: str) -> Record:
    """One entry as loaded.

    Parameters
    ----------
    id : str
        An id, or ``KIND/ID`` where several kinds have it; else the first kind in the order of `ALL_KINDS` wins.

    Raises
    ------
    InputError
        For an unknown id, with the nearest known ones.

    Examples
    --------
    >>> show("verl")["features"]["DP"]["state"], show("architectures/deepseek-r1")["layers"]
    ('yes', 61)
    """
    kind, _, name = id.rpartition("/")
    kinds = kinds_of(name, kind)
    if kinds[0] == MEASUREMENTS:
        return next(row for row in _measurements() if row["id"] == name)
    return _record(entry(kinds[0], name))


def kinds_of(id: str, kind: str = "") -> list[str]:
    """The kinds that have an entry of this id; of one kind only, if it is given.

    Examples
    --------
    >>> kinds_of("deepseek-r1")
    ['models', 'architectures']
    """
    if kind and kind not in ALL_KINDS:
        raise InputError(f"{kind!r} is not a kind of the catalogue; allowed: {nearest(kind, ALL_KINDS)}")
    ids = {name: _ids(name) for name in ([kind] if kind else ALL_KINDS)}
    found = [name for name, known in ids.items() if id in known]
    if not found:
        known = [name for kind_ids in ids.values() for name in kind_ids]
        close = ", ".join(nearest(id.lower(), known).split(", ")[:3])
        raise InputError(f"{id!r} is not in the catalogue{f' of {kind}' if kind else ''}; nearest: {close}")
    return found


def export(out: str | Path | None = None) -> Record:
    """Everything the catalogue holds, by kind.

    Parameters
    ----------
    out : str or Path, optional
        A file to write it to as JSON.

    Raises
    ------
    InputError
        If the file cannot be written, or an entry is wrong.

    Examples
    --------
    >>> sorted(export())
    ['algorithms', 'architectures', 'features', 'frameworks', 'hardware', 'measurements', 'models', 'rlmkb']
    """
    found: Record = {"rlmkb": __version__} | {kind: list_entries(kind) for kind in ALL_KINDS}
    if out is not None:
        from rlmkb.catalogue.fixing import write_text

        write_text(Path(out), json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n")
    return found


# ---- records --------------------------------------------------------------------------------------------


def _records(kind: str) -> list[Record]:
    if kind == MEASUREMENTS:
        return _measurements()
    if kind not in KINDS:
        raise InputError(f"{kind!r} is not a kind of the catalogue; allowed: {nearest(str(kind), ALL_KINDS)}")
    return [_record(found) for found in entries(kind).values()]


def _record(found: Any) -> Record:
    return found.model_dump(mode="json")


def _ids(kind: str) -> list[str]:
    if kind == MEASUREMENTS:
        return [row["id"] for row in _measurements()]
    return sorted(path.stem for path in data_path(kind).glob("*.yml"))


def _cell(key: str, text: str) -> Any:
    """A number where the cell is one; names and versions stay text."""
    if any(part in key for part in ("id", "version", "commit", "label", "path", "model")):
        return text
    value = plain_value(text)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else text


@functools.cache
def _measurements() -> list[Record]:
    """The rows of all tables; empty cells are left out."""
    found = []
    for path in sorted(data_path(MEASUREMENTS).glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for number, row in enumerate(csv.DictReader(file), start=1):
                cells = {key: _cell(key, value) for key, value in row.items() if key and value}
                head = {"id": cells.pop("id", f"{path.stem}-{number:04}"), "table": path.stem}
                found.append(head | cells)
    return found


# ---- conditions -----------------------------------------------------------------------------------------


def _meeting(found: list[Record], kind: str, key: str, value: str) -> list[Record]:
    path = _path(found, kind, key)
    wanted = [_plain(word) for word in value.split("|")]
    allowed = _words(kind, path)
    for word in wanted:
        if allowed and word not in map(_plain, allowed):
            raise InputError(f"--where {key}={word}: not one of its words; allowed: {nearest(word, allowed)}")
        if not allowed:
            _must_occur(kind, key, path, word)
    return [record for record in found if any(_plain(leaf) in wanted for leaf in _leaves(record, path))]


def _must_occur(kind: str, key: str, path: tuple[str, ...], word: str) -> None:
    """Refuse a word that no entry has, where all that entries have is words and not numbers."""
    leaves = [leaf for record in _records(kind) for leaf in _leaves(record, path)]
    if any(isinstance(leaf, int | float) and not isinstance(leaf, bool) for leaf in leaves):
        return
    known = {_plain(leaf): str(leaf) for leaf in leaves if leaf is not None} | {"null": "null"}
    if word not in known:
        del known["null"]
        close = difflib.get_close_matches(word, known, n=_NAMED, cutoff=0.5) or sorted(known)[:_NAMED]
        more = f" and {len(known) - len(close)} more" if len(known) > len(close) else ""
        told = f"allowed: {', '.join(known[name][:80] for name in close)}{more}" if known else "none has a value there"
        raise InputError(f"--where {key}={word}: no entry of {kind} has that; {told}")


def _path(found: list[Record], kind: str, key: str) -> tuple[str, ...]:
    """The keys that a condition's key stands for."""
    path = tuple(key.split("."))
    known = _keys(found, kind)
    if kind == "frameworks" and path[0] not in known and path[0] in _features():
        path = ("features", *path)
    if kind == "frameworks" and path[0] == "features" and len(path) == 2 and path[1] in _features():
        path = (*path, "state")
    if path[0] not in known:
        names = [*known, *(_features() if kind == "frameworks" else ())]
        raise InputError(f"--where names {key!r}, which {kind} do not have; allowed: {nearest(path[0], names)}")
    if kind != MEASUREMENTS and len(path) > 1:
        inside = fields_at(schema_of(kind), path[:-1], None)
        if path[-1] not in inside:
            told = f"allowed: {nearest(path[-1], inside)}" if inside else f"{'.'.join(path[:-1])} has no keys"
            raise InputError(f"--where names {key!r}, which {kind} do not have; {told}")
    return path


def _keys(found: list[Record], kind: str) -> list[str]:
    if kind == MEASUREMENTS:
        return list(dict.fromkeys(key for record in _measurements() for key in record))
    return list(schema_of(kind).model_fields)


def _features() -> tuple[str, ...]:
    from rlmkb.catalogue.features import FEATURES

    return FEATURES


def _words(kind: str, path: tuple[str, ...]) -> tuple[str, ...]:
    if kind == MEASUREMENTS:
        return ()
    return words(fields_at(schema_of(kind), path[:-1], None)[path[-1]].annotation)


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[Any]:
    """What a path leads to; through lists to each item."""
    if isinstance(value, list):
        for item in value:
            yield from _leaves(item, path)
    elif not path:
        yield value
    elif isinstance(value, dict) and path[0] in value:
        yield from _leaves(value[path[0]], path[1:])


def _plain(value: Any) -> str:
    """A value as one would type it; true is yes."""
    text = json.dumps(value) if isinstance(value, bool | int | float) or value is None else str(value)
    return _TRUTHS.get(text.casefold(), text.casefold())


# ---- forms ----------------------------------------------------------------------------------------------


def as_csv(records: list[Record]) -> str:
    """Records as CSV: nested keys with full stops, lists of words with semicolons, other lists as JSON.

    Examples
    --------
    >>> as_csv([{"id": "a", "x": {"y": 1, "z": ["b", "c"]}}])
    'id,x.y,x.z\\r\\na,1,b; c\\r\\n'
    """
    rows = [dict(_cells(record)) for record in records]
    names = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, names, restval="")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _cells(record: Record, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in record.items():
        if isinstance(value, dict):
            yield from _cells(value, f"{prefix}{key}.")
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            yield f"{prefix}{key}", "; ".join(value)
        elif isinstance(value, list):
            yield f"{prefix}{key}", json.dumps(value, ensure_ascii=False)
        else:
            yield f"{prefix}{key}", json.dumps(value) if isinstance(value, bool) else value
