"""What the published book says about itself: addresses, citations, previews, a map of the site.

Pure functions from what `_config.yml` and `CITATION.cff` state; the Sphinx extension of the book calls them.
"""

import re
from collections.abc import Iterable, Mapping
from html import escape
from urllib.parse import quote

from rlmkb.errors import InputError

DESCRIPTION_LENGTH = 200  # characters; previews and search engines cut what is longer
_TEX = {"&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}", "\\": r"\textbackslash{}",
        "{": r"\textbraceleft{}", "}": r"\textbraceright{}"}  # fmt: skip


def site_address(repository: str) -> str:
    """Where GitHub Pages shows a repository's site.

    Parameters
    ----------
    repository : str
        Address of the repository.

    Returns
    -------
    str
        Address of the site, with a slash at its end.

    Raises
    ------
    InputError
        If it is not an address of GitHub with an owner and a name.

    Examples
    --------
    >>> site_address("https://github.com/Someone/book"), site_address("https://github.com/someone/someone.github.io")
    ('https://someone.github.io/book/', 'https://someone.github.io/')
    """
    found = re.fullmatch(r"https://github\.com/([\w-]+)/([\w.-]+?)/?", repository)
    if not found:
        raise InputError(f"the repository is {repository!r}; give it as https://github.com/OWNER/NAME")
    host, name = f"{found[1].lower()}.github.io", found[2]
    return f"https://{host}/" if name.lower() == host else f"https://{host}/{name}/"


def issue_address(repository: str, title: str, page: str, version: str) -> str:
    """A new issue about a page, with what the reader would otherwise have to type.

    Examples
    --------
    >>> issue_address("https://github.com/a/b", "Notation", "https://a.github.io/b/n.html", "1.0")[:60]
    'https://github.com/a/b/issues/new?title=On%20%E2%80%9CNotati'
    """
    body = f"Page: {page}\nVersion: {version}\n\nWhat is wrong or missing, and where can one see it?\n\n"
    return f"{repository.rstrip('/')}/issues/new?title={quote(f'On “{title}”: ')}&body={quote(body)}"


def bibtex(page: str, title: str, address: str, citation: Mapping, book: str, year: str) -> str:
    """The BibTeX entry of one page.

    Parameters
    ----------
    page : str
        Name of the page, for example ``book/foundations/notation``.
    title, address : str
        Its title and its address.
    citation : mapping
        The content of `CITATION.cff`: authors and version.
    book, year : str
        Title and year of the book.

    Examples
    --------
    >>> about = {"authors": [{"name": "The authors"}], "version": "1.0"}
    >>> print(bibtex("book/a/b-c", "Work & depth", "https://x.org/", about, "The book", "2026"))
    @misc{rlmkb-a-b-c,
      author       = {{The authors}},
      title        = {{Work \\& depth}},
      howpublished = {In: The book, version 1.0},
      year         = {2026},
      url          = {https://x.org/}
    }
    """
    fields = {
        "author": " and ".join(map(_author, citation["authors"])),
        "title": f"{{{_tex(title)}}}",
        "howpublished": f"In: {_tex(book)}, version {citation['version']}",
        "year": year,
        "url": address,
    }
    lines = ",\n".join(f"  {key:<12} = {{{value}}}" for key, value in fields.items())
    return f"@misc{{{_key(page)},\n{lines}\n}}"


def _key(page: str) -> str:
    parts = [part for part in page.split("/") if part not in ("book", "data")]
    return "-".join(["rlmkb", *(part for part in parts if part != "index")])


def _author(author: Mapping) -> str:
    if "name" in author:  # an organisation: braces keep BibTeX from taking it apart
        return f"{{{_tex(author['name'])}}}"
    return f"{_tex(author['family-names'])}, {_tex(author['given-names'])}"


def _tex(text: str) -> str:
    return "".join(_TEX.get(character, character) for character in text)


def shortened(text: str, length: int = DESCRIPTION_LENGTH) -> str:
    """One line of at most so many characters, cut between words.

    Examples
    --------
    >>> shortened("one two three", 9), shortened("one\\n two")
    ('one two…', 'one two')
    """
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    return line[:length].rsplit(" ", 1)[0].rstrip(",;:–") + "…"


def meta_html(properties: Mapping[str, str]) -> str:
    """`<meta>` elements; keys with a colon are properties of OpenGraph, others are names.

    Examples
    --------
    >>> meta_html({"description": "a < b", "og:type": "article"})
    '<meta name="description" content="a &lt; b" />\\n<meta property="og:type" content="article" />'
    """
    return "\n".join(
        f'<meta {"property" if key.startswith("og:") else "name"}="{escape(key)}" content="{escape(value)}" />'
        for key, value in properties.items()
    )


def sitemap(addresses: Iterable[str]) -> str:
    """The map of the site in the form that search engines read.

    Examples
    --------
    >>> "<url><loc>https://x.org/?a=1&amp;b</loc></url>" in sitemap(["https://x.org/?a=1&b"])
    True
    """
    urls = "\n".join(f"<url><loc>{escape(address)}</loc></url>" for address in addresses)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    return f"{head}\n{urls}\n</urlset>\n"


def small_stylesheet(css: str, colours: Iterable[str]) -> str:
    """The part of the design's stylesheet that a page on its own needs: the sans font and some colours.

    Examples
    --------
    >>> from rlmkb.views import design
    >>> small_stylesheet(design.css(), ["ink"]).count("--rl-ink:"), "policy" in small_stylesheet(design.css(), ["ink"])
    (2, False)
    """
    wanted = ("sans", *colours)
    lines = [line for line in css.splitlines() if not line.startswith("  --rl-") or line[7:].split(":")[0] in wanted]
    return "\n".join(line for line in lines if line and not line.startswith((".rl-", "/*")))
