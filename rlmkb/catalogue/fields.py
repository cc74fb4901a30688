"""Field types that several kinds share: links, references, dates and sources."""

from datetime import date
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from rlmkb.catalogue.loading import Facts, Text


def _of_the_calendar(text: str) -> str:
    try:
        date.fromisoformat(text)
    except ValueError:
        raise ValueError('a day of the calendar, "YYYY-MM-DD"') from None
    return text


# pattern: what it asks for, in words, for messages
FORMS: dict[str, str] = {}


def _form(pattern: str, words: str) -> Any:
    FORMS[pattern] = words
    return Field(pattern=pattern)


Link = Annotated[
    str,
    _form(
        r"^https://[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+(:[0-9]+)?([/?#][!#-&(-;=?-Z_a-z~]*)?$",
        "a link that starts with https://, without spaces, quotes and angle brackets",
    ),
]
BibKey = Annotated[
    str, _form(r"^[a-z]+[0-9]{4}[a-z0-9]+$", "a key of data/references.bib, such as besta2026performance")
]
Day = Annotated[str, _form(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$", 'a day as "YYYY-MM-DD"'), AfterValidator(_of_the_calendar)]
Date = Annotated[
    str,
    _form(r"^[0-9]{4}-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?$", 'a day or a month as "YYYY-MM-DD" or "YYYY-MM"'),
]


class Source(Facts):
    """Where a statement of the entry can be seen."""

    url: Link
    """A page, a paper, or a file at a commit."""
    says: Text
    """What it says, in our own words."""
