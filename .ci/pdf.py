"""One PDF of the book, printed by the browser from the built site: `_build/rlmkb.pdf`.

    python .ci/pdf.py

The pages' articles are put into one document, in the order of the table of contents, and printed with the site's own
styles for paper. The reference of functions is left out: nobody reads it on paper.
"""

import posixpath
import re
import sys
import time
from html import escape, unescape
from pathlib import Path
from urllib.parse import urlsplit

import yaml

import browser
import guards
from rlmkb import __version__
from rlmkb.views.publication import site_address

ROOT = guards.ROOT
SITE = ROOT / "_build" / "html"
DOCUMENT = ROOT / "_build" / "print" / "book.html"
TARGET = ROOT / "_build" / "rlmkb.pdf"
LEFT_OUT = "book/reference/api/"
ARTICLE = re.compile(r'<article class="bd-article">(.*?)</article>', re.DOTALL)
ADDRESS = re.compile(r'\b(href|src)="([^"]*)"')
KEPT = ("panel-", "rl-")  # ids that scripts and drawings refer to; they are unique in the book
SCRIPTS = re.compile(r'<script[^>]*src="[^"]*_static/(?:vendor/mathjax|charts|panel|paper)[^"]*"></script>')
STYLES = re.compile(r'<link[^>]*rel="stylesheet"[^>]*/>')
MATHJAX = re.compile(r"<script>window\.MathJax = .*?</script>")
SHOW_EVERYTHING = """async () => {
  const until = async (done) => {
    for (let turn = 0; turn < 1200 && !done(); turn++) await new Promise((next) => setTimeout(next, 50));
  };
  for (const chart of document.querySelectorAll("figure.vl-chart")) {
    chart.scrollIntoView();
    await until(() => chart.dataset.drawn);
  }
  await until(() => window.MathJax?.startup?.promise);
  await window.MathJax?.startup?.promise;
}"""
COUNT = """() => ({
  undrawn: document.querySelectorAll("figure.vl-chart:not([data-drawn])").length,
  untypeset: document.querySelectorAll(".math:not(:has(mjx-container))").length,
})"""


def document(site: Path, pages: list[str], title: str, home: str) -> str:
    """The whole book as one page, which stands beside the folder of the site."""
    texts = {page: (site / f"{page}.html").read_text(encoding="utf-8") for page in pages}
    articles = "\n".join(article(page, text, set(pages), home) for page, text in texts.items())
    heads = {page: text.partition("<body")[0] for page, text in texts.items()}
    longest = max(heads.values(), key=lambda head: len(SCRIPTS.findall(head)))
    page = next(name for name, head in heads.items() if head is longest)
    scripts = {script.partition("?")[0]: script for name in pages for script in scripts_of(name, heads[name])}
    parts = [relative(tag, page) for tag in STYLES.findall(longest)] + MATHJAX.findall(longest) + list(scripts.values())
    listed = "\n".join(f'<li><a href="#{anchor(name)}">{heading(text)}</a></li>' for name, text in texts.items())
    return f"""<!DOCTYPE html>
<html lang="en" data-theme="light">
<head><meta charset="utf-8" /><title>{escape(title)}</title>
{"".join(parts)}
</head>
<body class="rl-book"><div class="bd-main"><div class="bd-content"><div class="bd-article-container">
<article class="bd-article rl-titlepage"><h1>{escape(title)}</h1><p>rlmkb {__version__}, {escape(home)}</p>
<ol>{listed}</ol></article>
{articles}
</div></div></div></body></html>
"""


def article(page: str, text: str, pages: set[str], home: str) -> str:
    """The content of a page, with ids of its own and links that lead inside the document."""
    body = ARTICLE.search(text)[1]

    def lead(match: re.Match) -> str:
        name, address = match[1], unescape(match[2])
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), parts.path)) if parts.path else f"{page}.html"
        other = path.removesuffix(".html")
        if other in pages:
            address = f"#{anchor(other, parts.fragment)}"
        else:
            address = f"../html/{path}" if name == "src" else f"{home}{path}"
        return f'{name}="{escape(address)}"'

    body = ADDRESS.sub(lead, body)
    body = re.sub(r'\bid="([^"]+)"', lambda match: f'id="{anchor(page, match[1])}"', body)
    return f'<article class="bd-article" id="{anchor(page)}">{body}</article>'


def anchor(page: str, fragment: str = "") -> str:
    """An id that no other page has."""
    if fragment.startswith(KEPT):
        return fragment
    return "--".join(filter(None, (page.replace("/", "-"), fragment)))


def heading(text: str) -> str:
    return re.sub("<a class=.*?</a>", "", re.search("<h1>(.*?)</h1>", ARTICLE.search(text)[1], re.DOTALL)[1])


def scripts_of(page: str, head: str) -> list[str]:
    return [relative(script, page) for script in SCRIPTS.findall(head)]


def relative(tag: str, page: str) -> str:
    """A tag of a page with its address seen from the document."""
    folder = f"../html/{posixpath.dirname(page)}"
    return ADDRESS.sub(lambda match: f'{match[1]}="{posixpath.normpath(posixpath.join(folder, match[2]))}"', tag)


def main() -> int:
    started = time.monotonic()
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    pages = [page for page in guards.toc_pages() if not page.startswith(LEFT_OUT)]
    DOCUMENT.parent.mkdir(parents=True, exist_ok=True)
    text = document(SITE, pages, config["title"], site_address(config["repository"]["url"]))
    DOCUMENT.write_text(text, encoding="utf-8")
    foot = '<div style="font: 8px sans-serif; width: 100%; text-align: center"><span class="pageNumber"></span></div>'
    paper = {"format": "A4", "print_background": True, "tagged": True, "outline": True, "display_header_footer": True,
             "header_template": "<span></span>", "footer_template": foot,
             "margin": {"top": "18mm", "bottom": "20mm", "left": "18mm", "right": "18mm"}}  # fmt: skip
    with browser.served(ROOT / "_build") as address, browser.browser() as running:
        page = running.new_page(viewport={"width": 900, "height": 1200}, reduced_motion="reduce")
        page.set_default_timeout(300_000)
        page.goto(f"{address}/print/{DOCUMENT.name}", wait_until="load")
        page.evaluate(SHOW_EVERYTHING)
        left = page.evaluate(COUNT)
        page.pdf(path=TARGET, **paper)
    if any(left.values()):
        print(f"error: the PDF lacks something: {left}", file=sys.stderr)
        return 1
    size = TARGET.stat().st_size / 1e6
    print(f"printed {len(pages)} pages of the site to {TARGET.relative_to(ROOT)}, {size:.1f} MB, "
          f"in {time.monotonic() - started:.0f} s")  # fmt: skip
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
