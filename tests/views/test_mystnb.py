"""What a page shows of a stored chart: a figure with name, caption, specification and numbers, all escaped."""

import json
import re
from types import SimpleNamespace

import docutils.core
import pytest
from docutils import nodes
from docutils.utils import new_document

from rlmkb.views import charts, mystnb

SCRIPT = "</script><script>alert(1)</script>"
SPEC = {
    "config": {"background": "#ffffff"},
    "data": {"name": "rows_1"},
    "datasets": {"rows_1": [{"role": "policy", "work": 1.5e15, "colour": "#1a6fbd"}, {"role": SCRIPT, "work": 2}]},
    "description": f"Two bars {SCRIPT}",
    "encoding": {"x": {"field": "work", "title": "Work (FLOP)"}, "color": {"field": "role"}},
    "mark": {"color": "#1a6fbd", "type": "bar"},
    "usermeta": {"caption": f"Work $C$ {SCRIPT}", "label": "fig-work"},
}


def render(spec=SPEC, mime=charts.MIME, inline=False):
    document = new_document("page")
    renderer = SimpleNamespace(renderer=SimpleNamespace(document=document))
    found = mystnb.VegaLite.handle_mime(renderer, SimpleNamespace(content=spec, mime_type=mime), inline)
    return found, document


def html(spec=SPEC):
    (figure,), document = render(spec)
    document += figure
    return docutils.core.publish_from_doctree(document, writer_name="html5").decode()


def specification(page):
    return json.loads(re.search(r'<script type="application/json" class="vl-spec">(.*?)</script>', page).group(1))


def test_other_mime_types_are_left_to_others():
    assert render(mime="text/html")[0] is None
    assert render(inline=True)[0] is None


def test_a_chart_becomes_a_figure_that_can_be_referred_to():
    (figure,), document = render()
    assert isinstance(figure, nodes.figure)
    assert figure["ids"] == ["fig-work"]
    assert document.nameids["fig-work"] == "fig-work"
    assert figure["aria-label"] == SPEC["description"]
    assert figure["classes"] == ["vl-chart"]


def test_nothing_in_a_chart_becomes_markup():
    page = html()
    assert "<script>alert" not in page
    assert page.count("<script") == 1
    assert specification(page)["datasets"]["rows_1"][1]["role"] == SCRIPT


def test_colours_of_the_chart_follow_the_page_and_data_stays():
    drawn = specification(html())
    assert drawn["mark"]["color"] == "var(--rl-policy)"
    assert drawn["config"]["background"] == "var(--rl-page)"
    assert drawn["datasets"]["rows_1"][0]["colour"] == "#1a6fbd"
    assert "usermeta" not in drawn


def test_the_numbers_stand_in_a_table_under_their_titles():
    page = html()
    assert "Data <span>(2 rows)</span>" in page
    assert '<th scope="col" class="num">Work (FLOP)</th>' in page
    assert '<td class="num">1.5 × 10<sup>15</sup></td>' in page


@pytest.mark.parametrize(("rows", "note"), [(60, None), (61, "1 row more"), (200, "140 rows more")])
def test_a_long_table_is_cut_and_says_so(rows, note):
    page = mystnb.data_html({"datasets": {"rows_1": [{"n": n} for n in range(rows)]}})
    assert page.count('<th scope="row">') == min(rows, mystnb.ROWS)
    assert (note in page) if note else ("more" not in page)
    assert f"({rows} rows)" in page


def test_a_given_table_replaces_that_of_the_data():
    spec = SPEC | {"usermeta": {"table": {"columns": ["<b>"], "rows": [["<i>"]]}}}
    page = mystnb.data_html(spec)
    assert "&lt;b&gt;" in page
    assert "&lt;i&gt;" in page
    assert "policy" not in page


def test_a_chart_without_data_has_no_empty_table():
    assert mystnb.data_html({"mark": "rule"}) == ""


def test_a_figure_opens_with_its_accessible_name():
    opened = []
    writer = SimpleNamespace(
        body=opened, starttag=lambda node, tag, CLASS, **given: f"<{tag} class={CLASS} {given}>"
    )
    mystnb.visit_figure(writer, nodes.figure("", **{"aria-label": "Two bars"}))
    mystnb.visit_figure(writer, nodes.figure(""))
    assert opened == ["<figure class=align-default {'aria-label': 'Two bars'}>", "<figure class=align-default {}>"]


@pytest.mark.parametrize(("raw", "expected"), [('<span class="math">', {"page": True}), ("<span>", {})])
def test_mathematics_in_a_table_loads_mathjax(raw, expected):
    known = {}
    domain = SimpleNamespace(data={"has_equations": known})
    app = SimpleNamespace(env=SimpleNamespace(docname="page", get_domain=lambda name: domain))
    doctree = new_document("page")
    doctree += nodes.raw("", raw, format="html")
    mystnb.note_mathematics(app, doctree)
    assert known == expected
