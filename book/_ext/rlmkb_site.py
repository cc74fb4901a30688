"""Sphinx extension of the book: what surrounds the content of every page, and the files beside the pages.

Addresses follow from `repository: url` of `_config.yml`; version and authors from the package and `CITATION.cff`.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from docutils import nodes
from rlmkb_catalogue import repository

import rlmkb
from rlmkb.views import design
from rlmkb.views import publication as pub

PICTURE = "screenshot.png"  # of the landing page, shown where a link to the book is previewed
NOT_FOUND = "404"
# Scripts of this extension, loaded only by pages that contain their mark.
PAGE_SCRIPTS = {"rl-term": "terms.js"}

# Slips of accessibility in what others write into a page. Each names what is visible or has the right role.
MENDED = [
    # MyST-NB: the button of a folded cell is called what it says
    (re.compile(r'<summary aria-label="Toggle hidden content">'), "<summary>"),
    # docutils: the role of an entry of the bibliography is deprecated; its list needs items
    (re.compile(r'role="doc-biblioentry"'), 'role="listitem"'),
    # a column without a name has no heading
    (re.compile(r"<th[^>]*>(?:<p></p>)?</th>"), '<td class="head"></td>'),
]


def derive_addresses(app: Any, config: Any) -> None:
    """Set the address of the site, which gives canonical addresses."""
    config.html_baseurl = pub.site_address(repository(config))


def add_frame(app: Any, page: str, templatename: str, context: dict, doctree: nodes.document | None) -> None:
    """Previews, buttons and the citation of one page."""
    mend(context)
    if doctree is None or app.builder.name != "html":
        return
    title = nodes_text(app.env.titles[page])
    address = app.config.html_baseurl + app.builder.get_target_uri(page)
    context["metatags"] = f"{context.get('metatags', '')}\n{pub.meta_html(preview(app, title, address, doctree))}"
    issue = pub.issue_address(repository(app.config), title, address, rlmkb.__version__)
    for button in header_buttons(context):
        if button.get("label") == "source-issues-button":
            button["url"] = issue
    year = str(app.config.copyright)
    citation = read_citation(Path(app.srcdir))
    context["page_foot"] = {
        "edit": context["get_edit_provider_and_url"]()[1] if context.get("page_source_suffix") else None,
        "issue": issue,
        "bibtex": pub.bibtex(page, title, address, citation, app.config.html_title, year) if citation else "",
    }
    for mark, script in PAGE_SCRIPTS.items():
        if mark in (context.get("body") or ""):
            app.add_js_file(script, loading_method="defer")


def mend(context: dict) -> None:
    """Mend slips of accessibility in the body of a page and in the list of pages beside it."""
    body = context.get("body") or ""
    for pattern, replacement in MENDED:
        body = pattern.sub(replacement, body)
    context["body"] = body
    listed: Callable[..., Any] | None = context.get("generate_toctree_html")
    if listed:
        # the arrow that opens a chapter's pages has no text
        name = '<summary aria-label="Pages of this chapter">'
        context["generate_toctree_html"] = lambda *args, **options: str(listed(*args, **options)).replace(
            "<summary>", name
        )


def header_buttons(context: dict) -> list[dict]:
    """The buttons above a page, those of groups included."""
    buttons = context.get("header_buttons", [])
    return [*buttons, *(inner for button in buttons for inner in button.get("buttons", []))]


def preview(app: Any, title: str, address: str, doctree: nodes.document) -> dict[str, str]:
    """What search engines and previews of a link show."""
    text = description(doctree) or app.config.html_title
    found = {
        "description": text,
        "og:title": title,
        "og:description": text,
        "og:type": "article",
        "og:url": address,
        "og:site_name": app.config.html_title,
        "og:locale": "en_GB",
        "twitter:card": "summary",
    }
    if any((Path(app.srcdir) / folder / PICTURE).is_file() for folder in app.config.html_static_path):
        found["og:image"] = f"{app.config.html_baseurl}_static/{PICTURE}"
        found["og:image:alt"] = "The first page of the book"
        found["twitter:card"] = "summary_large_image"
    return found


def description(doctree: nodes.document) -> str:
    """The first sentences of a page that are free of mathematics."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = paragraph.astext()
        plain = not any(True for _ in paragraph.findall(nodes.math)) and "$" not in text
        if plain and len(text) > 25 and not isinstance(paragraph.parent, nodes.entry):
            return pub.shortened(text)
    return ""


def nodes_text(title: nodes.title) -> str:
    """A title in words; mathematics in it stays LaTeX."""
    return " ".join(title.astext().split())


def read_citation(root: Path) -> dict | None:
    """The content of `CITATION.cff`; None in a book without one."""
    path = root / "CITATION.cff"
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else None


def write_files(app: Any, exception: Exception | None) -> None:
    """The files beside the pages: the root that leads on, the page for a wrong address, the map of the site."""
    if exception is not None or app.builder.name != "html":
        return
    out, config, first = Path(app.outdir), app.config, app.config.root_doc
    target = app.builder.get_target_uri
    render = app.builder.templates.render
    pages = {page: nodes_text(app.env.titles[page]) for page in [first, *chapters(app)]}
    where = {"title": config.html_title, "base": urlsplit(config.html_baseurl).path}
    lost = where | {
        "style": pub.small_stylesheet(design.css(), ["page", "ink", "line", "accent"]),
        "pages": pages,
        "issue": pub.issue_address(repository(config), "Page not found", config.html_baseurl, rlmkb.__version__),
    }
    (out / f"{NOT_FOUND}.html").write_text(render("not-found.html", lost), encoding="utf-8")
    if first != "index":
        root = where | {"page": target(first), "address": config.html_baseurl + target(first)}
        (out / "index.html").write_text(render("redirect.html", root), encoding="utf-8")
    addresses = [config.html_baseurl + target(page) for page in sorted(app.env.found_docs)]
    (out / "sitemap.xml").write_text(pub.sitemap(addresses), encoding="utf-8")


def chapters(app: Any) -> list[str]:
    """The first page of each part of the book."""
    parts = app.env.tocs[app.config.root_doc].findall(lambda node: node.tagname == "toctree")
    return [part["entries"][0][1] for part in parts if part["entries"]]


def setup(app: Any) -> dict[str, bool]:
    for name in ("rlmkb_reference", "rlmkb_glossary"):
        app.setup_extension(name)
    app.connect("config-inited", derive_addresses, priority=101)
    app.connect("html-page-context", add_frame, priority=902)
    app.connect("build-finished", write_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
