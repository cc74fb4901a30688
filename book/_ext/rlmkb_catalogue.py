"""Sphinx extension of the book: pages, tables and counts made from the catalogue.

    ```{framework-support} disagg
    ```

An entry `data/frameworks/ID.yml` is itself the source of the page `data/frameworks/ID`, so a new file is a new page.
Numbers in sentences: {count}`frameworks: async=yes`, {computed}`smallest cache`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from myst_parser.parsers.sphinx_ import MystParser
from rlmkb_book import Computed, ingredients
from sphinx.util.docutils import SphinxRole

from rlmkb.catalogue import entries, entry
from rlmkb.data import data_path
from rlmkb.errors import InputError
from rlmkb.views import mystnb
from rlmkb.views.catalogue import (
    architectures,
    changes,
    charts,
    contribute,
    finder,
    framework,
    gaps,
    matrix,
    models,
    numbers,
    states,
    support,
)

EXAMPLE = ("deepspeed-chat", "Z2")  # the entry and cell that stand beside their row


class FromCatalogue(Computed):
    """A directive whose content is made by `make` from the entries; `to` leads to other pages."""

    make: Callable[["FromCatalogue"], str]

    def made(self) -> list[nodes.Node]:
        return [nodes.raw("", type(self).make(self), format="html")]

    def to(self, page: str) -> str:
        """The address of a page, relative to this one."""
        return self.env.app.builder.get_relative_uri(self.env.docname, page)

    def framework(self) -> Any:
        return entry("frameworks", self.arguments[0])

    def feature(self, place: int = 0) -> Any:
        return entry("features", self.arguments[place])


def directive(make: Callable[[FromCatalogue], str], arguments: int = 0) -> type[Directive]:
    """A directive with that many arguments."""
    return type("Shown", (FromCatalogue,), {"make": staticmethod(make), "required_arguments": arguments})


DIRECTIVES: dict[str, type[Directive]] = {
    "framework-matrix": directive(lambda page: matrix.matrix_html(frameworks(), features(), page.to)),
    "framework-features": directive(lambda page: matrix.features_html(features(), page.to)),
    "state-legend": directive(lambda page: states.legend_html()),
    "framework-classes": directive(lambda page: gaps.classes_html(frameworks(), features())),
    "framework-facts": directive(lambda page: framework.facts_html(page.framework(), page.to), 1),
    "framework-cell": directive(
        lambda page: framework.framework_cell_html(page.framework(), page.feature(1), page.to), 2
    ),
    "framework-releases": directive(lambda page: framework.releases_html(page.framework()), 1),
    "framework-corrections": directive(
        lambda page: framework.corrections_html(page.framework(), repository(page.env.config)), 1
    ),
    "framework-support": directive(lambda page: support.support_html(page.feature(), frameworks(), page.to), 1),
    "framework-combinations": directive(
        lambda page: support.combinations_html(
            [page.feature(place) for place in range(4)], frameworks(), page.to
        ),
        4,
    ),
    "framework-finder": directive(lambda page: finder.finder_html(frameworks(), features(), page.to)),
    "practical-rules": directive(lambda page: finder.rules_html(frameworks(), page.to)),
    "uncovered-combinations": directive(lambda page: gaps.uncovered_html(frameworks(), page.to)),
    "feature-pairs": directive(lambda page: gaps.pairs_html(frameworks(), features(), page.to)),
    "framework-coverage": directive(lambda page: gaps.coverage_html(frameworks(), page.to)),
    "state-shares": directive(lambda page: gaps.shares_html(frameworks())),
    "unknown-cells": directive(lambda page: gaps.unknowns_html(frameworks(), page.to)),
    "second-hand-evidence": directive(lambda page: gaps.second_hand_html(frameworks(), page.to)),
    "tracked-gaps": directive(lambda page: gaps.trackers_html(frameworks(), page.to)),
    "releases-since-paper": directive(lambda page: changes.releases_since_html(frameworks(), page.to)),
    "newer-frameworks": directive(lambda page: changes.newer_frameworks_html(frameworks(), page.to)),
    "newer-models": directive(lambda page: changes.newer_models_html(entries("models"), page.to)),
    "model-table": directive(lambda page: models.model_table_html(entries("models"), page.to)),
    "model-corrections": directive(lambda page: models.corrections_html(entries("models"))),
    "architecture-table": directive(lambda page: architectures.architecture_table_html(entries("architectures"))),
    "architecture-kinds": directive(lambda page: architectures.kinds_html(entries("architectures"))),
    "issue-forms": directive(lambda page: contribute.forms_html(repository(page.env.config))),
    "catalogue-fields": directive(lambda page: contribute.all_fields_html()),
    "catalogue-rules": directive(lambda page: contribute.rules_html()),
}


class CatalogueChart(FromCatalogue):
    """``{catalogue-chart} NAME``: a numbered figure that can be referred to as ``fig-NAME``."""

    required_arguments = 1

    def made(self) -> list[nodes.Node]:
        found = mystnb.figure(charts.figure_spec(self.arguments[0]))
        self.options["name"] = f"fig-{self.arguments[0]}"
        self.add_name(found)
        self.set_source_info(found)
        return [found]


class CatalogueExample(FromCatalogue):
    """``{catalogue-example}``: an entry beside the row that it becomes."""

    def made(self) -> list[nodes.Node]:
        id, feature = EXAMPLE
        text = contribute.excerpt(data_path("frameworks", f"{id}.yml").read_text(encoding="utf-8"), feature)
        row = contribute.rendered_html(entry("frameworks", id), entry("features", feature), self.to)
        code = nodes.literal_block(text, text, language="yaml")
        return [nodes.container("", code, nodes.raw("", row, format="html"), classes=["rl-example"])]


class Number(SphinxRole):
    """A number in a sentence; `make` is given the role's text."""

    make: Callable[[str], str]

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        for path in ingredients():
            self.env.note_dependency(path)
        try:
            return [nodes.Text(str(type(self).make(self.text)))], []
        except InputError as error:
            message = self.inliner.reporter.error(str(error), line=self.lineno)
            return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]


class Count(Number):
    make = staticmethod(numbers.count)


class ComputedNumber(Number):
    make = staticmethod(numbers.computed)


class FrameworkParser(MystParser):
    """Reads an entry of `data/frameworks` as the page that it makes."""

    supported = ("catalogue",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        try:
            text = framework.page_markdown(entry("frameworks", Path(self.env.docname).name), features())
        except InputError as error:
            text = "# An entry that cannot be read"
            document.reporter.severe(str(error))
        super().parse(text, document)


def frameworks() -> Any:
    return entries("frameworks")


def features() -> Any:
    return entries("features")


def repository(config: Any) -> str:
    """The address of the project, from the one place where it is written."""
    return config.html_theme_options["repository_url"].rstrip("/")


def write_evidence(app: Any, exception: Exception | None) -> None:
    """Put the content of the matrix's cells beside the site's other scripts."""
    if exception is None and app.builder.format == "html":
        path = Path(app.outdir) / "_static" / "evidence.js"
        path.write_text(matrix.evidence_script(frameworks()), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.add_source_suffix(".yml", "catalogue")
    app.add_source_parser(FrameworkParser)
    for name, shown in {
        **DIRECTIVES, "catalogue-chart": CatalogueChart, "catalogue-example": CatalogueExample,
    }.items():  # fmt: skip
        app.add_directive(name, shown)
    app.add_role("count", Count())
    app.add_role("computed", ComputedNumber())
    app.connect("build-finished", write_evidence)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
