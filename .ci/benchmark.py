"""How fast the built site is in the browser: first view of its pages, reaction of its formulas.

    python .ci/benchmark.py [--all] [--runs 3] [--line]

First view: from the request to the largest text or picture of the window (LCP), with an empty cache; complete: until
its formulas are typeset and its charts drawn. `--line` adds a connection of 10 Mbit/s and 40 ms. Reaction: from
the change of a field or slider to the new values, laid out. A number depends on the machine, so none is a test.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from statistics import median

import browser
import guards

SITE = guards.ROOT / "_build" / "html"
RESULT = guards.ROOT / "_build" / "benchmark.json"
FIRST_VIEW, REACTION = 1500, 50  # milliseconds that we allow ourselves
LINE = {"offline": False, "latency": 40, "downloadThroughput": 10e6 / 8, "uploadThroughput": 5e6 / 8}
CHANGES = 40  # of each field or slider, at most

WATCH = """
window.largest = 0;
new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.largest = entry.startTime; })
  .observe({ type: "largest-contentful-paint", buffered: true });
"""
COMPLETE = """async () => {
  const until = async (done) => {
    for (let turn = 0; turn < 2000 && !done(); turn++) await new Promise((next) => setTimeout(next, 5));
  };
  const inView = (node) => {
    const box = node.getBoundingClientRect();
    return box.bottom > 0 && box.top < window.innerHeight;
  };
  if (document.querySelector(".math")) {
    await until(() => window.MathJax?.startup?.promise);
    await window.MathJax?.startup?.promise;
  }
  for (const chart of document.querySelectorAll("figure.vl-chart")) {
    if (inView(chart)) await until(() => chart.dataset.drawn);
  }
  const complete = performance.now();
  await new Promise((next) => requestAnimationFrame(() => setTimeout(next, 50)));
  const files = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  return {
    first: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
    view: window.largest,
    complete,
    bytes: files.reduce((sum, file) => sum + file.transferSize, 0),
  };
}"""
# A field's listener computes at once; reading a size afterwards makes the browser lay the page out.
REACT_PANEL = """(changes) => [...document.querySelectorAll(".rl-panel")].flatMap((panel) => {
  const fields = [...panel.querySelectorAll("input[type=range]")].filter((field) => field.offsetParent);
  return Array.from({ length: changes }, (_, turn) => {
    const field = fields[turn % fields.length];
    field.value = (997 * (turn + 1)) % 1000;
    const begin = performance.now();
    field.dispatchEvent(new Event("input", { bubbles: true }));
    panel.offsetHeight;
    return performance.now() - begin;
  });
})"""
# A chart answers when it has been drawn anew.
REACT_CHART = """async (changes) => {
  const found = [];
  for (const chart of document.querySelectorAll("figure.vl-chart")) {
    chart.scrollIntoView();
    for (let turn = 0; turn < 2000 && !chart.dataset.drawn; turn++) await new Promise((next) => setTimeout(next, 5));
    const sliders = [...chart.querySelectorAll(".vega-bind input[type=range]")];
    for (let turn = 0; sliders.length && turn < changes; turn++) {
      const slider = sliders[turn % sliders.length], low = Number(slider.min), high = Number(slider.max);
      const changed = new Promise((done) => {
        const watch = new MutationObserver(() => { watch.disconnect(); done(true); });
        const everything = { attributes: true, childList: true, subtree: true, characterData: true };
        watch.observe(chart.querySelector("svg"), everything);
        setTimeout(() => { watch.disconnect(); done(false); }, 1000);
      });
      slider.value = low + (((turn * 7) % 10) / 10) * (high - low);
      const begin = performance.now();
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      if (await changed) {
        chart.offsetHeight;
        found.push(performance.now() - begin);
      }
    }
  }
  return found;
}"""


def kinds(pages: Iterable[str]) -> list[str]:
    """The heaviest page of each folder, and the landing page."""
    heaviest: dict[str, str] = {}
    for page in pages:
        folder = page.rpartition("/")[0]
        if folder not in heaviest or _size(page) > _size(heaviest[folder]):
            heaviest[folder] = page
    return list(heaviest.values())


def _size(page: str) -> int:
    return (SITE / f"{page}.html").stat().st_size


def open_page(running, address: str, line: bool):
    """A page in a fresh profile: nothing is cached."""
    context = running.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(WATCH)
    page = context.new_page()
    if line:
        session = context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", LINE)
    page.goto(address, wait_until="load")
    return context, page


def views(running, address: str, runs: int, line: bool) -> dict[str, float]:
    """Median times and bytes of a page."""
    found = []
    for _ in range(runs):
        context, page = open_page(running, address, line)
        found.append(page.evaluate(COMPLETE))
        context.close()
    return {key: round(median(one[key] for one in found)) for key in found[0]}


def reactions(running, address: str) -> list[float]:
    """Milliseconds of each change of a field or slider of a page."""
    context, page = open_page(running, address, line=False)
    page.evaluate(COMPLETE)
    found = page.evaluate(REACT_PANEL, CHANGES) + page.evaluate(REACT_CHART, CHANGES)
    context.close()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="every page; else the heaviest of each folder")
    parser.add_argument("--runs", type=int, default=3, help="loads of each page, of which the median counts")
    parser.add_argument("--line", action="store_true", help="over a connection of 10 Mbit/s and 40 ms")
    options = parser.parse_args()
    pages = guards.toc_pages()
    chosen = pages if options.all else kinds(pages)
    result: dict = {"line": options.line, "pages": {}, "reactions": {}}
    print(_row("page", "HTML", "loaded", "first", "view", "complete", "reaction: median, worst"))
    print(_row("", "KB", "KB", "ms", "ms", "ms", "ms"))
    with browser.served(SITE) as address, browser.browser() as running:
        views(running, f"{address}/{chosen[0]}.html", 1, options.line)  # starts the browser's processes
        for name in chosen:
            seen = views(running, f"{address}/{name}.html", options.runs, options.line)
            text = (SITE / f"{name}.html").read_text(encoding="utf-8")
            live = "rl-panel" in text or '"bind"' in text
            changed = reactions(running, f"{address}/{name}.html") if live else []
            result["pages"][name] = seen
            if changed:
                result["reactions"][name] = {"median": round(median(changed), 2), "worst": round(max(changed), 2)}
            shown = f"{median(changed):.1f} {max(changed):6.1f}" if changed else ""
            sizes = (f"{len(text.encode()) / 1e3:.0f}", f"{seen['bytes'] / 1e3:.0f}")
            print(_row(name, *sizes, seen["first"], seen["view"], seen["complete"], shown), flush=True)
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    _judge("first view", [one["view"] for one in result["pages"].values()], FIRST_VIEW)
    _judge("reaction, median of a page", [one["median"] for one in result["reactions"].values()], REACTION)
    return 0


def _row(page: str, *cells: object) -> str:
    return f"{page:42}" + "".join(f"{cell:>9}" for cell in cells[:-1]) + f"{cells[-1]:>25}"


def _judge(what: str, values: list[float], allowed: int) -> None:
    over = sum(value > allowed for value in values)
    told = f"{over} of {len(values)} over {allowed} ms" if over else f"all below {allowed} ms"
    print(f"{what}: median {median(values):.0f} ms, worst {max(values):.0f} ms; {told}" if values else f"{what}: none")


if __name__ == "__main__":
    if not Path(SITE).is_dir():
        raise SystemExit("there is no site; run `make book`")
    sys.exit(main())
