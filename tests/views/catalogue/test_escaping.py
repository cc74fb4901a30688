"""Whatever an entry says stays text: no element, no handler, no link to anything but the web."""

import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rlmkb.catalogue import entries
from rlmkb.views.catalogue import contribute, finder, framework, gaps, matrix, models, support
from rlmkb.views.catalogue.text import external, markdown

ALLOWED = {
    *("a", "b", "button", "code", "dd", "details", "div", "dl", "dt", "fieldset", "form", "input", "label", "legend"),
    *("li", "noscript", "option", "output", "p", "select", "span", "summary", "table", "tbody", "td", "th", "thead"),
    *("time", "tr", "ul"),
}
HOSTILE_TEXT = "<script>hacked = 1</script>"


class Seen(HTMLParser):
    """Elements, attributes and text of some HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data):
        self.text += data


def findings(html: str) -> list[str]:
    """What in some HTML could do harm."""
    seen = Seen(html)
    found = [f"element {tag}" for tag in seen.tags - ALLOWED]
    found += [f"attribute {name}" for name, _ in seen.attributes if name.startswith("on") or name == "srcdoc"]
    links = [value for name, value in seen.attributes if name == "href"]
    return found + [f"link {link}" for link in links if not re.match(r"https?://|#|\.\./|page/", link)]


def to(page: str) -> str:
    return f"page/{page}.html"


@pytest.fixture(scope="module")
def views(hostile):
    features, one = entries("features"), {"hostile": hostile}
    return {
        "matrix": matrix.matrix_html(one, features, to),
        "cells": "".join(
            json.loads(matrix.evidence_script(one).removeprefix("window.rlEvidence = ")[:-2])["hostile"].values()
        ),
        "facts": framework.facts_html(hostile, to),
        "cell": framework.framework_cell_html(hostile, features["TP"], to),
        "releases": framework.releases_html(hostile),
        "corrections": framework.corrections_html(hostile, "https://example.org/a/b"),
        "finder": finder.finder_html(one, features, to),
        "coverage": gaps.coverage_html(one, to),
        "second hand": gaps.second_hand_html(one, to),
        "support": support.support_html(features["TP"], one, to),
        "example": contribute.rendered_html(hostile, features["TP"], to),
    }


def test_a_hostile_entry_makes_no_markup(views):
    assert {name: found for name, html in views.items() if (found := findings(html))} == {}


def test_a_hostile_entry_is_shown_as_it_is_written(views):
    assert [name for name, html in views.items() if HOSTILE_TEXT in Seen(html).text] == [
        "matrix", "cells", "facts", "cell", "releases", "finder", "coverage", "second hand", "support", "example",
    ]  # fmt: skip


def test_the_findings_notice_what_is_not_escaped():
    html = '<script></script><a href="javascript:x" onclick="y">z</a>'
    assert findings(html) == ["element script", "attribute onclick", "link javascript:x"]


def test_the_heading_of_a_page_is_the_name_as_it_is_written(hostile):
    page = framework.page_markdown(hostile, entries("features"))
    html = MarkdownIt().render(page.split("\n\n")[0])
    assert Seen(html).tags == {"h1"}
    assert Seen(html).text.strip() == hostile.name


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1))
def test_markdown_shows_any_text_as_it_is_written(text):
    shown = Seen(MarkdownIt().render(f"# {markdown(text)}"))
    assert shown.tags == {"h1"}
    assert shown.text.split() == text.split()


@given(st.text(max_size=40))
def test_only_the_web_is_linked(url):
    html = external(url, "x")
    assert html == "x" or 'href="http' in html
    assert findings(html) == []


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "JavaScript:x", "data:text/html,x", "//host/x", "https:", "", None]
)
def test_other_addresses_are_text(url):
    assert external(url, "shown") == "shown"


def test_models_make_no_markup():
    hostile = {
        id: one.model_copy(update={"name": HOSTILE_TEXT, "system": HOSTILE_TEXT})
        for id, one in entries("models").items()
    }
    assert findings(models.model_table_html(hostile, to)) == []
    assert findings(models.corrections_html(hostile)) == []
