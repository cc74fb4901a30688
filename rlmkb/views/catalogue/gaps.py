"""What the frameworks leave open: combinations nobody covers, what is unknown, how old the evidence is."""

from collections.abc import Mapping, Sequence
from html import escape

from rlmkb.catalogue.features import FEATURES, Feature
from rlmkb.catalogue.frameworks import Framework
from rlmkb.views.catalogue.counts import Combination, Frameworks, coverage, state_counts, together, uncovered, who
from rlmkb.views.catalogue.evidence import evidence_html
from rlmkb.views.catalogue.finder import FINDER
from rlmkb.views.catalogue.live import Cell, Column, Facet, Row, live_table_html
from rlmkb.views.catalogue.query import Query
from rlmkb.views.catalogue.states import CENTRES, LOOKS, SUPPORT, centres, centric, short_name, state_html
from rlmkb.views.catalogue.text import To, external, internal, items, number_of, page_of, paragraph, percent, small
from rlmkb.views.markup import Html, table_html

SIZES = {1: "One feature", 2: "Pairs", 3: "Triples"}


def uncovered_html(frameworks: Frameworks, to: To) -> str:
    """Combinations of up to three features that no framework does fully, and those that none does even in part."""
    in_part = uncovered(frameworks, SUPPORT)
    fully = uncovered(frameworks, ["yes"])
    widest = max(frameworks.values(), key=lambda one: sum(state in SUPPORT for state in one.states.values()))
    reach = sum(state in SUPPORT for state in widest.states.values())
    name = internal(to(page_of(widest.id)), widest.name)
    least = (
        f"<b>At least in part:</b> every combination of up to three features is done by somebody; {name} alone does "
        f"{reach} of {len(FEATURES)}."
        if not in_part
        else f"<b>Not even in part:</b> {_listed(in_part, 'partial', to)}."
    )
    rows = [
        [title, len(found), Html(_listed(found, "yes", to))]
        for size, title in SIZES.items()
        if (found := [one for one in fully if len(one) == size])
    ]
    table = table_html(
        ("Size", "Number", "Done fully by nobody"), rows, name="Combinations that no framework covers fully"
    )
    return paragraph(least) + table


def _listed(found: Sequence[Combination], least: str, to: To) -> str:
    return ", ".join(
        internal(
            f"{to(FINDER)}#{Query(dict.fromkeys(one, least)).fragment()}",
            " + ".join(map(short_name, one)),
            "rl-combination",
        )
        for one in found
    )


def pairs_html(frameworks: Frameworks, features: Mapping[str, Feature], to: To) -> str:
    """For each pair of features, how many frameworks do both fully; the diagonal has each feature alone."""
    found = together(frameworks, ["yes"])
    most = max(found.values()) or 1

    def cell(a: str, b: str) -> str:
        count = found[a, b]
        shade = f"--rl-share:{count / most:.2f}"
        kind = "rl-own-count" if a == b else "rl-zero" if not count else ""
        query = Query(dict.fromkeys((a, b), "yes")).fragment()
        link = internal(f"{to(FINDER)}#{query}", str(count), title=f"{short_name(a)} and {short_name(b)}")
        told = f' class="{kind}"' if kind else ""
        return f'<td{told} style="{shade}">{link}</td>'

    head = "".join(f'<th scope="col" title="{escape(features[id].name)}">{short_name(id)}</th>' for id in FEATURES)
    rows = "".join(
        f'<tr><th scope="row">{short_name(a)}</th>{"".join(cell(a, b) for b in FEATURES)}</tr>' for a in FEATURES
    )
    name = "How many frameworks do both features of a pair fully"
    return (
        f'<div class="rl-table rl-pairs" role="group" tabindex="0" aria-label="{name}">'
        f"<table><thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def coverage_html(frameworks: Frameworks, to: To) -> str:
    """Each framework's cells by state, its evidence, and when it was checked."""
    columns = [
        Column("Framework"),
        Column("Checked", "The oldest check among the cells"),
        Column("Latest release"),
        *(
            Column(look.short.capitalize(), look.word.capitalize(), numeric=True, key=state)
            for state, look in LOOKS.items()
        ),
        Column("Sources", numeric=True),
        Column("Second-hand", "Sources known only through somebody else's account", numeric=True),
    ]
    rows = [_coverage_row(one, to) for one in sorted(frameworks.values(), key=lambda one: one.name.casefold())]
    facets = (
        Facet("class", "Class", centres(one.centre for one in frameworks.values())),
        Facet("code", "Code", {"public": "public", "none": "none"}),
        Facet("age", "Release", {"behind": "newer than the check", "current": "not newer"}),
    )
    return live_table_html(columns, rows, name="Coverage of the frameworks", noun="frameworks", facets=facets)


def _coverage_row(framework: Framework, to: To) -> Row:
    found = coverage(framework)
    late = small("newer than the check") if found.behind else ""
    cells = [
        Cell(internal(to(page_of(framework.id)), framework.name), framework.name.casefold()),
        Cell(_day(found.checked), found.checked or ""),
        Cell(f'<span class="rl-day">{found.release or "none listed"}</span>{late}', found.release or ""),
        *(Cell(str(found.states[state]) if found.states[state] else "–", found.states[state]) for state in LOOKS),
        Cell(str(found.sources), found.sources),
        Cell(str(found.second_hand or "–"), found.second_hand),
    ]
    facets = {
        "class": [framework.centre],
        "code": ["public" if framework.repository else "none"],
        "age": ["behind" if found.behind else "current"],
    }
    return Row(cells, facets)


def _day(day: str | None) -> str:
    """A date; the page adds how long ago that is."""
    return f'<time datetime="{day}" class="rl-day rl-age">{day}</time>' if day else "never"


def shares_html(frameworks: Frameworks) -> str:
    """Cells by state: in all, with public code, and without."""
    parts = {
        "all frameworks": list(frameworks.values()),
        "with public code": [one for one in frameworks.values() if one.repository],
        "without public code": [one for one in frameworks.values() if not one.repository],
    }
    rows = []
    for name, listed in parts.items():
        counts = state_counts(listed)
        whole = sum(counts.values())
        shares = [Html(f"{counts[state]} {small(percent(counts[state], whole))}") for state in LOOKS]
        rows.append([Html(f"{name} {small(number_of(len(listed), 'framework'))}"), *shares])
    columns = ["Cells of", *(LOOKS[state].word.capitalize() for state in LOOKS)]
    return table_html(columns, rows, name="Cells by state")


def unknowns_html(frameworks: Frameworks, to: To) -> str:
    """Every cell that no source settles, by framework."""
    lines = []
    for one in frameworks.values():
        open_cells = [(id, cell) for id, cell in one.features.items() if cell.state == "unknown"]
        if open_cells:
            links = ", ".join(internal(f"{to(page_of(one.id))}#{id}", short_name(id)) for id, _ in open_cells)
            notes = dict.fromkeys(cell.note for _, cell in open_cells if cell.note)
            lines.append(f"<b>{escape(one.name)}</b>, {len(open_cells)}: {links}. {small(escape(' '.join(notes)))}")
    return items(lines, "rl-open") or paragraph("None.")


def second_hand_html(frameworks: Frameworks, to: To) -> str:
    """Every piece of evidence that is known only through somebody else's account."""
    lines = [
        f"{internal(f'{to(page_of(one.id))}#{id}', f'{one.name}, {short_name(id)}')} {state_html(cell.state)} "
        f"{evidence_html(piece)}"
        for one in frameworks.values()
        for id, cell in one.features.items()
        for piece in cell.evidence
        if piece.secondary
    ]
    return items(lines, "rl-evidence") or paragraph("None.")


def trackers_html(frameworks: Frameworks, to: To) -> str:
    """Public issues about what is missing."""
    lines = [
        f"{internal(f'{to(page_of(one.id))}#{id}', f'{one.name}, {short_name(id)}')}: "
        f"{external(cell.tracker, cell.tracker.removeprefix('https://'))}"
        for one in frameworks.values()
        for id, cell in one.features.items()
        if cell.tracker
    ]
    return items(lines) or paragraph("None is recorded yet.")


def classes_html(frameworks: Frameworks, features: Mapping[str, Feature]) -> str:
    """What each class of section VI-B does: fully, and at least in part."""
    classes = {centre: {id: one for id, one in frameworks.items() if one.centre == centre} for centre in CENTRES}
    rows = [
        [
            Html(escape(features[id].name)),
            *(
                Html(
                    f"<b>{len(who(part, [id], ['yes']))}</b> "
                    f'<span class="rl-unit">{len(who(part, [id], SUPPORT))} at least in part</span>'
                )
                for part in classes.values()
            ),
        ]
        for id in FEATURES
    ]
    columns = ["Feature", *(f"{centric(centre)} ({len(part)})" for centre, part in classes.items())]
    return table_html(columns, rows, name="Features by class: how many frameworks do it fully")
