"""Every page, as a reader sees it: on a wide screen, on a phone, in dark mode."""

import pytest

import guards

PAGES = guards.toc_pages()
VIEWS = {"wide": (1280, "light"), "phone": (390, "light"), "dark": (1280, "dark")}

BROKEN = """
  <figure class="vl-chart" aria-label="c"><div class="vl-slot"></div></figure> <figure class="vl-chart"></figure>
  <span class="math">x</span> <mjx-merror data-mjx-error="undefined"></mjx-merror>
  <img src="/nowhere.png"> <svg role="img"></svg> <h1>second</h1> <div style="width: 3000px">wide</div>
  <p style="color: #ccc; background: #fff">pale</p>"""
BREAK = """async (html) => {
  document.querySelector("article").insertAdjacentHTML("beforeend", html);
  await fetch("https://example.org/").catch(() => 0);
  console.error("told");
  setTimeout(() => { throw new Error("thrown"); });
  await new Promise((done) => setTimeout(done, 200));
}"""


def problems(seen):
    """Everything that is wrong with an opened page."""
    seen.page.evaluate("checks.settle()")
    return seen.problems + seen.page.evaluate("[...checks.faults(), ...checks.faint()]")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", PAGES)
def test_page(visit, name, view):
    width, scheme = VIEWS[view]
    seen = visit(name, width, scheme)
    found = problems(seen)
    assert not found, "\n".join(found)
    assert seen.page.evaluate("document.documentElement.dataset.theme") == scheme


def test_the_checks_notice_a_broken_page(visit):
    seen = visit(PAGES[0])
    seen.page.evaluate(BREAK, BROKEN)
    found = "\n".join(seen.problems + seen.page.evaluate("[...checks.faults(), ...checks.faint()]"))
    for fault in ("third party: https://example.org", "console error: told", "script error: thrown", "404: ",
                  "chart not drawn", "no description", "not typeset", "with an error", "without alt", "not shown",
                  "no title", "2 main headings", "scrolls sideways", 'faint text, 1.6:1: P "pale"'):  # fmt: skip
        assert fault in found, fault


def test_root_leads_to_the_first_page(visit):
    seen = visit("index")
    seen.page.wait_for_url("**/book/index.html")
    assert not seen.problems, seen.problems


def test_search_finds_words_of_prose_and_of_computed_tables(visit):
    for word in ("prefill", "simpo"):
        seen = visit("search", query=f"q={word}")
        seen.page.wait_for_selector("#search-results li a", timeout=10_000)
        assert not seen.problems, seen.problems


def test_changing_the_mode_draws_charts_again(visit, site):
    name = next((page for page in PAGES if "vl-chart" in (site / f"{page}.html").read_text(encoding="utf-8")), None)
    assert name, "no page has a chart"
    seen = visit(name)
    assert not problems(seen)
    seen.page.evaluate("document.documentElement.dataset.theme = 'dark'")
    found = problems(seen)
    assert not found, "\n".join(found)
