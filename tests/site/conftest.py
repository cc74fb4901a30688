"""A browser on the built site, cut off from everything but this machine's own server."""

import functools
import shutil
import threading
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import book
import guards

SITE = guards.ROOT / "_build" / "html"
CHECKS = Path(__file__).with_name("checks.js")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars"]  # fmt: skip


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the site, which must have been built from the present sources."""
    if not book.is_current():
        pytest.fail("_build/html is not the site of the present sources; run `make book`", pytrace=False)
    return SITE


@pytest.fixture(scope="session")
def address(site):
    """Where the site is served, for example http://127.0.0.1:40123."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def browser():
    """Chromium; a machine without one fails, since nothing else looks at the pages."""
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not found:
        pytest.fail(
            f"no browser found (looked for {', '.join(BROWSERS)}); on Debian: apt-get install chromium",
            pytrace=False,
        )
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=QUIET)
        yield running
        running.close()


@dataclass
class Visit:
    """One page opened in a fresh browser profile, and everything that went wrong meanwhile."""

    page: object
    problems: list[str] = field(default_factory=list)

    def listen(self, address: str) -> None:
        def guard(route):
            url = route.request.url
            if url.startswith((address, "data:", "blob:")):
                route.continue_()
            else:
                self.problems.append(f"asked a third party: {url}")
                route.abort()

        self.page.route("**/*", guard)
        self.page.on("pageerror", lambda error: self.problems.append(f"script error: {error}"))
        self.page.on("requestfailed", lambda request: self.problems.append(f"request failed: {request.url}"))
        self.page.on("console", self._console)
        self.page.on("response", self._response)

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

    def open_page(name: str, width: int = 1280, scheme: str = "light", query: str = "") -> Visit:
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme, service_workers="block")
        contexts.append(context)
        context.add_init_script(path=CHECKS)
        seen = Visit(context.new_page())
        seen.listen(address)
        seen.page.goto(f"{address}/{name}.html?{query}", wait_until="load")
        return seen

    yield open_page
    for context in contexts:
        context.close()
