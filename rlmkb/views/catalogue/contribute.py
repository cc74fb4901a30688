"""For contributors: an entry beside the row that it becomes, every key, every rule of the check."""

import re
from html import escape

from rlmkb.catalogue import KINDS
from rlmkb.catalogue.features import FEATURES, Feature
from rlmkb.catalogue.frameworks import Framework
from rlmkb.views.catalogue.evidence import cell_html
from rlmkb.views.catalogue.states import LOOKS, short_name
from rlmkb.views.catalogue.text import To, external, internal, items, page_of, paragraph
from rlmkb.views.markup import Html, table_html

_CODE = re.compile(r"`([^`]+)`")


def excerpt(text: str, feature: str) -> str:
    """An entry's file shortened to its first keys and one cell.

    Examples
    --------
    >>> excerpt("id: a\\nfeatures:\\n  DP:\\n    state: x\\n  TP:\\n    state: y\\n", "TP")
    'id: a\\nfeatures:\\n  # ... one cell for each feature\\n  TP:\\n    state: y\\n'
    """
    head, _, cells = text.partition("features:\n")
    found = re.search(rf"^  {feature}:\n(?:    .*\n)+", cells, re.MULTILINE)
    cell = found[0] if found else ""
    return f"{head}features:\n  # ... one cell for each feature\n{cell}"


def rendered_html(framework: Framework, feature: Feature, to: To) -> str:
    """What the excerpt becomes: the row of the matrix, and the cell that it opens."""
    states = "".join(
        f'<li><span class="s-{state}">{short_name(id)}<span>{LOOKS[state].short}</span></span></li>'
        for id, state in framework.states.items()
    )
    name = internal(to(page_of(framework.id)), framework.name)
    return (
        f'<div class="rl-rendered">{paragraph(name)}<ul class="rl-strip" aria-label="Row of the matrix">{states}</ul>'
        f"{paragraph(escape(framework.description), 'rl-note')}"
        f'<div class="rl-opened"><p><b>{escape(feature.name)}</b></p>'
        f"{cell_html(framework.features[feature.id])}</div></div>"
    )


FORMS = {
    "correct-a-cell": "Correct a cell, or fill in an unknown one",
    "new-framework": "Propose a framework",
    "new-model": "Propose a model",
}


def forms_html(repository: str) -> str:
    """Links to the forms for people who do not write YAML."""
    return items(external(f"{repository}/issues/new?template={name}.yml", title) for name, title in FORMS.items())


def fields_html(kind: str) -> str:
    """Every key of a kind: whether it is needed, what may stand there, what it means."""
    from rlmkb.catalogue.schemas import reference_rows

    rows = [
        [
            Html(f'<code class="rl-day">{escape(key)}</code>'),
            needed,
            Html(escape(value)),
            Html(f'<span class="rl-prose">{_code(text)}</span>'),
        ]
        for key, needed, value, text in _once(reference_rows(kind))
    ]
    return table_html(("Key", "", "Value", "Meaning"), rows, name=f"Keys of data/{kind}")


def _once(rows: list[tuple[str, str, str, str]]) -> list[tuple[str, str, str, str]]:
    """The thirteen cells of a framework have the same keys: said once, with the features as words of a choice."""
    names = [f"features.{id}" for id in FEATURES]
    first = next((row for row in rows if row[0] == names[0]), None)
    if first is None:
        return rows
    kept = [row for row in rows if row[0] not in names[1:]]
    every = ", ".join(FEATURES)
    return [
        (
            key.replace(names[0], "features.ID"),
            needed,
            value,
            f"{text} ID stands for {every}." if key == names[0] else text,
        )
        for key, needed, value, text in kept
    ]


def all_fields_html() -> str:
    """The keys of every kind, folded; frameworks open."""
    return "".join(
        f'<details class="rl-data"{" open" if kind == "frameworks" else ""}><summary>data/{kind}</summary>'
        f"{fields_html(kind)}</details>"
        for kind in sorted(KINDS, key=lambda kind: kind != "frameworks")
    )


def rules_html() -> str:
    """Every rule of the check by code, and how to mend a breach."""
    from rlmkb.catalogue.problems import ADVICE, RULES

    rows = [
        [
            Html(f'<code id="{code}" class="rl-day">{code}</code>'),
            rule.title,
            "advice" if code.startswith(ADVICE) else "must be mended",
            Html(f'<span class="rl-prose">{_code(rule.mend)}</span>'),
        ]
        for code, rule in RULES.items()
    ]
    return table_html(("Code", "What is found", "", "How to mend it"), rows, name="Rules of the check")


def _code(text: str) -> str:
    """Escaped text in which `...` is code."""
    return _CODE.sub(r"<code>\1</code>", escape(text))
