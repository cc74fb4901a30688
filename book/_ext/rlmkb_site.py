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
SEARCH_ORDER = Path("book", "_static", "search-order.js")
# Scripts of this extension, loaded only by pages that contain their mark.
PAGE_SCRIPTS = {"rl-term": "terms.js", "rl-table": "paper.js"}

# Slips of accessibility in what others write into a page. Each names what is visible or has the right role.
MENDED = [
    # MyST-NB: the button of a folded cell is called what it says
    (re.compile(r'<summary aria-label="Toggle hidden content">'), "<summary>"),
    # docutils: the role of an entry of the bibliography is deprecated; its list needs items
    (re.compile(r'role="doc-biblioentry"'), 'role="listitem"'),
    # a column without a name has no heading
    (re.compile(r"<th[^>]*>(?:<p></p>)?</th>"), '<td class="head"></td>'),
]
# docutils says this as well as the theme
VIEWPORT = re.compile(r'<meta name="viewport"[^>]*/>\s*')
# Sphinx's script that marks what was searched for fails on the words of a drawing; only the search itself needs it.
MARKER = "sphinx_highlight.js"
# Marks around code that change nothing in its look, and are up to a third of a page.
SPARED = re.compile(r'<span class="(?:pre|n|p|w)">([^<]*)</span>')


def complete_config(app: Any, config: Any) -> None:
    """Set the address of the site, which gives canonical addresses, and the order of what the search finds."""
    config.html_baseurl = pub.site_address(repository(config))
    order = Path(app.srcdir) / SEARCH_ORDER
    config.html_search_scorer = str(order) if order.is_file() else ""


def add_foot(app: Any, page: str, templatename: str, context: dict, doctree: nodes.document | None) -> None:
    """Issue link and citation of one page; early, since the theme drops templates that are empty when it looks."""
    if doctree is None or app.builder.name != "html":
        return
    title, address, config = words(app.env.titles[page]), page_address(app, page), app.config
    citation = read_citation(Path(app.srcdir))
    entry = pub.bibtex(page, title, address, citation, config.html_title, str(config.copyright)) if citation else ""
    issue = pub.issue_address(repository(config), title, address, rlmkb.__version__)
    context["page_foot"] = {"edit": None, "issue": issue, "bibtex": entry}


def add_frame(app: Any, page: str, templatename: str, context: dict, doctree: nodes.document | None) -> None:
    """Preview and buttons of one page, and the scripts that it needs."""
    mend(context)
    if "page_foot" not in context:
        return
    foot = context["page_foot"]
    if context.get("page_source_suffix"):
        foot["edit"] = context["get_edit_provider_and_url"]()[1]
    for button in header_buttons(context):
        if button.get("label") == "source-issues-button":
            button["url"] = foot["issue"]
    shown = preview(app, words(app.env.titles[page]), page_address(app, page), doctree)
    context["metatags"] = f"{VIEWPORT.sub('', context.get('metatags', ''))}\n{pub.meta_html(shown)}"
    scripts = context["script_files"]
    scripts[:] = [script for script in scripts if not str(script.filename).endswith(MARKER)]
    for mark, script in PAGE_SCRIPTS.items():
        if mark in context["body"]:
            app.add_js_file(script, loading_method="defer")


def page_address(app: Any, page: str) -> str:
    """Where a page will be."""
    return app.config.html_baseurl + app.builder.get_target_uri(page)


def mend(context: dict) -> None:
    """Mend slips of accessibility in the body of a page and in the list of pages beside it."""
    body = context.get("body") or ""
    for pattern, replacement in MENDED:
        body = pattern.sub(replacement, body)
    context["body"] = SPARED.sub(r"\1", body)
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


def words(title: nodes.title) -> str:
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
    pages = {page: words(app.env.titles[page]) for page in [first, *chapters(app)]}
    where = {"title": config.html_title, "base": urlsplit(config.html_baseurl).path}
    lost = where | {
        "style": pub.small_stylesheet(design.css(), ["page", "ink", "line", "accent"]),
        "pages": pages,
        "issue": pub.issue_address(repository(config), "Page not found", config.html_baseurl, rlmkb.__version__),
    }
    (out / f"{NOT_FOUND}.html").write_text(render("not-found.html", lost), encoding="utf-8")
    if first != "index":
        root = where | {"page": target(first), "address": page_address(app, first)}
        (out / "index.html").write_text(render("redirect.html", root), encoding="utf-8")
    addresses = [page_address(app, page) for page in sorted(app.env.found_docs)]
    (out / "sitemap.xml").write_text(pub.sitemap(addresses), encoding="utf-8")


def chapters(app: Any) -> list[str]:
    """The first page of each part of the book."""
    parts = app.env.tocs[app.config.root_doc].findall(lambda node: node.tagname == "toctree")
    return [part["entries"][0][1] for part in parts if part["entries"]]


def setup(app: Any) -> dict[str, bool]:
    for name in ("rlmkb_reference", "rlmkb_glossary", "rlmkb_icons"):
        app.setup_extension(name)
    app.connect("config-inited", complete_config, priority=101)
    app.connect("html-page-context", add_foot, priority=400)
    app.connect("html-page-context", add_frame, priority=902)
    app.connect("build-finished", write_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
