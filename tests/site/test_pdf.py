"""The book as one document: links lead inside it, ids are unique, what is left out is linked on the site."""

import re

import pytest

import pdf

PAGE = """<html><head><link rel="stylesheet" href="{up}_static/a.css?v=1" />
<script defer="defer" src="{up}_static/{script}?v=2"></script></head><body>
<article class="bd-article"><h1>{title}<a class="headerlink" href="#top">#</a></h1><section id="start">{body}</section>
</article></body></html>"""


@pytest.fixture
def document(tmp_path):
    (tmp_path / "book" / "part").mkdir(parents=True)
    first = '<a href="part/b.html#start">b</a> <a href="left-out.html">c</a> <a href="https://x.org/#start">x</a>'
    second = '<a href="#start">here</a> <a href="../a.html">a</a> <div id="panel-III"></div> <img src="../../i.svg">'
    pages = {"book/a": ("../", "charts.js", "First", first), "book/part/b": ("../../", "paper.js", "Second", second)}
    for name, (up, script, title, body) in pages.items():
        text = PAGE.format(up=up, script=script, title=title, body=body)
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
    return pdf.document(tmp_path, list(pages), "Book", "https://x.org/")


def test_links_lead_inside_and_ids_are_unique(document):
    ids = re.findall(r'id="([^"]+)"', document)
    assert len(set(ids)) == len(ids)
    inside = {link for link in re.findall(r'href="#([^"]+)"', document) if not link.endswith("--top")}
    assert inside == {"book-a", "book-part-b", "book-part-b--start"}
    assert inside <= set(ids)
    assert "panel-III" in ids


def test_the_rest_is_linked_and_loaded_from_the_site(document):
    assert 'href="https://x.org/book/left-out.html"' in document
    assert 'href="https://x.org/#start"' in document
    assert 'src="../html/i.svg"' in document
    assert document.count('href="../html/_static/a.css?v=1"') == 1
    assert re.findall(r'src="\.\./html/_static/([^?]+)', document) == ["charts.js", "paper.js"]
    assert "<h1>Book</h1>" in document
