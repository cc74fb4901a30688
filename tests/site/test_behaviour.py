"""What the site does: leads on, searches, shows where one is, follows the reader's mode, prints."""

import pytest

import browser as browsing

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
    seen.page.wait_for_load_state("networkidle")  # leaving would cancel the icon's request
    seen.page.locator("main li a").first.click()
    seen.page.wait_for_url("**/book/index.html")
    assert not seen.problems, seen.problems


def test_the_site_works_below_any_path(visit, site):
    with browsing.served(site, "/some/other path/") as below:
        address = below.replace(" ", "%20")
        for name in KINDS.values():
            if name != "404":  # its links are absolute: it is asked for at any depth
                seen = visit(name, at=address)
                found = seen.faults(faint=False)
                assert not found, "\n".join(found)


def test_search_finds_words_of_prose_and_of_computed_tables(visit):
    for word in ("prefill", "simpo"):
        seen = visit("search", query=f"q={word}")
        seen.page.wait_for_selector("#search-results li a", timeout=10_000)
        assert not seen.problems, seen.problems


@pytest.mark.parametrize("place", range(3))
def test_what_the_search_found_opens_without_a_fault(visit, place):
    """The word stands in the drawings of these pages, too."""
    seen = visit("search", query="q=prefill")
    found = seen.page.locator("#search-results li a").nth(place)
    found.wait_for(timeout=10_000)
    seen.page.wait_for_load_state("networkidle")  # leaving would cancel the requests for what the pages say
    found.click()
    seen.page.wait_for_url("**/book/**")
    seen.page.wait_for_load_state("load")
    seen.page.evaluate("checks.settle()")
    seen.page.wait_for_timeout(100)
    assert not seen.problems, seen.problems


def test_search_names_chapters_before_functions(visit):
    seen = visit("search", query="q=prefill")
    seen.page.wait_for_selector("#search-results li a[href*='reference/api/']", timeout=10_000)
    found = seen.page.locator("#search-results li a").evaluate_all("links => links.map((link) => link.href)")
    functions = ["/reference/api/" in address for address in found]
    assert functions == sorted(functions)


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


def test_changing_the_mode_draws_charts_again(visit):
    seen = visit(KINDS["chapter with charts"])
    assert not seen.faults()
    seen.page.evaluate("document.documentElement.dataset.theme = 'dark'")
    found = seen.faults()
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

