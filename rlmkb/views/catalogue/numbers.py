"""Numbers in sentences: a page says what it counts, and the count is made when the page is built."""

from collections.abc import Callable
from statistics import median

from rlmkb.errors import InputError, nearest
from rlmkb.views.catalogue.text import percent
from rlmkb.views.markup import number_html

_WHEN = ("from", "before")  # compared with `released`


def count(question: str) -> int:
    """How many entries meet conditions.

    Parameters
    ----------
    question : str
        ``KIND`` or ``KIND: KEY=VALUE, ...``, as for ``rlmkb catalogue list KIND --where``; of models also
        ``from=2025`` and ``before=2025``, which compare the date of release.

    Raises
    ------
    InputError
        For an unknown kind, key or word.

    Examples
    --------
    >>> count("hardware: vendor=Intel"), count("models: before=2023")
    (2, 1)
    """
    from rlmkb.catalogue.queries import conditions, list_entries

    kind, _, text = question.partition(":")
    where = conditions(text.strip()) if text.strip() else {}
    when = {key: where.pop(key) for key in _WHEN if key in where}
    found = list_entries(kind.strip(), where or None)
    if when:
        found = [entry for entry in found if entry.get("released") and _within(entry["released"], when)]
    return len(found)


def _within(day: str, when: dict[str, str]) -> bool:
    return when.get("from", "") <= day < when.get("before", "9")


def computed(name: str) -> str:
    """A number that is more than a count, by name.

    Raises
    ------
    InputError
        For an unknown name, with the nearest known ones.
    """
    if name not in COMPUTED:
        raise InputError(f"{name!r} is not a computed number; allowed: {nearest(name, COMPUTED)}")
    return COMPUTED[name]()


def _unknown_share(public: bool) -> str:
    from rlmkb.catalogue import entries
    from rlmkb.views.catalogue.counts import state_counts

    chosen = [one for one in entries("frameworks").values() if one.repository or not public]
    found = state_counts(chosen)
    return percent(found["unknown"], sum(found.values()))


def _shapes(kind: str | None = None) -> list[dict[str, float]]:
    from rlmkb.catalogue import entries
    from rlmkb.views.catalogue.architectures import counts, kind_of

    return [counts(id) for id, one in entries("architectures").items() if kind in (None, kind_of(one))]


def _cells() -> int:
    from rlmkb.catalogue import entries
    from rlmkb.catalogue.features import FEATURES

    return len(entries("frameworks")) * len(FEATURES)


def _evidence() -> int:
    from rlmkb.catalogue import entries
    from rlmkb.views.catalogue.counts import coverage

    return sum(coverage(one).sources for one in entries("frameworks").values())


def _kib(value: float) -> str:
    return f"{number_html(value / 2**10)} KiB"


COMPUTED: dict[str, Callable[[], str]] = {
    "cells": lambda: str(_cells()),
    "sources": lambda: str(_evidence()),
    "unknown": lambda: _unknown_share(public=False),
    "unknown with public code": lambda: _unknown_share(public=True),
    "dense architectures": lambda: str(len(_shapes("dense"))),
    "mixtures": lambda: str(len(_shapes("mixture"))),
    "hybrids": lambda: str(len(_shapes("hybrid"))),
    "median active share of mixtures": lambda: (
        f"{100 * median(one['active'] / one['total'] for one in _shapes('mixture')):.0f}\u202f%"
    ),
    "least active share of mixtures": lambda: (
        f"{100 * min(one['active'] / one['total'] for one in _shapes('mixture')):.1f}\u202f%"
    ),
    "smallest cache": lambda: _kib(min(one["cache"] for one in _shapes())),
    "largest cache": lambda: _kib(max(one["cache"] for one in _shapes())),
}
