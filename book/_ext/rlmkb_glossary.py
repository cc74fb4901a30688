"""Sphinx extension of the book: the first mention of a term on a page leads to its definition and shows it.

Terms and definitions are those of ``{glossary}``, wherever it stands. A term in a ``{div} rl-not-linked`` is an
everyday word with a narrower meaning here: it is defined, and never linked by itself.
"""

import re
from collections.abc import Iterator
from html import escape
from typing import Any

from docutils import nodes
from sphinx import addnodes

from rlmkb.views.publication import shortened

NOT_LINKED = "rl-not-linked"
CARD = "sd-card"  # a link as a whole
DEFINITION_LENGTH = 280  # characters that are shown; the glossary has the rest
# Where a link would only disturb.
PASSED_OVER = (nodes.title, nodes.entry, nodes.caption, nodes.term, nodes.footnote, nodes.citation, addnodes.desc,
               addnodes.glossary, nodes.reference)  # fmt: skip

# From a term in lower case to the page and anchor of its definition and to its first sentences.
Terms = dict[str, tuple[str, str, str]]


def collect(app: Any, doctree: nodes.document) -> None:
    """Note the terms that a page defines."""
    found: Terms = {}
    for glossary in doctree.findall(addnodes.glossary):
        if any(NOT_LINKED in parent.get("classes", []) for parent in ancestors(glossary)):
            continue
        for item in glossary.findall(nodes.definition_list_item):
            meaning = shortened(next(item.findall(nodes.definition)).children[0].astext(), DEFINITION_LENGTH)
            for term in item.findall(nodes.term):
                found[term.astext().lower()] = (app.env.docname, term["ids"][0], meaning)
    if found:
        by_page(app.env)[app.env.docname] = found


def by_page(env: Any) -> dict[str, Terms]:
    """The terms of each page that defines some."""
    if not hasattr(env, "rlmkb_terms"):
        env.rlmkb_terms = {}
    return env.rlmkb_terms


def forget(app: Any, env: Any, page: str) -> None:
    by_page(env).pop(page, None)


def merge(app: Any, env: Any, pages: set[str], other: Any) -> None:
    by_page(env).update(by_page(other))


def link(app: Any, doctree: nodes.document, page: str) -> None:
    """Link the first mention of each term in the paragraphs of a page."""
    terms = {term: where for found in by_page(app.env).values() for term, where in found.items()}
    if not terms or app.builder.name != "html":
        return
    pattern = mentions(terms)
    wanted = {where for where in terms.values() if where[0] != page}
    for paragraph in list(doctree.findall(nodes.paragraph)):
        if any(isinstance(parent, PASSED_OVER) or CARD in parent.get("classes", []) for parent in ancestors(paragraph)):
            continue
        for text in [child for child in paragraph.children if isinstance(child, nodes.Text)]:
            parts = list(linked(text.astext(), pattern, terms, wanted, page, app.builder))
            if len(parts) > 1:
                paragraph.replace(text, parts)


def mentions(terms: Terms) -> re.Pattern:
    """What matches a term or its plural, longer terms first."""
    words = "|".join(re.escape(term).replace(r"\ ", r"\s+") for term in sorted(terms, key=len, reverse=True))
    return re.compile(rf"(?<![\w-])({words})(?:s|es)?(?![\w-])", re.IGNORECASE)


def linked(
    text: str, pattern: re.Pattern, terms: Terms, wanted: set, page: str, builder: Any
) -> Iterator[nodes.Node]:
    """The text with links; each definition leaves `wanted` when it was linked."""
    done = 0
    for found in pattern.finditer(text):
        where = terms[" ".join(found[1].lower().split())]
        if where not in wanted:
            continue
        wanted.discard(where)
        yield nodes.Text(text[done : found.start()])
        address = escape(f"{builder.get_relative_uri(page, where[0])}#{where[1]}")
        # the description is read out by assistive technology, and shown by terms.js
        start = f'<a class="rl-term" href="{address}" aria-description="{escape(where[2])}">'
        yield nodes.raw("", f"{start}{escape(found[0])}</a>", format="html")
        done = found.end()
    yield nodes.Text(text[done:])


def ancestors(node: nodes.Node) -> Iterator[nodes.Element]:
    while node.parent is not None:
        node = node.parent
        yield node


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-read", collect)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("doctree-resolved", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "env_version": 1}
