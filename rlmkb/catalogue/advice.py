"""What would make a right entry better: whole sentences, a reason for what is unknown, figures that can be true."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from rlmkb.catalogue.loading import Entry, Sentences
from rlmkb.catalogue.problems import Problem
from rlmkb.catalogue.syntax import Mapping, follow

LONGEST = 160  # lines of a file, comments left out
NAMED_BY_ID = ("models", "hardware", "architectures")
CITING = ("models",)
_LEFT_OVER = "unknown"
_BY_MEMORY = (30, 700)  # FLOP a byte of memory
_SOLD = (0.98, 1.09)  # memory that tools report over memory that is sold, in decimal or in binary gigabytes

Found = tuple[tuple, str, str]  # where, code, message


def entry_advice(kind: str, entry: Entry, tree: Mapping, text: str, label: str) -> Iterator[Problem]:
    """Advice about an entry that is right.

    Parameters
    ----------
    kind : str
        Its folder.
    entry, tree : Entry, Mapping
        The file as an entry, and with its lines.
    text, label : str
        The file, and how messages call it.
    """
    found: list[Found] = [*_sentences(entry), *_names(kind, entry), *_ABOUT.get(kind, lambda entry: ())(entry)]
    lines = sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in text.split("\n"))
    if lines > LONGEST:
        found.append((("id",), "A415", f"the file has {lines:,} lines; allowed: {LONGEST} of them, comments left out"))
    for where, code, message in found:
        yield Problem(label, follow(tree, where)[0], code, message, where=where)


def slug(name: str) -> str:
    """A name as an id.

    Examples
    --------
    >>> slug("Qwen2 & Qwen2.5")
    'qwen2-qwen2.5'
    """
    kept = "".join(letter if letter.isascii() and (letter.isalnum() or letter == ".") else " " for letter in name)
    return "-".join(kept.lower().split()).strip("-.")


def _names(kind: str, entry: Entry) -> Iterator[Found]:
    if kind in NAMED_BY_ID and entry.id != slug(entry.name):
        yield ("id",), "A411", f"id is {entry.id!r}, the name in lower case with hyphens is {slug(entry.name)!r}"
    if kind in CITING and not entry.references:
        yield ("id",), "A413", "references are missing; name the paper or report that says the rest"


# ---- sentences ------------------------------------------------------------------------------------------


def _sentences(entry: Entry) -> Iterator[Found]:
    for where, text, mark in _marked(entry, ()):
        fault = None if text == _LEFT_OVER else fault_of(text, mark.most)
        if fault:
            yield where, "A409", f"{'.'.join(map(str, where))} {fault}"


def fault_of(text: str, most: int | None = None) -> str | None:
    """Why a text is not made of whole sentences; None if it is.

    Examples
    --------
    >>> fault_of("vLLM generates."), fault_of("it generates."), fault_of("One. Two.", most=1)
    (None, 'starts with a small letter', 'has 2 sentences; allowed: 1')
    """
    first = text.split()[0]
    if not text.endswith("."):
        return "does not end with a full stop"
    if first[0].islower() and first.islower() and first.strip(".,;:").isalpha():
        return "starts with a small letter"
    if "  " in text:
        return "has two spaces in a row"
    count = text.count(". ") + 1
    return f"has {count} sentences; allowed: {most}" if most and count > most else None


def _marked(value: Any, where: tuple, mark: Sentences | None = None) -> Iterator[tuple[tuple, str, Sentences]]:
    """Every text of an entry that must be sentences."""
    if isinstance(value, BaseModel):
        for name, inner in _prose(type(value)):
            yield from _marked(getattr(value, name), (*where, name), inner)
    elif isinstance(value, tuple):
        for number, item in enumerate(value):
            yield from _marked(item, (*where, number), mark)
    elif isinstance(value, str) and mark:
        yield where, value, mark


@cache
def _prose(model: type[BaseModel]) -> tuple[tuple[str, Sentences | None], ...]:
    return tuple((name, _mark(field)) for name, field in model.model_fields.items())


def _mark(field: FieldInfo) -> Sentences | None:
    return next((part for part in [*field.metadata, *_metadata(field.annotation)] if isinstance(part, Sentences)), None)


def _metadata(annotation: Any) -> Iterable[Any]:
    yield from getattr(annotation, "__metadata__", ())
    for part in get_args(annotation):
        yield from _metadata(part)


# ---- kinds ----------------------------------------------------------------------------------------------


def _framework(entry: Any) -> Iterator[Found]:
    """One piece of advice for all cells, so that it does not hide the rest."""
    silent = [feature for feature, cell in entry.features.items() if cell.state == "unknown" and not cell.note]
    if silent:
        told = f"{', '.join(silent)}: unknown without a note that says what was looked at"
        yield ("features", silent[0]), "A410", told


def _hardware(entry: Any) -> Iterator[Found]:
    if entry.confidence == _LEFT_OVER:
        yield ("confidence",), "A406", "confidence is still 'unknown'; fill it in when you know it"
    rate, bandwidth, sold = entry.dense_peak.bf16, entry.memory_bandwidth_gb_per_s, entry.memory_gb
    if rate and bandwidth and not _BY_MEMORY[0] < rate * 1000 / bandwidth < _BY_MEMORY[1]:
        least, most = _BY_MEMORY
        told = f"dense_peak.bf16 makes {rate * 1000 / bandwidth:,.0f} FLOP a byte of memory; likely: {least} to {most}"
        yield ("dense_peak", "bf16"), "A412", told
    if entry.memory_gib_reported and sold:
        ratio = entry.memory_gib_reported * 2**30 / (sold * 1e9)
        if not _SOLD[0] < ratio < _SOLD[1]:
            told = f"memory_gib_reported is {ratio:.2f} of memory_gb; likely: {_SOLD[0]} to {_SOLD[1]}"
            yield ("memory_gib_reported",), "A412", told


_ABOUT = {"frameworks": _framework, "hardware": _hardware}
