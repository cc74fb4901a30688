"""A browser on the built site, cut off from everything but this machine's own server."""

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

import book
import browser as browsing
import guards
from rlmkb.views.publication import site_address

SITE = guards.ROOT / "_build" / "html"
CHECKS = Path(__file__).with_name("checks.js")
AXE = Path(__file__).with_name("vendor") / "axe" / "axe.min.js"
COLOURS = ["color-contrast", "link-in-text-block"]  # all that a change of mode can change
CONFIG = yaml.safe_load((guards.ROOT / "_config.yml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the site, which must have been built from the present sources."""
    if not book.is_current():
        pytest.fail("_build/html is not the site of the present sources; run `make book`", pytrace=False)
    return SITE


@pytest.fixture(scope="session")
def home() -> str:
    """The address at which the site is published."""
    return site_address(CONFIG["repository"]["url"])


@pytest.fixture(scope="session")
def address(site, home):
    """Where the site is served, below the path that it is published at: http://127.0.0.1:40123/path."""
    with browsing.served(site, urlsplit(home).path) as found:
        yield found


@pytest.fixture(scope="module")
def browser():
    """Chromium; a machine without one fails, since nothing else looks at the pages."""
    try:
        with browsing.browser() as running:
            yield running
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)


@dataclass
class Visit:
    """A tab with a fresh browser profile, and everything that went wrong in it."""

    page: object
    address: str
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("request", self._request)
        self.page.on("pageerror", lambda error: self.problems.append(f"script error: {error}"))
        self.page.on("requestfailed", lambda request: self.problems.append(f"request failed: {request.url}"))
        self.page.on("console", self._console)
        self.page.on("response", self._response)

    def open(self, name: str, query: str = "") -> None:
        """Open a page of the site by its name, such as ``book/index``."""
        self.page.goto(f"{self.address}/{name}.html?{query}", wait_until="load")

    def faults(self, *, faint: bool = True) -> list[str]:
        """Everything that is wrong with the page as it looks now."""
        self.page.evaluate("checks.settle()")
        found = self.problems + self.page.evaluate("[...checks.faults(), ...checks.tables()]")
        return found + (self.page.evaluate("checks.faint()") if faint else [])

    def audit(self, rules: list[str] | None = None) -> list[str]:
        """What axe-core finds, by all of its rules or by some."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text(encoding="utf-8"))
        return self.page.evaluate("rules => checks.audit(rules)", rules)

    def _request(self, request) -> None:
        if not request.url.startswith((f"{self.address}/", "data:", "blob:")):
            self.problems.append(f"asked a third party: {request.url}")

    def _console(self, message) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"console {message.type}: {message.text}")

    def _response(self, response) -> None:
        if response.status >= 400:
            self.problems.append(f"{response.status}: {response.url}")


@pytest.fixture
def visit(browser, address):
    """A function that opens a page of the site: ``visit("book/index", width=390, scheme="dark")``."""
    contexts = []

    def open_page(name, width=1280, scheme="light", query="", motion="no-preference", at=address) -> Visit:
        look = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme, "reduced_motion": motion}
        context = browser.new_context(**look, service_workers="block")
        contexts.append(context)
        context.add_init_script(path=CHECKS)
        seen = Visit(context.new_page(), at)
        seen.open(name, query)
        return seen

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def examined(visit):
    """A function that looks at a page in all views and tells what is wrong; in one visit, since loading takes time."""

    def examine(name: str) -> str:
        seen = visit(name, motion="reduce")
        found = {"wide": seen.faults() + seen.audit()}
        seen.page.emulate_media(color_scheme="dark")
        seen.page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
        found["dark"] = seen.faults() + seen.audit(COLOURS)
        seen.page.emulate_media(color_scheme="light", reduced_motion="no-preference")
        seen.page.set_viewport_size({"width": 390, "height": 844})
        seen.open(name)
        found["phone"] = seen.faults(faint=False) + seen.page.evaluate("checks.covered()")
        return "\n".join(f"{view}: {line}" for view, lines in found.items() for line in lines)

    return examine
