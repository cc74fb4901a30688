"""The catalogue in a browser: sort, filter, open evidence, choose; by keyboard, from a folder, without scripts."""

import re
import shutil

import pytest

import guards
from rlmkb.catalogue import entries, entry
from rlmkb.catalogue.features import FEATURES
from rlmkb.catalogue.frameworks import Cells
from rlmkb.views.catalogue import matrix
from rlmkb.views.catalogue.finder import RULES
from rlmkb.views.catalogue.query import Query

MATRIX, FINDER, MODELS = "book/catalogue/frameworks", "book/catalogue/choose", "book/catalogue/models"
STATIC = guards.ROOT / "book" / "_static"
LARGEST = 300_000  # bytes of a page's HTML
ROWS = ":is(.rl-live, .rl-find) tbody tr:not([hidden], .rl-group)"
SHOWN = f"[...document.querySelectorAll('{ROWS}')].map(row => row.cells[0].{{}})"
NAMES = SHOWN.format("querySelector('a').textContent")
HOSTILE = '<script>hacked = 1</script><img src="x" onerror="hacked = 1">'


def names(page) -> list[str]:
    """The frameworks that are shown, in their order."""
    return page.evaluate(NAMES)


def focused(page) -> str:
    return page.evaluate("document.activeElement.getAttribute('href') ?? document.activeElement.textContent")


def fragment(page) -> str:
    return page.url.partition("#")[2]


@pytest.fixture
def reopened(visit):
    """A function that opens the address of a page again, in a fresh browser."""

    def open_again(page):
        name, _, rest = page.url.partition("/book/")[2].partition(".html")
        return visit(f"book/{name}", query=f"x#{rest.partition('#')[2]}")

    return open_again


# ---- the matrix -------------------------------------------------------------------------------------------------


def test_a_heading_sorts_there_and_back(visit):
    seen = visit(MATRIX)
    page, before = seen.page, names(seen.page)
    heading = page.get_by_role("button", name="Async")
    heading.focus()
    page.keyboard.press("Enter")
    states = [entries("frameworks")[id].states["async"] for id in _ids(page)]
    assert states == sorted(states, key=lambda state: -matrix.LOOKS[state].order)
    assert page.locator("th[aria-sort=descending]").count() == 1
    assert fragment(page) == "sort=-async"
    page.keyboard.press("Enter")
    assert [entries("frameworks")[id].states["async"] for id in _ids(page)] == states[::-1]
    page.keyboard.press("Enter")
    assert names(page) == before
    assert fragment(page) == ""
    assert not seen.problems


def _ids(page) -> list[str]:
    return [re.search(r"([^/]+)\.html", href)[1] for href in page.evaluate(SHOWN.format("querySelector('a').href"))]


def test_filters_and_order_stand_in_the_address(visit, reopened):
    page = visit(MATRIX).page
    page.locator(".rl-controls [name=class]").select_option("scheduling")
    page.locator(".rl-controls [name=find]").fill("flow")
    page.get_by_role("button", name="Framework", exact=True).click()
    found = names(page)
    wanted = {one.name for one in entries("frameworks").values() if one.centre == "scheduling"}
    assert set(found) <= wanted
    assert "AsyncFlow" in found
    assert page.locator(".rl-count output").text_content() == str(len(found))
    again = reopened(page)
    assert names(again.page) == found
    assert again.page.locator(".rl-controls [name=find]").input_value() == "flow"
    again.page.get_by_role("button", name="Show all").click()
    again.page.wait_for_function("location.hash === ''")
    assert len(names(again.page)) == len(entries("frameworks"))
    assert not again.problems


def test_a_filter_that_nothing_fits_says_so(visit):
    page = visit(MATRIX, 390).page
    page.locator(".rl-controls [name=find]").fill("no such thing")
    assert names(page) == []
    assert page.locator(".rl-nothing").is_visible()


@pytest.mark.parametrize("width", [1280, 390])
def test_evidence_opens_and_closes_with_the_keyboard(visit, width):
    seen = visit(MATRIX, width)
    page = seen.page
    page.locator(".rl-controls [name=find]").fill("verl (")
    page.get_by_role("button", name="Show all").focus()
    # the table, its headings and the name come first; the cells are one stop
    for _ in range(40):
        page.keyboard.press("Tab")
        if focused(page).endswith("verl.html#DP"):
            break
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert focused(page).endswith("verl.html#Z1")
    page.keyboard.press("Enter")
    page.wait_for_selector(".rl-evidence-box[open]")
    cell = entry("frameworks", "verl").features["Z1"]
    box = page.locator(".rl-evidence-box")
    assert "ZeRO-1" in box.locator(".rl-evidence-title").text_content()
    assert cell.evidence[0].says in box.text_content()
    assert cell.verified.on in box.text_content()
    link = box.locator("a.external").first
    assert link.get_attribute("href") == cell.evidence[0].url
    assert link.get_attribute("rel") == "noopener"
    assert page.evaluate("(box => box.scrollWidth <= box.clientWidth)(document.querySelector('.rl-evidence-box'))")
    page.keyboard.press("Escape")
    assert page.locator(".rl-evidence-box[open]").count() == 0
    assert focused(page).endswith("verl.html#Z1")
    assert not seen.problems


def test_the_focus_never_stops_under_what_is_fixed(visit):
    page = visit(MATRIX, 390).page
    page.locator(".rl-matrix tbody tr:not(.rl-group)").nth(5).locator("td > a").first.focus()
    hidden = []
    for key, steps in (("Right", 30), ("Left", 30), ("Down", 20), ("Up", 25)):
        for _ in range(steps):
            page.keyboard.press(f"Arrow{key}")
            if page.evaluate("checks.hidden()"):
                hidden.append((key, focused(page)))
    assert hidden == []


def test_without_scripts_the_matrix_is_a_table_of_links(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/{MATRIX}.html")
    assert page.locator(".rl-matrix tbody tr:not(.rl-group)").count() == len(entries("frameworks"))
    assert page.locator(".rl-controls").is_hidden()
    page.locator("a[href$='verl.html#CP']").click()
    page.wait_for_url("**/verl.html#CP")
    assert page.locator("#CP .rl-evidence a").count() == len(entry("frameworks", "verl").features["CP"].evidence)
    context.close()


def test_a_hostile_entry_from_a_folder_stays_text(browser, tmp_path):
    """Also: the scripts work where there is no server."""
    verl = entry("frameworks", "verl")
    cells = {name: cell.model_copy(update={"note": HOSTILE}) for name, cell in verl.features.items()}
    hostile = verl.model_copy(
        update={"id": "hostile", "name": HOSTILE, "remark": HOSTILE, "features": Cells.model_construct(**cells)}
    )
    html = matrix.matrix_html({"hostile": hostile}, entries("features"), lambda page: f"{page}.html")
    for name in ("live-table.js", "matrix.js"):
        shutil.copy(STATIC / name, tmp_path)
        html += f'<script src="{name}"></script>'
    (tmp_path / "evidence.js").write_text(matrix.evidence_script({"hostile": hostile}), encoding="utf-8")
    (tmp_path / "page.html").write_text(f"<!doctype html><meta charset=utf-8>{html}", encoding="utf-8")
    context = browser.new_context()
    page, errors = context.new_page(), []
    page.on("pageerror", lambda error: errors.append(error))
    page.goto((tmp_path / "page.html").as_uri())
    page.locator("td > a").first.click()
    page.wait_for_selector(".rl-evidence-box[open]")
    assert HOSTILE in page.locator(".rl-evidence-box").text_content()
    assert page.locator(".rl-evidence-title").text_content().startswith(HOSTILE)
    assert page.evaluate("typeof hacked") == "undefined"
    assert page.locator("img").count() == 0
    assert errors == []
    context.close()


# ---- the finder -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.need)
def test_the_finder_and_the_rules_find_the_same(visit, rule):
    page = visit(FINDER).page
    page.locator(".rl-preset").nth(RULES.index(rule)).click()
    wanted = {one.name for one in entries("frameworks").values() if rule.query(one)}
    assert (
        page.locator(".rl-finder output").text_content().startswith(f"{len(wanted)} of {len(entries('frameworks'))} ")
    )
    assert set(names(page)[: len(wanted)]) == wanted
    assert fragment(page) == rule.query.fragment()


def test_ticks_find_frameworks_and_stand_in_the_address(visit, reopened):
    seen = visit(FINDER)
    page = seen.page
    page.get_by_label("Asynchronous execution, fully").focus()
    page.keyboard.press("Space")
    assert page.locator("input[name=async][value=partial]").is_checked()
    page.get_by_label("Expert parallelism", exact=True).check()
    query = Query({"EP": "partial", "async": "yes"})
    wanted = {one.name for one in entries("frameworks").values() if query(one)}
    assert set(names(page)[: len(wanted)]) == wanted
    missing = page.locator("tr.rl-group").text_content()
    assert missing == f"Missing one ({len(names(page)) - len(wanted)})"
    assert page.locator("tbody tr").first.locator(".rl-asked a").count() == 2
    again = reopened(page)
    assert names(again.page) == names(page)
    again.page.get_by_label("Asynchronous execution", exact=True).uncheck()
    assert fragment(again.page) == "EP=partial"
    again.page.get_by_role("button", name="Start again").click()
    again.page.wait_for_function("location.hash === ''")
    assert len(names(again.page)) == len(entries("frameworks"))
    assert not seen.problems + again.problems


def test_a_made_up_query_does_no_harm(visit):
    seen = visit(FINDER, query="x#async=maybe&class=%3Cscript%3E&license=none&__proto__=1")
    assert len(names(seen.page)) == len(entries("frameworks"))
    assert not seen.problems


# ---- other pages ------------------------------------------------------------------------------------------------


def test_models_are_filtered_by_what_they_learned_from(visit):
    page = visit(MODELS, 390).page
    page.locator(".rl-controls [name=feedback]").select_option("rlvr")
    count = sum("rlvr" in one.signal.feedback for one in entries("models").values())
    assert page.locator(".rl-count output").text_content() == str(count)
    page.get_by_role("button", name="Released").click()
    days = page.evaluate(SHOWN.format("parentElement.cells[1].dataset.v ?? ''"))
    assert days == sorted(days)
    assert len(days) == count


def test_pages_stay_small(site):
    pages = [*(site / "book" / "catalogue").glob("*.html"), *(site / "data" / "frameworks").glob("*.html")]
    assert len(pages) > len(entries("frameworks"))
    assert {page.name: page.stat().st_size for page in pages if page.stat().st_size > LARGEST} == {}


def test_every_framework_has_a_page_with_every_feature(site):
    for id in entries("frameworks"):
        text = (site / "data" / "frameworks" / f"{id}.html").read_text(encoding="utf-8")
        assert [feature for feature in FEATURES if f'class="rl-cell" id="{feature}"' not in text] == []
