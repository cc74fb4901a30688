"""Safe, strict reading of one YAML file into a pydantic model, with errors that name file and line."""

import stat
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from rlmkb.catalogue.problems import Problem, printable
from rlmkb.data import data_path
from rlmkb.errors import InputError

MAX_BYTES = 200_000  # the longest entry has a tenth of that

Size = Annotated[int, Field(ge=1, le=10**15)]
Text = Annotated[str, Field(min_length=1, max_length=2000, pattern=r"\S")]  # the longest has a sixth of that


@dataclass(frozen=True)
class Sentences:
    """Marks text that readers get as it is: whole sentences, `most` of them at most."""

    most: int | None = None


Prose = Annotated[Text, Sentences()]


def _each_once(items: tuple) -> tuple:
    if len(set(items)) < len(items):
        twice, _ = Counter(items).most_common(1)[0]
        named = next(iter(twice.model_dump().values())) if isinstance(twice, BaseModel) else twice
        raise ValueError(f"each item once, and not {printable(str(named))[:60]!r} again")
    return items


Item = TypeVar("Item")
# a list in the file, immutable in the entry; the longest has a fifth of what is allowed
InOrder = Annotated[tuple[Item, ...], Field(strict=False, max_length=500)]
_UNIQUE = (AfterValidator(_each_once), Field(json_schema_extra={"uniqueItems": True}))
Many = Annotated[tuple[Item, ...], Field(strict=False, max_length=100), *_UNIQUE]
Some = Annotated[tuple[Item, ...], Field(strict=False, min_length=1, max_length=100), *_UNIQUE]


class Facts(BaseModel):
    """Base of everything stored in the catalogue: exact types, no unknown keys, finite numbers, immutable."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Entry(Facts):
    """One file of the catalogue."""

    id: Annotated[str, Field(max_length=100, pattern=r"^[a-z0-9]+([.-][a-z0-9]+)*$")]
    """The file's name without its ending: the name in lower case, with hyphens."""
    name: Text
    """As its makers write it."""


AnyEntry = TypeVar("AnyEntry", bound=Entry)


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
    from rlmkb.catalogue.syntax import parse
    from rlmkb.catalogue.validation import validated

    label = shown(path)
    text, problems = read_text(path)
    if text is not None:
        tree, problems = parse(plain_text(text), label)
        if tree is not None and not problems:
            entry, problems = validated(tree, schema, label, path.stem)
            if entry is not None and not problems:
                return entry
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    raise InputError(f"{label}:{first.line}: {first.message}{more}")


def read_text(path: Path, limit: int = MAX_BYTES) -> tuple[str | None, list[Problem]]:
    """The text of a file as it is, or None with the reason why it is none."""
    label = shown(path)
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return None, [Problem(label, 1, "F101", "not a plain file")]
        if found.st_size > limit:
            size = f"{found.st_size:,} bytes; allowed: at most {limit:,}"
            return None, [Problem(label, 1, "F102", f"the file has {size}")]
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        return None, [Problem(label, 1, "F101", f"cannot be read as YAML: {reason.lower()}")]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return None, [Problem(label, line, "F103", f"cannot be read as YAML: not text in UTF-8 ({error.reason})")]
    return text, []


def plain_text(text: str) -> str:
    """Text without a byte order mark, every line ended by a line feed.

    Examples
    --------
    >>> plain_text("\\ufeffa\\r\\nb\\r")
    'a\\nb\\n'
    """
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def shown(path: Path) -> str:
    """The path as a reader knows it: from `data/` on, for a file of the catalogue."""
    root = data_path()
    text = f"data/{path.relative_to(root).as_posix()}" if path.is_relative_to(root) else str(path)
    return printable(text)
