"""What the chart of a panel shows: rows that can be compared, each at its place in the table."""

import pytest

from rlmkb.theory.tables import table
from rlmkb.views import design
from rlmkb.views.panel.chart import chart_html, facets


@pytest.mark.parametrize("id", ["III", "IV", "V", "VI", "VII", "VIII", "IX"])
def test_a_facet_has_several_rows_of_one_quantity(id):
    cells = table(id).cells
    for parts in facets(cells).values():
        for quantity, unit, bars in parts:
            assert len({label for label, _, _ in bars}) == len(bars) > 1
            formulas = [cells[place].formula for _, _, place in bars]
            assert {(formula.quantity.value, formula.unit) for formula in formulas} == {(quantity, unit)}
            assert all(design.variable(colour) for _, colour, _ in bars)


def test_every_cell_that_has_a_neighbour_is_drawn_once():
    drawn = {id: [place for parts in facets(table(id).cells).values() for _, _, bars in parts for *_, place in bars]
             for id in ("III", "VII", "IX")}  # fmt: skip
    assert sorted(drawn["III"]) == list(range(len(table("III").cells)))
    assert sorted(drawn["VII"]) == list(range(len(table("VII").cells)))
    left = {table("IX").cells[place].stage for place in set(range(len(table("IX").cells))) - set(drawn["IX"])}
    assert left == {"inter"}
    assert len(set(drawn["IX"])) == len(drawn["IX"])


def test_models_have_their_own_colours():
    bars = facets(table("III").cells)["FLOPs of a training pass per token"][0][2]
    assert {label: colour for label, colour, _ in bars} == {
        "policy": "policy", "reference": "reference", "reward": "reward", "critic": "critic", "actor critic": "policy",
    }  # fmt: skip


def test_a_choice_is_offered_where_there_is_one():
    assert "<select" not in chart_html("VII", [""])
    html = chart_html("IV", ["generation", "a < b"])
    assert "<option>Generation</option><option>A &lt; b</option>" in html
    assert 'for="panel-IV-chart"' in html
