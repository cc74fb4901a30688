"""Field types that several kinds share: links, references, dates and sources."""

from typing import Annotated

from pydantic import Field

from rlmkb.catalogue.loading import Facts, Text

Link = Annotated[str, Field(pattern=r"^https://[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+(:[0-9]+)?([/?#][!#-;=?-~]*)?$")]
BibKey = Annotated[str, Field(pattern=r"^[a-z]+[0-9]{4}[a-z0-9]+$")]
Date = Annotated[str, Field(pattern=r"^20[0-9]{2}-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?$")]


class Source(Facts):
    """Where a statement of the entry can be seen."""

    url: Link
    """A page, a paper, or a file at a commit."""
    says: Text
    """What it says, in our own words."""
