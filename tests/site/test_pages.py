"""Every page, as a reader sees it: on a wide screen, in dark mode, on a phone; and as axe-core judges it."""

from pathlib import Path

import pytest

import browser as browsing
import guards

PAGES = guards.toc_pages()
LOOKED_AT = [*PAGES, "search", "404"]
AXE = (Path(__file__).parent / "vendor" / "axe" / "axe.min.js").read_text(encoding="utf-8")
COLOURS = ["color-contrast", "link-in-text-block"]  # all that a change of mode can change
KINDS = {
    "landing": "book/index",
    "chapter with charts": "book/foundations/work-depth-memory",
    "panel": "book/compute/calculator",
    "matrix": "book/catalogue/frameworks",
    "entry": "data/frameworks/verl",
    "functions": "book/reference/api/theory",
    "search": "search",
    "lost": "404",
}

BROKEN = """
  <figure class="vl-chart" aria-label="c"><div class="vl-slot"></div></figure> <figure class="vl-chart"></figure>
  <span class="math">x</span> <mjx-merror data-mjx-error="undefined"></mjx-merror>
  <img src="/nowhere.png"> <svg role="img"></svg> <h1>second</h1> <div style="width: 3000px">wide</div>
  <p style="color: #ccc; background: #fff">pale</p> <button></button>
  <div style="width: 9em; overflow: auto"><table><tr><th>first</th><td style="min-width: 30em">wide</td></tr></table>
  </div> <table><tr><td style="min-width: 3000px">unbounded</td></tr></table>"""
BREAK = """async (html) => {
  (document.querySelector("article") ?? document.body).insertAdjacentHTML("beforeend", html);
  await fetch("https://example.org/").catch(() => 0);
  console.error("told");
  setTimeout(() => { throw new Error("thrown"); });
  await new Promise((done) => setTimeout(done, 200));
}"""


def faults(seen, *, faint=True):
    """Everything that is wrong with a page as it looks now."""
    seen.page.evaluate("checks.settle()")
    found = seen.problems + seen.page.evaluate("[...checks.faults(), ...checks.tables()]")
    return found + (seen.page.evaluate("checks.faint()") if faint else [])


def audit(seen, rules=None):
    """What axe-core finds."""
    if not seen.page.evaluate("'axe' in window"):
        seen.page.evaluate(AXE)
    return seen.page.evaluate("rules => checks.audit(rules)", rules)


def told(view, found):
    return [f"{view}: {line}" for line in found]


@pytest.mark.parametrize("name", LOOKED_AT)
def test_page(visit, name):
    """One visit for all views, since loading is what takes the time."""
    seen = visit(name, motion="reduce")
    found = told("wide", faults(seen) + audit(seen))
    seen.page.emulate_media(color_scheme="dark")
    seen.page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    found += told("dark", faults(seen) + audit(seen, COLOURS))
    seen.page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    seen.page.set_viewport_size({"width": 390, "height": 844})
    seen.open(name)
    found += told("phone", faults(seen, faint=False))
    assert not found, "\n".join(dict.fromkeys(found))


def test_the_checks_notice_a_broken_page(visit):
    seen = visit(PAGES[0])
    seen.page.evaluate(BREAK, BROKEN)
    looked = seen.page.evaluate("[...checks.faults(), ...checks.tables(), ...checks.faint()]")
    found = "\n".join(seen.problems + looked + audit(seen))
    for fault in ("third party: https://example.org", "console error: told", "script error: thrown", "404: ",
                  "chart not drawn", "no description", "not typeset", "with an error", "without alt", "not shown",
                  "no title", "2 main headings", "scrolls sideways", 'faint text, 1.6:1: P "pale"',
                  "keyboard cannot scroll: first", "first column scrolls away: first", "without a place to scroll: unb",
                  "axe, button-name", "axe, color-contrast"):  # fmt: skip
        assert fault in found, fault


def test_root_leads_to_the_first_page(visit):
    seen = visit("index")
    seen.page.wait_for_url("**/book/index.html")
    assert not seen.problems, seen.problems


@pytest.mark.parametrize("lost", ["nowhere", "book/foundations/nowhere", "a/b/c/d"])
def test_a_wrong_address_gives_a_page_that_leads_on(visit, lost):
    seen = visit(lost)
    assert [problem for problem in seen.problems if "404" not in problem] == []
    seen.problems.clear()
    assert seen.page.locator("h1").inner_text() == "There is no such page"
    seen.page.locator("main li a").first.click()
    seen.page.wait_for_url("**/book/index.html")
    assert not seen.problems, seen.problems


def test_the_site_works_below_any_path(visit, site):
    with browsing.served(site, "/some/other path/") as below:
        address = below.replace(" ", "%20")
        for name in KINDS.values():
            if name != "404":  # its links are absolute: it is asked for at any depth
                seen = visit(name, at=address)
                found = faults(seen, faint=False)
                assert not found, "\n".join(found)


def test_search_finds_words_of_prose_and_of_computed_tables(visit):
    for word in ("prefill", "simpo"):
        seen = visit("search", query=f"q={word}")
        seen.page.wait_for_selector("#search-results li a", timeout=10_000)
        assert not seen.problems, seen.problems


def test_search_opens_with_the_keyboard_on_any_page(visit):
    seen = visit("book/reference/about")
    seen.page.keyboard.press("Control+k")
    seen.page.keyboard.type("prefill")
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_selector("#search-results li a", timeout=10_000)
    assert not seen.problems, seen.problems


@pytest.mark.parametrize("kind", KINDS)
def test_one_sees_where_the_focus_is(visit, kind):
    seen = visit(KINDS[kind])
    seen.page.evaluate("checks.settle()")
    stops = []
    for _ in range(60):
        seen.page.keyboard.press("Tab")
        stop = seen.page.evaluate("checks.focus()")
        if stop is None:
            break
        stops.append(stop)
    assert len(stops) > 5
    assert not [stop["name"] for stop in stops if not stop["seen"]]
    assert not [stop["name"] for stop in stops if "mjx-container" in stop["name"]]


@pytest.mark.parametrize("kind", ["chapter with charts", "panel", "matrix", "search"])
def test_nothing_moves_for_readers_who_asked_for_that(visit, kind):
    seen = visit(KINDS[kind], motion="reduce")
    seen.page.evaluate("checks.settle()")
    assert seen.page.evaluate("checks.moving()") == []
    assert visit(KINDS[kind]).page.evaluate("checks.moving()")  # or the check would see nothing


def test_formulas_are_read_out(visit):
    seen = visit("book/foundations/notation")
    seen.page.evaluate("checks.settle()")
    assert seen.page.locator("mjx-container").count() == seen.page.locator("mjx-assistive-mml math").count() > 50


def test_a_term_shows_its_definition(visit):
    seen = visit("book/foundations/pipeline")
    term, box = seen.page.locator("a.rl-term").first, seen.page.locator(".rl-definition")
    term.focus()
    assert box.inner_text() == term.get_attribute("aria-description")
    seen.page.keyboard.press("Escape")
    assert box.is_hidden()
    term.hover()
    assert box.is_visible()
    box.hover()  # the pointer may go there
    seen.page.wait_for_timeout(400)
    assert box.is_visible()
    seen.page.mouse.move(5, 5)
    box.wait_for(state="hidden")


def test_changing_the_mode_draws_charts_again(visit, site):
    name = next((page for page in PAGES if "vl-chart" in (site / f"{page}.html").read_text(encoding="utf-8")), None)
    assert name, "no page has a chart"
    seen = visit(name)
    assert not faults(seen)
    seen.page.evaluate("document.documentElement.dataset.theme = 'dark'")
    found = faults(seen)
    assert not found, "\n".join(found)


def test_paper_is_light_and_has_no_menus(visit):
    """Printed from dark mode: text, drawings and charts in light colours, everything of the article and no menu."""
    seen = visit("book/foundations/work-depth-memory", scheme="dark")
    seen.page.evaluate("checks.settle()")
    seen.page.emulate_media(media="print")
    assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not seen.page.evaluate("checks.faint()")
    for menu in ("#pst-primary-sidebar", "#pst-secondary-sidebar", ".bd-header-article", ".rl-foot"):
        assert not seen.page.locator(menu).is_visible(), menu
    marks = seen.page.evaluate("""() => [...document.querySelectorAll("article svg text")]
        .map((text) => getComputedStyle(text).fill)""")
    assert len(marks) > 20
    assert not [colour for colour in marks if min(map(int, colour[4:-1].split(","))) > 150]

