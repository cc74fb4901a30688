"""Sphinx extension of the book: figures and tables that are computed while a page is built.

    ```{diagram} pipeline
    :caption: What is shown, in one sentence.
    ```
    ```{architecture-table}
    ```

Their content comes from the package and from `data/`, never from a file that someone would have to refresh.
"""

import gc
import os
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from sphinx import events
from sphinx.util import matching
from sphinx.util.docutils import SphinxDirective

import rlmkb
from rlmkb.data import data_path
from rlmkb.errors import InputError

# A script is loaded only by pages whose HTML contains its mark.
PAGE_SCRIPTS = {
    "vl-chart": "charts.js",
    "rl-facets": "panel-chart.js",  # before panel.js, which calls it
    "rl-panel": "panel.js",
    "rl-live": "live-table.js",
    "rl-matrix": "matrix.js",
    "rl-finder": "finder.js",
}

# What a folded cell is called: `_config.yml` has "Show {type}", where {type} is MyST-NB's word for the part.
FOLDED = {"source": "the code", "content": "the answer", "outputs": "the output"}


class Computed(SphinxDirective):
    """Base of the directives: notes what the content is made from, and turns a wrong name into a build error."""

    option_spec: ClassVar[dict[str, Any]] = {"caption": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        for path in ingredients():
            self.env.note_dependency(path)
        try:
            return self.made()
        except InputError as error:
            raise self.error(str(error)) from error

    def made(self) -> list[nodes.Node]:
        raise NotImplementedError

    def caption(self, text: str) -> nodes.caption:
        children, messages = self.state.inline_text(text, self.lineno)
        return nodes.caption(text, "", *children, *messages)


class Diagram(Computed):
    """``{diagram} NAME``: an inline SVG figure that can be referred to as ``fig-NAME``."""

    required_arguments = 1

    def made(self) -> list[nodes.Node]:
        from rlmkb.views import diagrams

        name = self.arguments[0]
        figure = nodes.figure("", nodes.raw("", diagrams.render(name), format="html"), classes=["rl-diagram"])
        figure += self.caption(self.options.get("caption") or diagrams.title(name))
        self.options["name"] = f"fig-{name}"
        self.add_name(figure)
        self.set_source_info(figure)
        return [figure]


def html_directive(module: str, function: str) -> type[Directive]:
    """A directive that shows the HTML which a function of `rlmkb.views` returns."""

    class Shown(Computed):
        def made(self) -> list[nodes.Node]:
            make = getattr(import_module(f"rlmkb.views.{module}"), function)
            found = nodes.raw("", make(), format="html")
            if "caption" not in self.options:
                return [found]
            return [nodes.container("", self.caption(self.options["caption"]), found)]

    return Shown


class FormulaPanel(Computed):
    """``{formula-panel} III``: a cost table whose symbols the reader changes, computed in the page."""

    required_arguments = 1

    def made(self) -> list[nodes.Node]:
        from rlmkb.views.panel.table import panel_of_table

        return [nodes.raw("", panel_of_table(self.arguments[0]), format="html")]


@cache
def ingredients() -> list[str]:
    """The files that computed content depends on: the package's modules and the data."""
    package = Path(rlmkb.__file__).parent
    return [str(path) for path in [*sorted(package.rglob("*.py")), *sorted(data_path().rglob("*.*"))]]


def add_repository_links(app: Any, config: Any) -> None:
    """Let pages write ``[text](repo:issues)``, so that the address stands in `_config.yml` alone."""
    address = config.html_theme_options["repository_url"].rstrip("/")
    schemes = config.myst_url_schemes
    schemes = dict(schemes) if isinstance(schemes, dict) else dict.fromkeys(schemes)
    config.myst_url_schemes = schemes | {"repo": {"url": address + "/{{path}}"}}


def read_in_parallel(app: Any, config: Any) -> None:
    """Read pages on several processors, which `jupyter-book build` has no option for.

    Two of its extensions do not say whether that is safe; they keep nothing between pages. With two processes for each
    processor a long page at the end leaves none idle.
    """
    for name in ("sphinx_multitoc_numbering", "sphinx_jupyterbook_latex"):
        if name in app.extensions:
            app.extensions[name].parallel_read_safe = app.extensions[name].parallel_write_safe = True
    app.parallel = 2 * min(os.cpu_count() or 1, 4)


def collect_rarely() -> None:
    """Let Python look for unused objects less often: a build makes millions that stay, and looking takes a quarter."""
    gc.freeze()
    gc.set_threshold(200_000, 50, 100)


def spare_sphinx() -> None:
    """Take two things from Sphinx that cost half of the build.

    It writes out the arguments of each event for a debug message, which for tables of formulas takes long; and it
    translates the patterns of excluded files anew for each menu of each page.
    """
    events.repr = lambda arguments: f"({len(arguments)} arguments)"
    matching._translate_pattern = cache(matching._translate_pattern)


def add_page_scripts(app: Any, pagename: str, templatename: str, context: dict, doctree: Any) -> None:
    """Load a script where the page has something for it to do."""
    for mark, script in PAGE_SCRIPTS.items():
        if mark in (context.get("body") or ""):
            app.add_js_file(script, loading_method="defer")


def name_folded_cells(app: Any, pagename: str, templatename: str, context: dict, doctree: Any) -> None:
    """Call a folded worked answer an answer, and folded code code."""
    body = context.get("body") or ""
    for kind, name in FOLDED.items():
        for verb in ("Show", "Hide"):
            body = body.replace(f">{verb} {kind}<", f">{verb} {name}<")
    context["body"] = body


def setup(app: Any) -> dict[str, bool]:
    collect_rarely()
    spare_sphinx()
    app.add_directive("diagram", Diagram)
    app.add_directive("formula-panel", FormulaPanel)
    for directive, (module, function) in {
        "notation-table": ("tables", "notation_table_html"),
        "role-table": ("tables", "role_table_html"),
        "algorithm-families": ("tables", "algorithm_families_html"),
        "headline": ("landing", "headline_html"),
        "calculator": ("panel.calculator", "calculator_html"),
    }.items():
        app.add_directive(directive, html_directive(module, function))
    app.setup_extension("rlmkb_catalogue")
    app.connect("config-inited", add_repository_links, priority=100)
    app.connect("config-inited", read_in_parallel)
    app.connect("html-page-context", add_page_scripts, priority=900)
    app.connect("html-page-context", name_folded_cells, priority=901)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
