"""Live formulas: what the page computes and shows equals NumPy, and the controls do what they say."""

import json
import random
from itertools import groupby

import numpy as np
import pytest

import guards
from rlmkb.notation import notation
from rlmkb.theory.configurations import CONFIGURATIONS
from rlmkb.theory.tables import table
from rlmkb.theory.values import LIMITS, resolve
from rlmkb.views.panel.calculator import algorithms, rows
from rlmkb.views.panel.inputs import SLIDER_ENDS

POINTS = 200
TABLES = ["III", "IV", "V", "VI", "VII", "VIII", "IX"]
CALCULATOR = "book/compute/calculator"
MARK = "```{formula-panel} "
SUPERSCRIPT = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
AT_EACH = """([id, points, chosen]) => points.map((at) => {
  const { first, second } = rlmkbPanel.compute(id, at, chosen);
  return [...first, ...second];
})"""
# text and value of every output below a selector
OUTPUTS = """(all) => all.map((one) => [one.value, one.dataset.value])"""
BY_PLACE = OUTPUTS.replace("all.map", "all.sort((a, b) => a.dataset.PLACE - b.dataset.PLACE).map")


def panels():
    """From the table of each panel in the book to the page that shows it."""
    found = {}
    for name in guards.toc_pages():
        for path in guards.ROOT.glob(f"{name}.*"):
            text = path.read_text(encoding="utf-8")
            found |= {part.split("\n")[0].split("\\")[0].strip('"\', '): name for part in text.split(MARK)[1:]}
    return found


def point(source, names):
    """Values: any size that a slider reaches, each role's own; degrees within what they cut, heads within the width."""
    at = {name: round(SLIDER_ENDS[notation(name).default or name] ** source.random()) for name in sorted(names)}
    # a head is a part of the width; more of them would make depths that cancel to almost nothing
    widths = {name: at.get(f"d{name[1:]}", at.get("d")) for name in at if "h" in (name, notation(name).default)}
    at |= {name: min(at[name], width) for name, width in widths.items() if width}
    whole = at | {"m": at.get("S", 0) + at.get("T", 0)}
    for part, cut, _ in LIMITS:
        sizes = [size for name, size in whole.items() if cut in (name, notation(name).default)]
        if part in at and sizes:
            at[part] = min(at[part], *sizes)
    return at


def bare(needed):
    names = {notation(name).default or name for name in needed}
    return (names - {"m"}) | ({"S", "T"} if "m" in names else set())


def needed_by(page, id):
    return page.evaluate("id => window.rlmkbPanels[id].needs", id)


def drawn(source, needed):
    """Points with a value of its own for each role, and the same as one array for each symbol."""
    names = bare(needed) | (set(needed) - {"m"})
    points = [point(source, names) for _ in range(POINTS)]
    return points, {name: np.array([one[name] for one in points]) for name in names}


def agree(found, expected):
    found, expected = (np.asarray(side, dtype=float) for side in (found, expected))
    assert found.shape == expected.shape
    assert found.size
    worst = np.abs(found - expected) / np.where(expected == 0, 1, np.abs(expected))
    assert worst.max() < 1e-12


def columns(values):
    """One row a point, from one array a formula."""
    return np.stack([np.broadcast_to(value, POINTS) for value in values], axis=1)


def told(text):
    """The number that a text of a panel says."""
    digits, _, power = text.replace("\u202f", "").partition(" × 10")
    return float(digits) * 10.0 ** int(power.translate(SUPERSCRIPT) or 0)


def shown_alike(outputs, expected):
    """Outputs hold the expected values, and say them with four digits (one that repeats its neighbour says nothing)."""
    agree([float(value) for _, value in outputs], expected)
    said = [(told(text), float(value)) for text, value in outputs if text]
    assert said
    assert [pair for pair in said if abs(pair[0] - pair[1]) > 6e-4 * abs(pair[1])] == []


def shared(id, at, **choices):
    """The address of a panel with these sizes."""
    return f"#panel-{id}:" + ",".join(f"{name}={value}" for name, value in (at | choices).items())


@pytest.mark.parametrize("id", TABLES)
def test_every_cost_table_has_a_panel_that_equals_numpy(visit, id):
    where, source = panels(), random.Random(id)
    assert id in where, f"no page shows a panel of table {id}"
    page = visit(where[id]).page
    needed = needed_by(page, id)
    points, at = drawn(source, needed)
    assert any(notation(name).default for name in at) == (id in ("III", "IV", "IX"))
    agree(page.evaluate(AT_EACH, [id, points, ""]), columns(both(id, at)))
    # the first of them as a link: what the cells then hold and say
    own = {name: points[0][name] for name in bare(needed)}
    page.evaluate("hash => { location.hash = hash; }", shared(id, own))
    cells, seconds = (page.locator(f"#panel-{id} [data-{kind}]") for kind in ("cell", "second"))
    field = f"document.querySelector('#panel-{id} [name=d]')"
    page.wait_for_function(f"{field}.value === '{own['d']}'")
    first = cells.evaluate_all(BY_PLACE.replace("PLACE", "cell"))
    second = seconds.evaluate_all(BY_PLACE.replace("PLACE", "second"))
    shown_alike(first + second, both(id, own))


def both(id, at):
    """Values of a table's cells, then those of the second column."""
    cells = table(id, at=at).cells
    second = [cell.honest or cell.worst for cell in cells]
    return [cell.value for cell in cells] + [formula.evaluate(at) for formula in second if formula]


def test_the_calculator_equals_numpy(visit):
    seen = visit(CALCULATOR)
    source = random.Random(0)
    needed = needed_by(seen.page, "calculator")
    for algorithm_id, algorithm in algorithms().items():
        for configuration in CONFIGURATIONS.values():
            formulas = [formula for _, stage in rows(configuration, algorithm) for formula in stage]
            points, at = drawn(source, needed)
            chosen = f"{algorithm_id}/{configuration.id}"
            found = seen.page.evaluate(AT_EACH, ["calculator", points, chosen])
            agree(found, columns(formula.evaluate(at) for formula in formulas))


def test_the_calculator_shows_what_it_computes(visit):
    page = visit(CALCULATOR).page
    algorithm = algorithms()["grpo"]
    for configuration in CONFIGURATIONS.values():
        at = point(random.Random(configuration.id), set(SLIDER_ENDS))
        hash = shared("calculator", at, algorithm="grpo", configuration=configuration.id)
        page.evaluate("hash => { location.hash = hash; }", hash)
        page.wait_for_function("d => document.querySelector('[name=d]').value === d", arg=str(at["d"]))
        *stages, (_, [total]) = rows(configuration, algorithm)
        expected = [formula.evaluate(at) for _, stage in stages for formula in stage]
        if len(stages) > 1:  # one stage is the whole
            expected += [sum(expected[::3]), total.evaluate(at)]
        shown_alike(page.locator("[data-result] output").evaluate_all(OUTPUTS), expected)


def value_of(page, selector):
    return float(page.locator(selector).first.get_attribute("data-value"))


def test_controls_presets_reset_and_address(visit):
    seen = visit(CALCULATOR)
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
    seen = visit(CALCULATOR)
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
    """With a value of its own for some roles and the bare one for the others; m with and without a value."""
    seen = visit(CALCULATOR)
    source = random.Random(1)
    needed = needed_by(seen.page, "calculator")
    own = {name for name in needed if notation(name).default}
    assert {"L_V", "d_ff_R", "h_pi"} <= own
    for _ in range(20):
        at = point(source, bare(needed) | {name for name in own if source.random() < 0.5})
        at |= {"m": at["S"] + at["T"]} if source.random() < 0.5 else {}
        found = seen.page.evaluate("at => JSON.stringify(rlmkbPanel.point('calculator', at))", at)
        assert json.loads(found) == resolve(at, needed)


# ---- links ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("broken", ["L=%", "L", "constructor=1,shape=none,="])
def test_a_broken_link_shows_the_start(visit, broken):
    seen = visit(panels()["VII"], query=f"x#panel-VII:{broken}")
    page = seen.page
    page.wait_for_selector("#panel-VI[data-ready]")  # the last of the page
    assert page.locator(".rl-panel:not([data-ready])").count() == 0
    assert page.locator("#panel-VII input[name=L]").input_value() == "32"
    assert page.locator("#panel-VII select[data-preset=shape]").input_value() == "llama-3.1-8b"
    assert page.locator("#panel-VII .rl-panel-message").inner_text() == ""
    assert not seen.problems


def test_sizes_beyond_all_numbers_are_told(visit):
    page = visit(panels()["III"], query="x#panel-III:L=1e300,d=1e300").page
    page.wait_for_selector("#panel-III[data-ready]")
    assert "too large" in page.locator("#panel-III .rl-panel-message").inner_text()
    page.locator("#panel-III [data-do=reset]").click()
    assert page.locator("#panel-III .rl-panel-message").inner_text() == ""


def test_a_preset_is_named_only_while_the_fields_hold_it(visit):
    page = visit(panels()["IV"], query="x#panel-IV:L=5,d=64,h=4").page
    page.wait_for_selector("#panel-IV[data-ready]")
    panel = page.locator("#panel-IV")
    model, workload = (panel.locator(f"select[data-preset={name}]") for name in ("shape", "workload"))
    assert (model.input_value(), workload.input_value()) == ("", "reasoning")
    model.select_option("qwen3-8b")
    assert panel.locator("input[name=L]").input_value() == "36"
    link = page.url
    panel.locator("input[name=K]").fill("3")
    assert (model.input_value(), workload.input_value()) == ("qwen3-8b", "")
    panel.locator("input[name=d]").fill("64")
    assert model.input_value() == ""
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector("#panel-IV[data-ready]")
    assert (model.input_value(), workload.input_value()) == ("qwen3-8b", "reasoning")


def test_a_second_link_keeps_nothing_of_the_first(visit):
    page = visit(CALCULATOR, query="x#panel-calculator:K=3,shape_V=llama-3.2-1b,algorithm=dpo").page
    page.wait_for_selector("[data-ready]")
    page.evaluate("location.hash = '#panel-calculator:T=77'")
    page.wait_for_function("document.querySelector('input[name=T]').value === '77'")
    assert page.locator("input[name=K]").input_value() == "8"
    assert page.locator("select[data-preset=shape_V]").input_value() == ""
    assert page.locator("select[data-choice=algorithm]").input_value() == "ppo"


# ---- what is heard and seen -------------------------------------------------------------------------------------


def test_sliders_say_sizes_and_not_their_place(visit):
    page = visit(CALCULATOR).page
    page.locator("input[name=T]").fill("20000")
    slider = page.locator("input[type=range][data-for=T]")
    assert slider.get_attribute("aria-valuetext") == "20\u202f000 tokens"
    slider.press("Home")
    assert slider.get_attribute("aria-valuetext") == "1 tokens"
    page.locator("input[name=T]").fill("-1")
    assert page.locator("input[aria-invalid=true]").get_attribute("name") == "T"


BARS = """(all) => all.map((facet) => [...facet.querySelectorAll(".rl-facet-row")].map((row) => ({
  label: row.querySelector(".rl-facet-label").textContent,
  value: row.querySelector(".rl-facet-value").textContent,
  change: row.querySelector(".rl-facet-change").textContent,
  width: (row.querySelector(".rl-facet-bar")?.getBoundingClientRect().width ?? 0)
    / row.querySelector(".rl-facet-track").getBoundingClientRect().width,
  logarithmic: facet.classList.contains("rl-logarithmic"),
})))"""


def test_the_chart_of_a_table_follows_its_cells(visit):
    page = visit(panels()["VII"]).page
    page.wait_for_selector("#panel-VII[data-ready]")
    panel = page.locator("#panel-VII")
    panel.locator("input[name=P_t]").fill("8")
    facets = panel.locator(".rl-facet").evaluate_all(BARS)
    texts = [text for text, _ in panel.locator("[data-cell]").evaluate_all(OUTPUTS)]
    assert [bar["value"] for facet in facets for bar in facet] == texts
    work, depth, _ = ({bar["label"]: bar for bar in facet} for facet in facets)
    assert (work["Tensor"]["change"], work["Pipeline"]["change"]) == ("× 0.5", "")
    assert [facet[0]["logarithmic"] for facet in facets] == [True, False, True]
    longest = max(told(bar["value"]) for bar in depth.values())
    assert [round(bar["width"], 2) for bar in depth.values()] == [
        round(told(bar["value"]) / longest, 2) for bar in depth.values()
    ]
    order = sorted(work, key=lambda name: told(work[name]["value"]))
    assert order[0] == "5D"
    assert [width for width, _ in groupby(round(work[name]["width"], 2) for name in order)] == sorted(
        {round(bar["width"], 2) for bar in work.values()}
    )
    panel.locator("[data-do=reset]").click()
    assert {bar["change"] for facet in panel.locator(".rl-facet").evaluate_all(BARS) for bar in facet} == {""}


def test_the_chart_shows_the_stage_that_one_chooses(visit):
    page = visit(panels()["IV"]).page
    page.wait_for_selector("#panel-IV[data-ready]")
    page.get_by_label("Chart", exact=True).select_option("Training")
    work, *_ = page.locator("#panel-IV .rl-facet").evaluate_all(BARS)
    cells = [cell.row.upper() for cell in table("IV").cells if cell.stage == "training"]
    assert [bar["label"] for bar in work] == cells[::3]
    texts = page.locator("#panel-IV tbody").nth(2).locator("output").evaluate_all(OUTPUTS)
    assert [bar["value"] for bar in work] == [text for text, _ in texts]


def test_the_chart_of_the_calculator_compares_with_the_start(visit):
    page = visit(CALCULATOR).page
    page.wait_for_selector("[data-ready]")
    before = [float(value) for _, value in page.locator("[data-result] output").evaluate_all(OUTPUTS)]
    page.locator("select[data-choice=algorithm]").select_option("grpo")
    page.locator("input[name=T]").fill("20000")
    after = [float(value) for _, value in page.locator("[data-result] output").evaluate_all(OUTPUTS)]
    work, depth, memory = page.locator(".rl-facet").evaluate_all(BARS)
    assert [bar["label"] for bar in work] == ["generation", "assessment", "training", "the whole iteration"]
    assert len(depth) == 4
    assert [bar["label"] for bar in memory] == ["generation", "assessment", "training"]
    for bar, place in zip(work, (0, 3, 6, 9), strict=True):
        assert float(bar["change"].removeprefix("× ")) == pytest.approx(after[place] / before[place], rel=5e-3)
    page.locator("select[data-choice=configuration]").select_option("async")
    assert [len(facet) for facet in page.locator(".rl-facet").evaluate_all(BARS)] == [1, 1, 1]
    page.locator("input[name=L]").fill("0")
    assert {bar["value"] for facet in page.locator(".rl-facet").evaluate_all(BARS) for bar in facet} == {"–"}
