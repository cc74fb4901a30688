"""Text and links from entries as HTML and Markdown: escaped, since anyone may propose an entry."""

import re
from collections.abc import Callable, Iterable
from html import escape
from urllib.parse import urlsplit

To = Callable[[str], str]  # from the name of a page to its address, relative to the page that is being made

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def page_of(framework: str) -> str:
    """The page of a framework: its source is the entry itself.

    Examples
    --------
    >>> page_of("verl")
    'data/frameworks/verl'
    """
    return f"data/frameworks/{framework}"


def external(url: str | None, text: str) -> str:
    """A link to another site; the text alone if the address is not one of the web.

    Examples
    --------
    >>> external("https://example.org/?a=1&b", "a < b")
    '<a class="reference external" rel="noopener" href="https://example.org/?a=1&amp;b">a &lt; b</a>'
    >>> external("javascript:alert(1)", "click")
    'click'
    """
    try:
        parts = urlsplit(url or "")
        on_the_web = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        on_the_web = False
    if not on_the_web:
        return escape(text)
    return f'<a class="reference external" rel="noopener" href="{escape(url or "")}">{escape(text)}</a>'


def internal(href: str, text: str, kind: str = "", title: str = "") -> str:
    """A link within the book.

    Examples
    --------
    >>> internal("a.html#b", "c", kind="d")
    '<a class="reference internal d" href="a.html#b">c</a>'
    """
    told = f' title="{escape(title)}"' if title else ""
    return f'<a class="{f"reference internal {kind}".strip()}" href="{escape(href)}"{told}>{escape(text)}</a>'


def small(html: str) -> str:
    """A quiet second line."""
    return f'<span class="rl-small">{html}</span>'


def paragraph(html: str, kind: str = "") -> str:
    """A paragraph; empty if there is nothing to say."""
    told = f' class="{kind}"' if kind else ""
    return f"<p{told}>{html}</p>" if html else ""


def items(lines: Iterable[str], kind: str = "") -> str:
    """A list; empty if there is nothing in it."""
    told = f' class="{kind}"' if kind else ""
    body = "".join(f"<li>{line}</li>" for line in lines)
    return f"<ul{told}>{body}</ul>" if body else ""


def markdown(text: str) -> str:
    r"""Text that Markdown shows as it is written, on one line.

    Examples
    --------
    >>> markdown("a_b <i>")
    'a\\_b \\<i\\>'
    """
    return _PUNCTUATION.sub(r"\\\1", " ".join(text.split()))


def number_of(count: int, one: str, many: str = "") -> str:
    """A count with its noun.

    Examples
    --------
    >>> number_of(1, "entry", "entries"), number_of(0, "cell")
    ('1 entry', '0 cells')
    """
    return f"{count} {one if count == 1 else many or one + 's'}"


def percent(part: int, whole: int) -> str:
    """A share as a whole percentage.

    Examples
    --------
    >>> percent(1, 3)
    '33\u202f%'
    """
    return f"{100 * part / whole:.0f}\u202f%" if whole else "–"
