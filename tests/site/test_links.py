"""The files of the site: every page is there, every inner link arrives, nothing is loaded from elsewhere."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

import guards

GENERATED = {"index", "search", "404"}  # pages that stand in no table of contents
IN_STYLESHEET = re.compile(r"(?:url\(|@import)\s*['\"]?(https?:[^'\")]+)")
LOADING = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("video", "src"), ("embed", "src")}


class Page(HTMLParser):
    """The ids, inner links and loaded files of one page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids.update(given[key] for key in ("id", "name") if given.get(key) and (key == "id" or tag == "a"))
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        self.loaded += [value for key, value in attrs if (tag, key) in LOADING and value]
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload", "preconnect", "shortcut icon"):
            self.loaded.append(given["href"])


def html_files(site: Path) -> list[Path]:
    """The pages; below `_static` are templates of the theme."""
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


def place(link: str, page: Path, site: Path, base: str) -> Path:
    """The file that a link leads to; one that begins at the root leads below the path that the site is published at."""
    path = unquote(urlsplit(link).path)
    return (site / path.removeprefix(base) if path.startswith(base) else page.parent / path).resolve()


def broken_links(site: Path, base: str = "/") -> list[str]:
    """Links to a page, file or anchor that does not exist; a fragment with `=` is the state of a form."""
    pages = {path: Page(path) for path in html_files(site)}
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = place(link, path, site, base) if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.is_file():
                found.append(f"{path.relative_to(site)}: {link} leads nowhere")
            elif anchor and "=" not in anchor and target in pages and anchor not in pages[target].ids:
                found.append(f"{path.relative_to(site)}: {link} has no such anchor")
    return found


def foreign_files(site: Path, base: str = "/") -> list[str]:
    """What a page or a stylesheet would load from another host, or from a file that is not there."""
    found = []
    for path in html_files(site):
        for loaded in Page(path).loaded:
            parts = urlsplit(loaded)
            if parts.netloc:
                found.append(f"{path.relative_to(site)} loads {loaded}")
            elif parts.scheme != "data" and not place(loaded, path, site, base).is_file():
                found.append(f"{path.relative_to(site)} loads {loaded}, which is not there")
    for path in sorted(site.rglob("*.css")):
        loaded = IN_STYLESHEET.findall(path.read_text(encoding="utf-8"))
        found += [f"{path.name} loads {url}" for url in loaded]
    return found


@pytest.fixture
def small_site(tmp_path):
    (tmp_path / "a.html").write_text('<h1 id="top">a</h1> <a href="b.html#there">b</a> <script src="x.js"></script>')
    (tmp_path / "b.html").write_text('<a id="there"></a> <a href="a.html">a</a> <a href="#there">here</a>')
    (tmp_path / "x.js").write_text("")
    return tmp_path


def test_every_listed_page_is_built_and_no_other(site):
    built = {path.relative_to(site).with_suffix("").as_posix() for path in html_files(site)}
    assert built == set(guards.toc_pages()) | GENERATED


def test_every_page_can_be_edited_and_every_notebook_run(site):
    config = yaml.safe_load((guards.ROOT / "_config.yml").read_text(encoding="utf-8"))
    address, branch = config["repository"]["url"], config["repository"]["branch"]
    project = address.removeprefix("https://github.com/")
    for name in guards.toc_pages():
        files = (f"{name}{suffix}" for suffix in (".md", ".ipynb", ".yml"))
        source = next(file for file in files if (guards.ROOT / file).is_file())
        links = Page(site / f"{name}.html").links
        assert f"{address}/edit/{branch}/{source}" in links
        binder = f"{config['launch_buttons']['binderhub_url']}/v2/gh/{project}/{branch}?urlpath=lab/tree/{source}"
        assert (binder in links) == source.endswith(".ipynb"), name


def test_inner_links_arrive(site, home):
    assert broken_links(site, urlsplit(home).path) == []


def test_nothing_is_loaded_from_elsewhere(site, home):
    assert foreign_files(site, urlsplit(home).path) == []


def test_a_sound_site_has_no_findings(small_site):
    assert broken_links(small_site) == []
    assert foreign_files(small_site) == []


def test_a_broken_link_is_found(small_site):
    (small_site / "c.html").write_text('<a href="gone.html">x</a> <a href="a.html#gone">y</a> <a href="#gone">z</a>')
    assert len(broken_links(small_site)) == 3


def test_a_file_from_elsewhere_is_found(small_site):
    (small_site / "c.html").write_text('<link rel="stylesheet" href="https://example.org/a.css"><img src="gone.png">')
    (small_site / "a.css").write_text("@import 'https://example.org/b'; p { background: url(https://example.org/c) }")
    assert len(foreign_files(small_site)) == 4
