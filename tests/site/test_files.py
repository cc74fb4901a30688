"""What the files of the site say and weigh: sizes, previews, citations, downloads, references."""

import csv
import json
import re
import statistics
import subprocess
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from pybtex.database import parse_string

import guards
import rlmkb
from rlmkb.notation import SYMBOLS
from rlmkb.views.status import count_tests

CONFIG = yaml.safe_load((guards.ROOT / "_config.yml").read_text(encoding="utf-8"))
PROJECT = CONFIG["repository"]["url"]
PAGES = guards.toc_pages()
HEAVIEST, TYPICAL = 300_000, 120_000  # bytes of HTML, before compression
UNVERSIONED = {"searchtools.js", "language_data.js", "searchindex.js"}  # as the theme's search page names them
WITHOUT_REFERENCE = {"rlmkb.__main__", "rlmkb.cli", "rlmkb.cli_catalogue"}


@pytest.fixture(scope="module")
def html(site):
    """From the name of a page to its text."""
    return {name: (site / f"{name}.html").read_text(encoding="utf-8") for name in PAGES}


def meta(text):
    return {key: unescape(value) for key, value in re.findall(r'<meta \w+="([^"]+)" content="([^"]*)" />', text)}


def heading(text):
    """The title of a page as `<title>` has it."""
    return unescape(re.search(r"<title>(.*?) — ", text.replace("&#8212;", "—"), re.DOTALL)[1])


# ---- weight -------------------------------------------------------------------------------------------------------


def test_pages_are_light(html):
    sizes = {name: len(text.encode()) for name, text in html.items()}
    assert {name: size for name, size in sizes.items() if size >= HEAVIEST} == {}
    assert statistics.median(sizes.values()) < TYPICAL


def test_shared_files_can_be_cached(site, html):
    """Their addresses change with their content, and the index of the search is loaded by the search alone."""
    for name, text in html.items():
        loaded = re.findall(r'<(?:script[^>]* src|link[^>]*rel="(?:stylesheet|preload)"[^>]* href)="([^"]+)"', text)
        assert len(loaded) > 10
        assert [each for each in loaded if not re.search(r"\?(v|digest)=\w+$|\.[0-9a-f]{64}\.css$", each)] == [], name
    found = re.findall(r'<script src="([^"]+)"', (site / "search.html").read_text(encoding="utf-8"))
    assert {each.rpartition("/")[2] for each in found if "?" not in each} <= UNVERSIONED


def test_the_frame_of_a_page_says_nothing_twice(html):
    for name, text in html.items():
        head = text.partition("</head>")[0]
        assert head.count('name="viewport"') == 1, name
        assert "sphinx_highlight.js" not in head, name


def test_icons_are_drawn_without_the_theme_s_script(site, html):
    style = (site / "_static" / "icons.css").read_text(encoding="utf-8")
    for name, text in html.items():
        assert "fontawesome" not in text
        assert not re.search(r'<(?:i|span) class="[^"]*\bfa-', text), name
        used = {icon for icons in re.findall(r'<svg class="svg-inline--fa ([^"]*)"', text) for icon in icons.split()}
        drawn = {icon for icon in used if icon.startswith("fa-")} - {"fa-solid", "fa-brands", "fa-lg"}
        assert len(drawn) > 5
        assert [icon for icon in drawn if f".{icon} {{ --rl-icon: url(" not in style] == []
    assert not (site / "_static" / "scripts" / "fontawesome.js").exists()


# ---- what a page says about itself ----------------------------------------------------------------------------------


def test_every_page_can_be_previewed(html, home):
    for name, text in html.items():
        found, address = meta(text), f"{home}{name}.html"
        assert f'<link rel="canonical" href="{address}" />' in text
        assert found["og:url"] == address
        assert found["og:title"] == heading(text), name
        assert 20 < len(found["og:description"]) <= 201, name
        assert found["description"] == found["og:description"]
        assert found["og:type"] == "article"
        picture = (guards.ROOT / "book" / "_static" / "screenshot.png").is_file()
        assert (found.get("og:image") == f"{home}_static/screenshot.png") == picture


def test_the_map_lists_every_page(site, home):
    listed = re.findall("<loc>(.*?)</loc>", (site / "sitemap.xml").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(f"{home}{name}.html" for name in PAGES)


def test_every_page_can_be_cited(html, home):
    keys = set()
    for name, text in html.items():
        entry = unescape(re.search(r"<pre>(@misc.*?)</pre>", text, re.DOTALL)[1])
        ((key, parsed),) = parse_string(entry, "bibtex").entries.items()
        keys.add(key)
        assert parsed.fields["url"] == f"{home}{name}.html"
        assert rlmkb.__version__ in parsed.fields["howpublished"]
        assert [str(person) for person in parsed.persons["author"]] == [f"{{{CONFIG['author']}}}"]
    assert len(keys) == len(PAGES)


def test_an_issue_names_its_page(html, home):
    for name, text in html.items():
        links = set(map(unescape, re.findall(rf'href="({PROJECT}/issues/new\?title=[^"]+)"', text)))
        assert len(links) == 1, name
        asked = parse_qs(urlsplit(links.pop()).query)
        assert asked["title"] == [f"On “{heading(text)}”: "]
        assert f"{home}{name}.html" in asked["body"][0]


def test_binder_opens_what_is_in_the_repository(html):
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "book"]
    known = set(subprocess.run(command, cwd=guards.ROOT, capture_output=True, text=True, check=True).stdout.split())
    project, branch = urlsplit(PROJECT).path, CONFIG["repository"]["branch"]
    opened = set()
    for text in html.values():
        for link in re.findall(rf'href="{CONFIG["launch_buttons"]["binderhub_url"]}([^"]+)"', text):
            parts = urlsplit(unescape(link))
            assert parts.path == f"/v2/gh{project}/{branch}"
            opened.add(parse_qs(parts.query)["urlpath"][0].removeprefix("lab/tree/"))
    assert opened == {f"{name}.ipynb" for name in PAGES if (guards.ROOT / f"{name}.ipynb").is_file()}
    assert opened <= known


# ---- references ---------------------------------------------------------------------------------------------------


def test_downloads_hold_what_they_say(site, html):
    from rlmkb.catalogue.queries import export

    folder, everything = site / "_downloads", json.loads(json.dumps(export()))
    offered = set(re.findall(r'href="\.\./\.\./_downloads/([^"]+)" download', html["book/reference/downloads"]))
    assert offered == {path.name for path in folder.iterdir() if path.is_file()}
    assert json.loads((folder / "catalogue.json").read_text(encoding="utf-8")) == everything
    for kind in ("models", "frameworks", "architectures"):
        assert json.loads((folder / f"{kind}.json").read_text(encoding="utf-8")) == everything[kind]
        with (folder / f"{kind}.csv").open(encoding="utf-8", newline="") as file:
            assert [row["id"] for row in csv.DictReader(file)] == [entry["id"] for entry in everything[kind]]
    tables = json.loads((folder / "tables.json").read_text(encoding="utf-8"))
    assert tables["IV"] == json.loads(json.dumps(rlmkb.table("IV").as_dict()))
    notebooks = set(re.findall(r'href="\.\./\.\./_sources/([^"]+)" download', html["book/reference/downloads"]))
    assert notebooks == {f"{name}.ipynb" for name in PAGES if (guards.ROOT / f"{name}.ipynb").is_file()}
    for name in notebooks:
        assert (site / "_sources" / name).read_bytes() == (guards.ROOT / name).read_bytes()


def test_terms_are_linked_once_a_page_with_their_definition(html):
    glossary = html["book/reference/glossary"]
    anchors = set(re.findall(r'<dt id="(term-[^"]+)"', glossary))
    assert len(anchors) > 40
    linked = set()
    for name, text in html.items():
        found = re.findall(r'<a class="rl-term" href="[^"#]*#([^"]+)" aria-description="([^"]+)"', text)
        assert len({anchor for anchor, _ in found}) == len(found), name
        linked |= dict(found).keys()
    assert linked <= anchors
    assert len(linked) > 25
    assert not linked & {"term-work", "term-depth", "term-memory"}
    assert "rl-term" not in glossary


def test_every_symbol_leads_to_its_tables(html):
    rows = re.findall(r'<tr><th scope="row">(.*?)</tr>', html["book/reference/symbols"], re.DOTALL)
    cells = {re.search("<code.*?>(.*?)</code>", row)[1]: re.sub("<[^>]*>", "", row.split("</td>")[2]) for row in rows}
    assert cells["K"] == "IV, IX"
    assert cells["P_c"] == "V, VII"
    assert len(cells) == len([entry for entry in SYMBOLS if entry.role is None])
    assert 'href="../model-cost/building-blocks.html#panel-III"' in html["book/reference/symbols"]


def test_every_module_stands_in_the_reference_once(html):
    folder = guards.ROOT / "rlmkb"
    modules = {
        ".".join(path.relative_to(guards.ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in folder.rglob("*.py")
        if "__pycache__" not in path.parts
    }
    found = [module for text in html.values() for module in re.findall(r'id="module-(rlmkb[\w.]*)"', text)]
    assert len(set(found)) == len(found)
    assert modules - set(found) == WITHOUT_REFERENCE, "add a page to book/reference/api"


def test_counts_are_those_of_this_commit(html):
    counted = re.search(r'test functions</th><td class="num">([^<]+)<', html["book/reference/about"])[1]
    assert int(counted.replace("\u202f", "")) == count_tests(guards.ROOT / "tests")
