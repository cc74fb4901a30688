"""Live formulas: what the page computes equals NumPy, and the controls do what they say."""

import json
import math
import random

import pytest

import guards
from rlmkb.notation import notation
from rlmkb.theory.configurations import CONFIGURATIONS
from rlmkb.theory.tables import table
from rlmkb.theory.values import LIMITS, resolve
from rlmkb.views.panel.calculator import algorithms, rows
from rlmkb.views.panel.inputs import SLIDER_ENDS

POINTS = 200
MARK = "```{formula-panel} "


def panels():
    """From the table of each panel in the book to the page that shows it."""
    found = {}
    for name in guards.toc_pages():
        for path in guards.ROOT.glob(f"{name}.*"):
            text = path.read_text(encoding="utf-8")
            found |= {part.split("\n")[0].split("\\")[0].strip('"\', '): name for part in text.split(MARK)[1:]}
    return found


def point(random_source, names):
    """Values for the bare symbols: any size that a slider reaches, within the limits of what degrees cut."""
    at = {name: round(end ** random_source.random()) for name, end in SLIDER_ENDS.items() if name in names}
    whole = at | {"m": at.get("S", 0) + at.get("T", 0)}
    for (*others, last), cut, _ in LIMITS:
        if last in at and cut in whole:
            at[last] = min(at[last], whole[cut] // math.prod(at[name] for name in others))
    return at


def bare(needed):
    names = {notation(name).default or name for name in needed}
    return (names - {"m"}) | ({"S", "T"} if "m" in names else set())


def agree(found, expected):
    worst = max(abs(one - two) / abs(two) if two else abs(one) for one, two in zip(found, expected, strict=True))
    assert worst < 1e-12


@pytest.mark.parametrize("id", ["III", "IV", "V", "VI", "VII", "VIII", "IX"])
def test_every_cost_table_has_a_panel_that_equals_numpy(visit, id):
    where = panels()
    assert id in where, f"no page shows a panel of table {id}"
    seen = visit(where[id])
    needed = seen.page.evaluate("id => window.rlmkbPanels[id].needs", id)
    source = random.Random(id)
    found, expected = [], []
    for _ in range(POINTS):
        at = point(source, bare(needed))
        got = seen.page.evaluate("([id, at]) => rlmkbPanel.compute(id, at)", [id, at])
        evaluated = table(id, at=at)
        found += got["first"]
        expected += [cell.value for cell in evaluated.cells]
        second = [cell.honest or cell.worst for cell in evaluated.cells]
        expected += [formula.evaluate(at) for formula in second if formula]
        found += got["second"]
    agree(found, expected)


def test_the_calculator_equals_numpy(visit):
    seen = visit("book/compute/calculator")
    source = random.Random(0)
    for algorithm_id, algorithm in algorithms().items():
        for configuration in CONFIGURATIONS.values():
            formulas = [formula for _, stage in rows(configuration, algorithm) for formula in stage]
            at = point(source, set(SLIDER_ENDS))
            chosen = f"{algorithm_id}/{configuration.id}"
            got = seen.page.evaluate("([at, c]) => rlmkbPanel.compute('calculator', at, c)", [at, chosen])
            agree(got["first"], [formula.evaluate(at) for formula in formulas])


def value_of(page, selector):
    return float(page.locator(selector).first.get_attribute("data-value"))


def test_controls_presets_reset_and_address(visit):
    seen = visit("book/compute/calculator")
    page, cell = seen.page, "[data-result] output"
    begin = value_of(page, cell)
    page.locator("input[name=K]").fill("16")
    assert value_of(page, cell) == pytest.approx(2 * begin, rel=1e-12)
    page.locator("input[type=range][data-for=K]").press("Home")
    assert page.locator("input[name=K]").input_value() == "1"
    page.locator("select[data-choice=algorithm]").select_option("dpo")
    assert page.locator("input[name=K]").is_hidden()
    page.locator("select[data-choice=algorithm]").select_option("ppo")
    page.locator("select[data-preset=shape_V]").select_option("llama-3.2-1b")
    kept = page.locator("[data-result]").inner_text()
    shared = page.url
    assert "shape_V=llama-3.2-1b" in shared
    page.locator("[data-do=reset]").click()
    assert value_of(page, cell) == begin
    page.goto("about:blank")
    page.goto(shared)
    page.wait_for_selector("[data-ready]")
    assert page.locator("[data-result]").inner_text() == kept


def test_impossible_sizes_are_told_and_nothing_is_computed(visit):
    seen = visit("book/compute/calculator")
    for wrong in ("0", "1.5", "", "-3"):
        seen.page.locator("input[name=L]").fill(wrong)
        assert "L: give a whole number" in seen.page.locator(".rl-panel-message").inner_text()
        assert seen.page.locator("[data-result] output").first.inner_text() == "–"
    seen.page.locator("input[name=L]").fill("32")
    assert seen.page.locator(".rl-panel-message").inner_text() == ""


def test_what_cannot_be_cut_is_told_and_nothing_is_computed(visit):
    seen = visit(panels()["VII"])
    section = seen.page.locator("#panel-VII")
    for name, value, told in (
        ("P_e", "256", "P_e is 256 but E is 128: it cannot be cut into more pieces"),
        ("E_a", "129", "E_a is 129 but E is 128: no token has more experts than there are"),
        ("P_t", "33", "P_t is 33 but h is 32: it cannot be cut into more pieces"),
    ):
        field = section.locator(f"input[name={name}]")
        before = field.input_value()
        field.fill(value)
        assert told in section.locator(".rl-panel-message").inner_text()
        assert section.locator("output[data-cell]").first.inner_text() == "–"
        field.fill(before)
    assert section.locator(".rl-panel-message").inner_text() == ""


def test_points_are_resolved_alike_in_page_and_package(visit):
    seen = visit("book/compute/calculator")
    at = {"L": 3, "L_V": 5, "d": 7, "d_ff": 9, "h": 1, "V": 11, "S": 2, "T": 4, "B": 1, "K": 1, "P_t": 1, "B_pairs": 1}
    needed = json.loads(seen.page.evaluate("JSON.stringify(window.rlmkbPanels.calculator.needs)"))
    assert resolve(at, needed)["L_V"] == 5
    assert resolve(at, needed)["L_R"] == 3
