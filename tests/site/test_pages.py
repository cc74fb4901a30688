"""Every chapter, as a reader sees it: on a wide screen, in dark mode, on a phone; and as axe-core judges it.

The other pages are in `test_reference_pages.py`, so that two processes can share the work.
"""

import pytest

import guards

CHAPTERS = [page for page in guards.toc_pages() if not page.startswith(("book/reference/", "data/"))]

BROKEN = """
  <figure class="vl-chart" aria-label="c"><div class="vl-slot"></div></figure> <figure class="vl-chart"></figure>
  <span class="math">x</span> <mjx-merror data-mjx-error="undefined"></mjx-merror>
  <img src="/nowhere.png"> <svg role="img"></svg> <h1>second</h1> <div style="width: 3000px">wide</div>
  <p style="color: #ccc; background: #fff">pale</p> <button></button>
  <div style="width: 9em; overflow: auto"><table><tr><th>first</th><td style="min-width: 30em">wide</td></tr></table>
  </div> <table><tr><td style="min-width: 3000px">unbounded</td></tr></table>
  <p><a class="small" href="#a">i</a><a class="small" href="#b">j</a></p>
  <style>.small { float: left; font-size: 9px }</style>
  <div class="rl-table" style="width: 12em; scroll-padding: 0"><table><tr><th scope="row" style="min-width: 6em">x</th>
  CELLS</tr></table></div>""".replace("CELLS", '<td style="min-width: 3em"><a href="#c">under</a></td>' * 9)
BREAK = """async (html) => {
  (document.querySelector("article") ?? document.body).insertAdjacentHTML("beforeend", html);
  await fetch("https://example.org/").catch(() => 0);
  console.error("told");
  setTimeout(() => { throw new Error("thrown"); });
  await new Promise((done) => setTimeout(done, 200));
}"""


@pytest.mark.parametrize("name", CHAPTERS)
def test_page(examined, name):
    assert not examined(name)


def test_the_checks_notice_a_broken_page(visit):
    seen = visit(CHAPTERS[0])
    seen.page.evaluate(BREAK, BROKEN)
    looked = seen.page.evaluate("[...checks.faults(), ...checks.tables(), ...checks.faint(), ...checks.covered()]")
    found = "\n".join(seen.problems + looked + seen.audit())
    for fault in ("third party: https://example.org", "console error: told", "script error: thrown", "404: ",
                  "chart not drawn", "no description", "not typeset", "with an error", "without alt", "not shown",
                  "no title", "2 main headings", "scrolls sideways", 'faint text, 1.6:1: P "pale"',
                  "keyboard cannot scroll: first", "first column scrolls away: first", "without a place to scroll: unb",
                  "axe, button-name", "axe, color-contrast", "axe, target-size",
                  "focus under the fixed part of a table: under"):  # fmt: skip
        assert fault in found, fault
