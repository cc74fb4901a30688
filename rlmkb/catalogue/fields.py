"""Field types that several kinds share: links, references, dates, licences and sources."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, Field

from rlmkb.catalogue.loading import Facts, Prose, Text
from rlmkb.errors import nearest

# those that software is likely to have; another one is LicenseRef-NAME, as SPDX says
LICENCES = (
    *("0BSD", "AFL-3.0", "AGPL-3.0-only", "AGPL-3.0-or-later", "Apache-2.0", "Artistic-2.0", "BSD-2-Clause"),
    *("BSD-2-Clause-Patent", "BSD-3-Clause", "BSD-3-Clause-Clear", "BSL-1.0", "BUSL-1.1", "CC-BY-4.0", "CC-BY-NC-4.0"),
    *("CC-BY-NC-SA-4.0", "CC-BY-SA-4.0", "CC0-1.0", "ECL-2.0", "EPL-2.0", "EUPL-1.2", "Elastic-2.0", "GPL-2.0-only"),
    *("GPL-2.0-or-later", "GPL-3.0-only", "GPL-3.0-or-later", "ISC", "LGPL-2.1-only", "LGPL-2.1-or-later"),
    *("LGPL-3.0-only", "LGPL-3.0-or-later", "MIT", "MIT-0", "MPL-2.0", "MS-PL", "MulanPSL-2.0", "NCSA", "OSL-3.0"),
    *("PostgreSQL", "Python-2.0", "SSPL-1.0", "UPL-1.0", "Unlicense", "Vim", "WTFPL", "Zlib"),
)
_REVISION = re.compile(r"/(?:blob|tree|raw|resolve|blame|edit|src/branch)/([^/]*)")
_CODE = re.compile(
    r"(.*\.)?(github\.com|gitlab\.com|huggingface\.co|hf\.co|gitee\.com|gitcode\.com|bitbucket\.org|codeberg\.org)"
    r"|gitlab\..*"
)


def host_of(url: str) -> str:
    """The host of a link, without what makes no difference.

    Examples
    --------
    >>> host_of("https://www.GitHub.com./a/b")
    'github.com'
    """
    return (urlsplit(url).hostname or "").rstrip(".").removeprefix("www.")


def moves(url: str) -> bool:
    """Whether a link leads to a file on a branch or tag, which can change, and not at a commit.

    Examples
    --------
    >>> moves("https://huggingface.co/a/b/blob/main/config.json"), moves("https://gitlab.com/a/b")
    (True, False)
    """
    host, path = host_of(url), unquote(urlsplit(url).path)
    if host.endswith("githubusercontent.com"):
        return not re.match(r"/[^/]+/[^/]+/[0-9a-f]{40}/", path)
    found = _REVISION.search(path)
    return bool(_CODE.fullmatch(host) and found and not re.fullmatch(r"[0-9a-f]{40}", found[1]))


def _stays(url: str) -> str:
    if moves(url):
        raise ValueError("a link to a commit, with all 40 digits, in place of the branch or tag")
    return url


def _of_the_calendar(text: str) -> str:
    """A day or month that exists, and that has come wherever the reader is."""
    try:
        date.fromisoformat(text if len(text) > len("YYYY-MM") else f"{text}-01")
    except ValueError:
        raise ValueError('a day of the calendar, "YYYY-MM-DD"') from None
    today = (datetime.now(UTC) + timedelta(hours=14)).date().isoformat()
    if text > today[: len(text)]:
        raise ValueError(f"a day that has come, at most {today}")
    return text


def _known_licence(text: str) -> str:
    """Identifiers, joined by AND or OR."""
    for name in re.split(r" (?:AND|OR) ", text):
        if name not in LICENCES and not re.fullmatch(r"LicenseRef-[A-Za-z0-9.-]+", name):
            raise ValueError(f"an SPDX identifier: {', '.join(nearest(name, LICENCES).split(', ')[:3])} ..., "
                             "or LicenseRef-NAME for a licence of its own")  # fmt: skip
    return text


# pattern: what it asks for, in words, for messages
FORMS: dict[str, str] = {}


def _form(pattern: str, words: str) -> Any:
    FORMS[pattern] = words
    return Field(pattern=pattern)


Link = Annotated[
    str,
    Field(max_length=1000),
    _form(
        r"^https://([A-Za-z0-9-]+\.)+[A-Za-z][A-Za-z0-9-]*[A-Za-z0-9](:[0-9]+)?([/?#][!#-&(-;=?-Z_a-z~]*)?$",
        "a link that starts with https:// and the name of a host, without spaces, quotes and angle brackets",
    ),
]
BibKey = Annotated[
    str,
    Field(max_length=100),
    _form(r"^[a-z]+[0-9]{4}[a-z0-9]+$", "a key of data/references.bib, such as besta2026performance"),
]
Day = Annotated[str, _form(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$", 'a day as "YYYY-MM-DD"'), AfterValidator(_of_the_calendar)]
Date = Annotated[
    str,
    _form(r"^[0-9]{4}-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?$", 'a day or a month as "YYYY-MM-DD" or "YYYY-MM"'),
    AfterValidator(_of_the_calendar),
]
Licence = Annotated[Text, AfterValidator(_known_licence)]


class Source(Facts):
    """Where a statement of the entry can be seen."""

    url: Annotated[Link, AfterValidator(_stays)]
    """A page, a paper, or a file at a commit."""
    says: Prose
    """What it says, in our own words."""
