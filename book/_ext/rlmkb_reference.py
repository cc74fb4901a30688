"""Sphinx extension of the book: the directives of its reference pages.

    ```{symbol-index}
    ```
    ```{api} rlmkb.theory
    ```

Downloads are written beside the pages when all of them are made.
"""

import importlib
import json
import pkgutil
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.statemachine import StringList
from rlmkb_book import Computed

DOWNLOADS = "_downloads"
PANEL = "{formula-panel} "


class FromPackage(Computed):
    """Base: addresses of other places, relative to this page."""

    def to(self, page: str) -> str:
        return self.env.app.builder.get_relative_uri(self.env.docname, page)

    def root(self) -> str:
        """The way from this page to the root of the site."""
        return "../" * self.env.docname.count("/")

    def html(self, text: str) -> list[nodes.Node]:
        return [nodes.raw("", text, format="html")]


class SymbolIndex(FromPackage):
    """``{symbol-index}``: each symbol with the tables that contain it."""

    def made(self) -> list[nodes.Node]:
        from rlmkb.views.symbols import symbol_index_html

        shown = panels(Path(self.env.srcdir), self.env.found_docs)
        return self.html(symbol_index_html({id: f"{self.to(page)}#panel-{id}" for id, page in shown.items()}))


class Status(FromPackage):
    """``{status}``: how many formulas, tests and entries there are."""

    def made(self) -> list[nodes.Node]:
        from rlmkb.views.status import status_html

        root = Path(self.env.srcdir)
        return self.html(status_html(root, [path for _, path in notebooks(root, self.env.found_docs)]))


class Downloads(FromPackage):
    """``{downloads} data`` or ``{downloads} notebooks``."""

    required_arguments = 1

    def made(self) -> list[nodes.Node]:
        from rlmkb.views.downloads import data_html, notebooks_html

        if self.arguments[0] == "data":
            return self.html(data_html(lambda name: f"{self.root()}{DOWNLOADS}/{name}"))
        chapters = notebooks(Path(self.env.srcdir), self.env.found_docs)
        return self.html(notebooks_html(chapters, lambda page: f"{self.root()}_sources/{page}.ipynb"))


class Api(FromPackage):
    """``{api} rlmkb.theory``: the documented functions and classes of modules, and of all modules of packages.

    ``:without:`` names modules and packages that have a page of their own.
    """

    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {"without": str.split}

    def made(self) -> list[nodes.Node]:
        without = set(self.options.get("without", ()))
        return [self.described(module) for name in self.arguments[0].split() for module in modules(name, without)]

    def described(self, module: str) -> nodes.section:
        section = nodes.section(ids=[nodes.make_id(f"about {module}")], names=[])
        name = module.removeprefix("rlmkb.")
        section += nodes.title("", "", nodes.literal(name, name))
        options = (":members:", ":ignore-module-all:", ":member-order: bysource")
        lines = ["```{eval-rst}", f".. automodule:: {module}", *(f"   {option}" for option in options), "```"]
        self.state.nested_parse(StringList(lines, source=module), self.content_offset, section)
        return section


def keep_bars(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Let docstrings write |M| for a size, which reStructuredText would take for something to be replaced."""
    for place, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[place] = "``".join(
                part if code % 2 else part.replace("|", r"\|") for code, part in enumerate(line.split("``"))
            )


def modules(name: str, without: Container[str] = ()) -> Iterator[str]:
    """A module and, if it is a package, those below it; private ones are left out."""
    yield name
    found = importlib.import_module(name)
    for below in pkgutil.iter_modules(getattr(found, "__path__", []), f"{name}."):
        if below.name not in without and not below.name.rpartition(".")[2].startswith("_"):
            yield from modules(below.name, without)


def panels(root: Path, pages: set[str]) -> dict[str, str]:
    """From the number of a table to the page where it can be changed."""
    found = {}
    for page in sorted(pages):
        for path in (root / f"{page}.md", root / f"{page}.ipynb"):
            if path.is_file():
                for text in path.read_text(encoding="utf-8").split(PANEL)[1:]:
                    found[text.split("\n")[0].split("\\")[0].strip('`"\', ')] = page
    return found


def notebooks(root: Path, pages: set[str]) -> list[tuple[str, Path]]:
    """The pages that are notebooks, with their files."""
    files = ((page, root / f"{page}.ipynb") for page in sorted(pages))
    return [(page, path) for page, path in files if path.is_file() and json.loads(path.read_text(encoding="utf-8"))]


def write_downloads(app: Any, exception: Exception | None) -> None:
    """Put the files that a page offers beside the pages."""
    if exception is not None or app.builder.name != "html" or not offers_downloads(app.env):
        return
    from rlmkb.views.downloads import files

    folder = Path(app.outdir) / DOWNLOADS
    folder.mkdir(exist_ok=True)
    for name, content in files().items():
        (folder / name).write_text(content, encoding="utf-8", newline="")


def offers_downloads(env: Any) -> bool:
    return any(page.endswith("/downloads") for page in env.found_docs)


def setup(app: Any) -> dict[str, bool]:
    for name, directive in {
        "symbol-index": SymbolIndex, "status": Status, "downloads": Downloads, "api": Api,
    }.items():  # fmt: skip
        app.add_directive(name, directive)
    app.connect("autodoc-process-docstring", keep_bars)
    app.connect("build-finished", write_downloads)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
