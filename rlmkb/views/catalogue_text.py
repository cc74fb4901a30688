"""Entries of the catalogue as plain text for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rlmkb.catalogue.problems import printable
from rlmkb.views.terminal import columns

# kind: heading and the keys, nested ones with full stops, that stand below it
_COLUMNS: dict[str, dict[str, str]] = {
    "models": {"access": "access", "structure": "structure", "post-training": "signal.family", "scale": "scale"},
    "features": {"name": "name", "group": "group"},
    "algorithms": {"name": "name", "family": "family", "based on": "based_on", "setting": "setting"},
    "architectures": {"layers": "layers", "width": "d_model", "parameters": "published.size"},
    "hardware": {
        "memory, GB": "memory_gb",
        "GB/s": "memory_bandwidth_gb_per_s",
        "TFLOP/s bf16": "dense_peak.bf16",
        "scale-up, GB/s": "scale_up.bandwidth_gb_per_s",
        "confidence": "confidence",
    },
    "measurements": {"table": "table", "row": "row_label"},
}
_SHORT = {"yes": "yes", "partial": "part", "no": "no", "unknown": "?", "not_applicable": "n/a"}
_WIDEST = 60


def listed_text(kind: str, found: Sequence[Mapping[str, Any]]) -> str:
    """Entries as a table, with how many there are.

    Examples
    --------
    >>> print(listed_text("features", [{"id": "DP", "name": "Data parallelism", "group": "intra_model"}]))
    id  name              group
    DP  Data parallelism  intra_model
    <BLANKLINE>
    1 entry
    """
    count = f"{len(found):,} entr{'y' if len(found) == 1 else 'ies'}"
    if not found:
        return count
    if kind == "frameworks":
        names = list(found[0]["features"])
        rows = [[_SHORT[entry["features"][name]["state"]] for name in names] for entry in found]
    else:
        names = list(_COLUMNS[kind])
        rows = [list(row_of(kind, entry).values()) for entry in found]
    body = [("id", *names), *((entry["id"], *row) for entry, row in zip(found, rows, strict=True))]
    return f"{columns(body)}\n\n{count}"


def row_of(kind: str, entry: Mapping[str, Any]) -> dict[str, str]:
    """The columns of a kind's table and what an entry has there; frameworks are shown by their features.

    Examples
    --------
    >>> row_of("features", {"id": "DP", "name": "Data parallelism", "group": "intra_model"})
    {'name': 'Data parallelism', 'group': 'intra_model'}
    """
    return {name: _shown(_at(entry, key)) for name, key in _COLUMNS[kind].items()}


def _at(entry: Mapping[str, Any], key: str) -> Any:
    value: Any = entry
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _shown(value: Any) -> str:
    text = "" if value is None else printable(str(value))
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."


def entry_text(entry: Mapping[str, Any]) -> str:
    """An entry key by key; empty ones are left out.

    Examples
    --------
    >>> print(entry_text({"id": "a", "b": {"c": 1, "d": None}, "e": ["f", {"g": "h"}]}))
    id: a
    b:
      c: 1
    e:
      - f
      - g: h
    """
    return "\n".join(_lines(entry, ""))


def _lines(value: Mapping[str, Any], indent: str) -> list[str]:
    lines = []
    for key, inner in value.items():
        if inner is None or inner in ([], {}):
            continue
        if isinstance(inner, Mapping):
            lines += [f"{indent}{key}:", *_lines(inner, f"{indent}  ")]
        elif isinstance(inner, Sequence) and not isinstance(inner, str):
            lines += [f"{indent}{key}:", *(line for item in inner for line in _item(item, f"{indent}  "))]
        else:
            lines.append(f"{indent}{key}: {printable(str(inner))}")
    return lines


def _item(item: Any, indent: str) -> list[str]:
    if not isinstance(item, Mapping):
        return [f"{indent}- {printable(str(item))}"]
    first, *rest = _lines(item, f"{indent}  ")
    return [f"{indent}- {first.lstrip()}", *rest]
