"""The built site on this machine, and a browser to open it: for its tests, its PDF and its benchmark."""

import functools
import gzip
import mimetypes
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars",
         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]  # fmt: skip
MISSING = f"no browser found (looked for {', '.join(BROWSERS)}); on Debian: apt-get install chromium"
COMPRESSED = {"text/html", "text/css", "text/javascript", "application/javascript", "application/json", "image/svg+xml"}


@contextmanager
def browser() -> Iterator:
    """Chromium, closed at the end.

    Raises
    ------
    FileNotFoundError
        On a machine without one, with what to do.
    """
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not found:
        raise FileNotFoundError(MISSING)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=QUIET)
        yield running
        running.close()


@contextmanager
def served(site: Path, below: str = "/") -> Iterator[str]:
    """The address of a folder that is served as GitHub Pages serves it: below a path, compressed, with its own 404.

    Parameters
    ----------
    site : Path
        The folder.
    below : str
        The path, with a slash at both ends; nothing is found outside of it.
    """
    handler = functools.partial(Pages, site=site, below=below)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}{below.rstrip('/')}"
    server.shutdown()
    server.server_close()
    thread.join()


class Pages(BaseHTTPRequestHandler):
    """Answers with a file of the site, or with its page for a wrong address."""

    protocol_version = "HTTP/1.1"  # keeps the connection, as a real server does

    def __init__(self, *arguments, site: Path, below: str) -> None:
        self.site, self.below = site, below
        super().__init__(*arguments)

    def do_GET(self) -> None:
        file = self.file()
        found = file is not None
        file = file or self.site / "404.html"
        body = file.read_bytes() if file.is_file() else b""
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "max-age=600")
        if kind in COMPRESSED and "gzip" in self.headers.get("Accept-Encoding", ""):
            body = gzip.compress(body, compresslevel=1)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(ConnectionError):  # the browser left the page
            self.wfile.write(body)

    def file(self) -> Path | None:
        path = unquote(urlsplit(self.path).path)
        if not path.startswith(self.below):
            return None
        wanted = (self.site / path.removeprefix(self.below)).resolve()
        if wanted.is_dir():
            wanted /= "index.html"
        return wanted if wanted.is_file() and wanted.is_relative_to(self.site.resolve()) else None

    def log_message(self, *_) -> None:
        pass
