"""The tables of the book show what the package holds, completely and escaped."""

import dataclasses
from html import escape

import numpy as np
import pytest

from rlmkb.catalogue import entries
from rlmkb.notation import CONCEPTS, SYMBOLS
from rlmkb.theory.models import MODELS
from rlmkb.theory.tables import table
from rlmkb.views import landing, tables
from rlmkb.views.markup import math_html, number_html

POINT = {"L": 2, "d": 256, "d_ff": 1024, "h": 4, "V": 1000, "S": 100, "T": 28, "B": 8, "K": 2, "B_pairs": 8, "P_t": 2}


@pytest.mark.parametrize("id", ["III", "IV", "IX"])
def test_a_cost_table_shows_every_formula(id):
    costs = table(id)
    shown = tables.cost_table_html(costs)
    for cell in costs.cells:
        if cell.formula.expr != 0:
            assert math_html(cell.formula.latex) in shown
        assert all(escape(text) in shown for text in cell.formula.assumptions)


def test_an_evaluated_table_shows_every_value():
    costs = table("IV", at=POINT)
    shown = tables.cost_table_html(costs)
    for cell in costs.cells:
        if cell.formula.expr != 0:
            assert f'<td class="num">{number_html(cell.value)}</td>' in shown
    assert "Value" not in tables.cost_table_html(table("IV"))


def test_many_points_are_shown_as_a_range():
    costs = table("IV", at=POINT | {"B": np.array([8, 16])})
    cell = costs.cell("grpo", stage="training", quantity="work")
    low, high = (number_html(value.item()) for value in (cell.value.min(), cell.value.max()))
    assert f"{low} to {high}" in tables.cost_table_html(costs)


def test_a_note_stands_once_below_the_table_and_is_pointed_at():
    shown = tables.cost_table_html(table("IV"))
    assert shown.count("DPO makes no call of a language model in generation.") == 1
    assert shown.count("DPO<sup>1</sup>") == 3


def test_a_cost_table_escapes_what_it_is_given():
    costs = table("III")
    bad = "<script>alert(1)</script>"
    formula = dataclasses.replace(
        costs.cells[0].formula, left=bad, meaning=bad, note=bad, source=bad, assumptions=(bad,), per=bad
    )
    cell = dataclasses.replace(costs.cells[0], formula=formula)
    shown = tables.cost_table_html(dataclasses.replace(costs, cells=(cell,), title=bad, id=bad))
    assert "<script" not in shown


def test_a_table_is_the_same_on_every_call():
    assert tables.cost_table_html(table("III")) == tables.cost_table_html(table("III"))


def test_the_notation_table_has_every_symbol():
    shown = tables.notation_table_html()
    for item in (*CONCEPTS, *SYMBOLS):
        assert math_html(item.latex) in shown, item.name


def test_the_role_table_has_every_model_and_stage():
    shown = tables.role_table_html()
    assert shown.count("<tr>") == len(MODELS) + 1
    assert shown.count("rl-training") == sum("training" in row.stages for row in MODELS)


def test_the_families_table_has_every_algorithm():
    shown = tables.algorithm_families_html()
    found = entries("algorithms").values()
    assert shown.count('<th scope="row">') == len(found)
    assert shown.count('href="https://') == sum(len(entry.sources) for entry in found)


def test_the_headline_is_computed():
    found = landing.shares()
    for quantity in ("work", "depth"):
        assert sum(share for (of, _), share in found.items() if of == quantity) == pytest.approx(1)
    # equal shapes: one generation, three forward passes, two training passes of three; heads and prefill aside
    assert found["work", "generation"] == pytest.approx(1 / 10, abs=0.01)
    assert found["depth", "generation"] > 0.99
    shown = landing.headline_html()
    assert "100\u202f%" not in shown
    assert "99.9\u202f%</b>" in shown
