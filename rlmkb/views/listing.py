"""A few numbers side by side as the last line of a notebook cell: a table of the book, and plain text elsewhere."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rlmkb.errors import InputError
from rlmkb.views.markup import MATH, number_html, table_html

_TAG = re.compile(r"<[^>]+>")


@dataclass(frozen=True)
class Listing:
    """Rows under column headings; see `listing`."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]

    def _repr_html_(self) -> str:
        return table_html(self.columns, self.rows, name=self.caption, caption=self.caption)

    def __repr__(self) -> str:
        lines = [[MATH.sub(r"\1", column) for column in self.columns]]
        lines += [[_plain(value) for value in row] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def listing(rows: Sequence[Mapping[str, object]], caption: str) -> Listing:
    """A table of records that all have the same keys, in the order of the first one.

    Parameters
    ----------
    rows : sequence of mapping
        From column heading to text or number; ``$...$`` in text is mathematics.
    caption : str
        Shown above the table.

    Returns
    -------
    Listing
        Shown with four significant digits; what it holds is not rounded.

    Raises
    ------
    InputError
        If there is no row, or one has other keys than the first.

    Examples
    --------
    >>> listing([{"model": "a", "FLOP": 2e9}, {"model": "b", "FLOP": 12}], "Work of two models")
    model  FLOP
    a      2 × 10^9
    b      12
    """
    if not rows:
        raise InputError(f"the table {caption!r} has no rows; give at least one")
    columns = tuple(rows[0])
    for row in rows:
        if tuple(row) != columns:
            raise InputError(f"a row of {caption!r} has the columns {', '.join(row)}; give {', '.join(columns)}")
    return Listing(caption, columns, tuple(tuple(row.values()) for row in rows))


def _plain(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return MATH.sub(r"\1", str(value))
    return _TAG.sub("", number_html(value).replace("<sup>", "^"))
