"""Table XI as a matrix: frameworks down, features across, each cell a link to its evidence."""

import json
from collections.abc import Mapping
from html import escape

from rlmkb.catalogue.features import FEATURES, Feature
from rlmkb.catalogue.frameworks import Framework
from rlmkb.views.catalogue.evidence import cell_html
from rlmkb.views.catalogue.live import Cell, Column, Facet, Row, live_table_html
from rlmkb.views.catalogue.states import GROUPS, IN_PAPER, LOOKS, STATUS_SHORT, centres, centric, short_name
from rlmkb.views.catalogue.text import To, internal, items, page_of, paragraph, small

CODE = {"public": "public", "none": "none"}


def matrix_html(frameworks: Mapping[str, Framework], features: Mapping[str, Feature], to: To) -> str:
    """All frameworks and features, in the classes of section VI-B."""
    columns = [
        Column("Framework"),
        *(Column(short_name(id), features[id].name, GROUPS[features[id].group], key=id) for id in FEATURES),
        Column("Remark of the paper, in our words"),
    ]
    classes = centres(one.centre for one in frameworks.values())
    rows = [matrix_row(framework, to) for centre in classes for framework in _of(frameworks, centre)]
    facets = (
        Facet("class", "Class", classes),
        Facet("paper", "In the paper", IN_PAPER),
        Facet("code", "Code", CODE),
    )
    return live_table_html(
        columns, rows, name="Frameworks and features", noun="frameworks", facets=facets, kind="rl-matrix"
    )


def _of(frameworks: Mapping[str, Framework], centre: str) -> list[Framework]:
    found = [framework for framework in frameworks.values() if framework.centre == centre]
    return sorted(found, key=lambda framework: framework.name.casefold())


def matrix_row(framework: Framework, to: To) -> Row:
    """A framework as a row of the matrix."""
    page = to(page_of(framework.id))
    name = internal(page, framework.name)
    states = [
        Cell(f'<a class="s-{state}" href="{escape(page)}#{feature}">{LOOKS[state].short}</a>', LOOKS[state].order)
        for feature, state in framework.states.items()
    ]
    about = "" if framework.status == "active" else small(STATUS_SHORT[framework.status])
    facets = {
        "class": [framework.centre],
        "paper": [framework.in_paper],
        "code": ["public" if framework.repository else "none"],
    }
    remark = Cell(f'<span class="rl-prose">{escape(framework.remark or "")}</span>')
    cells = [Cell(name + about, framework.name.casefold()), *states, remark]
    return Row(cells, facets, group=centric(framework.centre))


def evidence_script(frameworks: Mapping[str, Framework]) -> str:
    """JavaScript that holds the content of every cell, loaded when a reader opens the first one.

    It is a script and not JSON so that a page opened from a folder can load it.
    """
    cells = {
        id: {feature: cell_html(cell) for feature, cell in framework.features.items()}
        for id, framework in frameworks.items()
    }
    return f"window.rlEvidence = {json.dumps(cells, separators=(',', ':'))};\n"


def features_html(features: Mapping[str, Feature], to: To) -> str:
    """What each column asks, and what decides."""
    parts = []
    for group, title in GROUPS.items():
        inside = [feature_html(features[id], to) for id in FEATURES if features[id].group == group]
        parts.append(f'<div class="rl-features"><p class="rl-over-title">{title}</p>{"".join(inside)}</div>')
    return "".join(parts)


def feature_html(feature: Feature, to: To) -> str:
    """One column: question, tests, and what it changes in the cost."""
    tests = items(
        [
            f"<b>Yes:</b> {escape(feature.how_to_tell.yes)}",
            *(f"<b>Partial:</b> {escape(case)}" for case in feature.partial_when),
            f"<b>No:</b> {escape(feature.how_to_tell.no)}",
        ]
    )
    chapter = internal(to(feature.chapter), "the chapter that explains it")
    changes = ", ".join(feature.performance.changes)
    return (
        f'<details class="rl-feature"><summary><b>{escape(short_name(feature.id))}</b> '
        f"{escape(feature.name)}: {escape(feature.question)}</summary>"
        f"{paragraph(escape(feature.definition))}{tests}"
        f"{paragraph(f'<b>Changes {changes}.</b> {escape(feature.performance.says)}')}"
        f"{paragraph(f'Section {escape(feature.section)} of the paper; {chapter}.', 'rl-note')}</details>"
    )
