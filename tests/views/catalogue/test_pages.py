"""What the pages of the catalogue show: every entry, once, in the words that scripts and forms rely on."""

import json
import re
from html import escape

import pytest
import yaml

from rlmkb.catalogue import KINDS, entries, entry
from rlmkb.catalogue.features import FEATURES
from rlmkb.catalogue.frameworks import STATES
from rlmkb.data import data_path
from rlmkb.errors import InputError
from rlmkb.views.catalogue import (
    architectures,
    changes,
    charts,
    contribute,
    finder,
    framework,
    gaps,
    matrix,
    models,
    states,
    support,
)
from rlmkb.views.catalogue.live import Cell, Column, Facet, Row, live_table_html

from .conftest import framework as made

FORMS = data_path().parent / ".github" / "ISSUE_TEMPLATE"


def to(page):
    return f"{page}.html"


def test_every_state_has_a_look_and_a_place():
    assert set(states.LOOKS) == set(STATES)
    assert len({look.order for look in states.LOOKS.values()}) == len(STATES)
    assert len({look.short for look in states.LOOKS.values()}) == len(STATES)  # told apart without colour


def test_the_matrix_has_every_cell_and_the_script_its_content():
    shown = matrix.matrix_html(entries("frameworks"), entries("features"), to)
    content = json.loads(matrix.evidence_script(entries("frameworks")).removeprefix("window.rlEvidence = ")[:-2])
    for id, one in entries("frameworks").items():
        assert list(content[id]) == list(FEATURES)
        for feature, state in one.states.items():
            link = f'<a class="s-{state}" href="data/frameworks/{id}.html#{feature}">{states.LOOKS[state].short}</a>'
            assert link in shown
    assert shown.count('<th scope="row"') == len(entries("frameworks"))
    assert [shown.index(f"{word}-centric") for word in states.CENTRES.values()] == sorted(
        shown.index(f"{word}-centric") for word in states.CENTRES.values()
    )


def test_what_is_not_classed_yet_is_shown_and_offered_only_where_it_occurs():
    known = {id: one for id, one in entries("frameworks").items() if one.centre != "unknown"}
    assert states.UNCLASSED not in matrix.matrix_html(known, entries("features"), to)
    new = made("verl", {}).model_copy(update={"id": "new", "centre": "unknown", "status": "unknown", "in_paper": "no"})
    found = known | {"new": new}
    for shown in (
        matrix.matrix_html(found, entries("features"), to),
        gaps.coverage_html(found, to),
        finder.finder_html(found, entries("features"), to),
        framework.facts_html(new, to),
    ):
        assert states.UNCLASSED in shown
    assert states.UNCLASSED.lower() in changes.newer_frameworks_html(found, to)
    assert states.STATUS_SHORT["unknown"] in matrix.matrix_html(found, entries("features"), to)


def test_a_cell_shows_state_note_source_and_check():
    shown = framework.framework_cell_html(entry("frameworks", "verl"), entry("features", "CP"), to)
    cell = entry("frameworks", "verl").features["CP"]
    assert 'id="CP"' in shown
    assert f"s-{cell.state}" in shown
    assert escape(cell.note or "") in shown
    assert all(piece.url in shown for piece in cell.evidence)
    assert f"Checked on {cell.verified.on} against {cell.verified.version}." in shown


def test_a_page_has_a_section_for_every_feature_and_cites_its_works():
    verl = entry("frameworks", "verl")
    text = framework.page_markdown(verl, entries("features"))
    assert [f"{{framework-cell}} verl {id}" in text for id in FEATURES] == [True] * len(FEATURES)
    assert all(f"{{cite:t}}`{key}`" in text for key in verl.references)


def test_a_class_that_the_paper_does_not_name_is_called_ours():
    assert "our reading" in framework.facts_html(entry("frameworks", "prime-rl"), to)
    assert "our reading" not in framework.facts_html(entry("frameworks", "verl"), to)
    assert set(entries("frameworks")) >= states.CLASSED_IN_PAPER


def test_support_names_everyone_who_does_it_and_the_note_of_partial_ones():
    frameworks = {
        "a": made("a", {"TP": "yes"}), "b": made("b", {"TP": "partial"}), "c": made("c", {"TP": "unknown"}),
    }  # fmt: skip
    shown = support.support_html(entry("features", "TP"), frameworks, to)
    assert "1 of 3:" in shown
    assert "1 in part" in shown
    assert "The others: 1 unknown." in shown
    assert "b</a>: What is missing." in shown
    nobody = support.support_html(entry("features", "TP"), {"c": frameworks["c"]}, to)
    assert "nobody" in nobody


def test_gaps_of_a_single_framework():
    shown = gaps.uncovered_html({"a": made("a", {"TP": "yes"})}, to)
    assert "One feature" in shown
    assert "Not even in part" in shown
    assert gaps.unknowns_html({"a": made("a", {})}, to) == "<p>None.</p>"
    assert "Tensor parallelism" in gaps.classes_html(entries("frameworks"), entries("features"))


def test_models_and_architectures_are_all_there():
    shown = models.model_table_html(entries("models"), to)
    assert shown.count('<th scope="row"') == len(entries("models"))
    shown = architectures.architecture_table_html(entries("architectures"))
    assert shown.count('<th scope="row"') == len(entries("architectures"))
    # llama-3.1-8b: 8.03e9 parameters; 2 x 32 layers x 8 heads x 128 numbers of 2 bytes are 128 KiB
    row = shown[shown.index("llama-3.1-8b</span>") :]
    assert re.findall(r'class="num" data-v="[^"]+">([^<]+)<', row)[:3] == ["8.03", "8.03", "128"]


def test_what_is_new_is_what_the_paper_could_not_have():
    assert changes.PAPER not in changes.releases_since_html({}, to)
    frameworks = entries("frameworks")
    shown = changes.newer_frameworks_html(frameworks, to)
    assert shown.count("<li>") == sum(one.in_paper == "no" for one in frameworks.values())
    dates = re.findall(r"<li>(\d{4}-\d{2}-\d{2}):", changes.releases_since_html(frameworks, to))
    assert dates == sorted(dates, reverse=True)
    assert min(dates) >= changes.PAPER


def test_a_live_table_keeps_order_and_facets_in_its_markup():
    columns = [Column("x"), Column("n", "number", "over", numeric=True, key="count")]
    rows = [
        Row([Cell("a"), Cell("1 000", 1000)], {"kind": ["p", "q"]}, "G"),
        Row([Cell("b"), Cell("2", 2)], {"kind": []}, "H"),
    ]
    shown = live_table_html(columns, rows, name="N", noun="things", facets=[Facet("kind", "Kind", {"p": "P & Q"})])
    assert '<tr data-f-kind="p q"><th scope="row">a</th><td class="num" data-v="1000">1 000</td></tr>' in shown
    assert '<th scope="col" class="num" title="number" data-k="count">n</th>' in shown
    assert '<option value="p">P &amp; Q</option>' in shown
    assert shown.count("<tbody>") == 2


# ---- charts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", charts.CHARTS)
def test_charts_are_described_and_portable(name):
    spec = charts.figure_spec(name)
    assert spec["usermeta"]["label"] == f"fig-{name}"
    assert len(spec["description"]) > 60
    assert spec == charts.figure_spec(name)


def test_descriptions_are_computed():
    full = sum(one.states["DP"] == "yes" for one in entries("frameworks").values())
    assert f"DP ({full})" in charts.figure_spec("support-by-feature")["description"]
    told = charts.figure_spec("active-parameters")["description"]
    dense, others = re.search(r"The (\d+) dense .* other (\d+) use", told).groups()
    assert int(dense) + int(others) == len(entries("architectures"))


def test_an_unknown_chart_is_refused():
    with pytest.raises(InputError, match="active-parameters"):
        charts.figure_spec("active-parameter")


# ---- contributing -----------------------------------------------------------------------------------------------


def test_the_example_is_taken_from_the_entry():
    text = data_path("frameworks", "deepspeed-chat.yml").read_text(encoding="utf-8")
    part = contribute.excerpt(text, "Z2")
    shown = [line for line in part.splitlines() if "one cell for each" not in line]
    assert [line for line in shown if line not in text.splitlines()] == []
    assert yaml.safe_load(part)["features"].keys() == {"Z2"}


def test_every_key_and_rule_is_explained():
    shown = contribute.all_fields_html()
    for kind in KINDS:
        assert f"data/{kind}" in shown
    assert "features.ID.state" in shown
    assert "features.DP" not in shown
    assert 'id="V201"' in contribute.rules_html()


def test_forms_are_there_and_offer_every_feature():
    forms = {
        path.stem: yaml.safe_load(path.read_text("utf-8")) for path in FORMS.glob("*.yml") if path.stem != "config"
    }
    assert set(contribute.FORMS) == set(forms)
    for form in forms.values():
        assert {"name", "description", "body"} <= form.keys()
        ids = [part["id"] for part in form["body"]]
        assert len(set(ids)) == len(ids)
        assert all(part["attributes"]["label"] for part in form["body"])
        assert {part["type"] for part in form["body"]} <= {"input", "textarea", "dropdown"}
        for part in form["body"]:
            options = part["attributes"].get("options", [])
            assert all(isinstance(option, str) for option in options), "GitHub refuses an option that is no text"
            assert len(set(options)) == len(options)
    feature = next(part for part in forms["correct-a-cell"]["body"] if part["id"] == "feature")
    assert [option.split(",")[0] for option in feature["attributes"]["options"][:-1]] == list(FEATURES)
    assert "entry" in {part["id"] for part in forms["correct-a-cell"]["body"]}  # which the pages fill in


def test_combinations_count_every_framework_once():
    ids = ("disagg", "async")
    shown = support.combinations_html([entry("features", id) for id in ids], entries("frameworks"), to)
    assert all(shown.count(f">{escape(one.name)}</a>") == 1 for one in entries("frameworks").values())
    both = [one for one in entries("frameworks").values() if all(one.features[id].state == "yes" for id in ids)]
    first = shown[shown.index("<tbody") :].split("</tr>")[0]
    assert all(escape(one.name) in first for one in both)
    assert str(len(both)) in first
