"""Which frameworks do one thing: the section that chapters show, straight from the entries."""

from collections.abc import Sequence
from html import escape

from rlmkb.catalogue.features import Feature
from rlmkb.views.catalogue.counts import Frameworks
from rlmkb.views.catalogue.states import LOOKS, short_name, state_html
from rlmkb.views.catalogue.text import To, internal, items, page_of, paragraph
from rlmkb.views.markup import Html, table_html


def support_html(feature: Feature, frameworks: Frameworks, to: To) -> str:
    """Who does it fully, who in part and how far, who does not; each name leads to its evidence.

    Parameters
    ----------
    feature : Feature
    frameworks : mapping
        Entries by id.
    to : callable
        From the name of a page to its address.
    """
    by_state = {
        state: [one for one in frameworks.values() if one.features[feature.id].state == state] for state in LOOKS
    }
    full, partial = by_state["yes"], by_state["partial"]
    names = ", ".join(_name(one.id, one.name, feature, to) for one in full) or "nobody"
    shown = paragraph(f"{state_html('yes')} <b>{len(full)} of {len(frameworks)}:</b> {names}.")
    if partial:
        notes = items(
            f"{_name(one.id, one.name, feature, to)}: {escape(one.features[feature.id].note or '')}" for one in partial
        )
        shown += (
            f'<details class="rl-data"><summary>{state_html("partial")} <b>{len(partial)} in part</b> '
            f"<span>(with what is missing)</span></summary>{notes}</details>"
        )
    rest = [
        f"{len(by_state[state])} {LOOKS[state].word}"
        for state in ("no", "unknown", "not_applicable")
        if by_state[state]
    ]
    matrix = internal(
        f"{to('book/catalogue/frameworks')}#sort=-{feature.id}", "the matrix of all frameworks and features"
    )
    others = f"The others: {', '.join(rest)}. " if rest else ""
    asked = paragraph(f"“{escape(feature.question)}”", "rl-asks")
    return f'<div class="rl-support">{asked}{shown}{paragraph(f"{others}See {matrix}.", "rl-note")}</div>'


def combinations_html(features: Sequence[Feature], frameworks: Frameworks, to: To) -> str:
    """Which frameworks do which of several things fully: a row a combination, the largest first.

    Parameters
    ----------
    features : sequence of Feature
    frameworks : mapping
        Entries by id.
    to : callable
        From the name of a page to its address.
    """
    found: dict[tuple[str, ...], list] = {}
    for one in frameworks.values():
        done = tuple(each.id for each in features if one.features[each.id].state == "yes")
        found.setdefault(done, []).append(one)
    order = sorted(found.items(), key=lambda item: (-len(item[0]), -len(item[1]), item[0]))
    rows = [
        [
            ", ".join(map(short_name, done)) or "none of them",
            len(those),
            Html(", ".join(internal(to(page_of(one.id)), one.name) for one in those)),
        ]
        for done, those in order
    ]
    names = ", ".join(short_name(each.id) for each in features)
    return table_html(("Done fully", "Number", "Frameworks"), rows, name=f"Which of these frameworks combine: {names}")


def _name(id: str, name: str, feature: Feature, to: To) -> str:
    return internal(f"{to(page_of(id))}#{feature.id}", name, title=f"{name}: {short_name(feature.id)}")
