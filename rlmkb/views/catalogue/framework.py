"""The page of one framework, made from its entry: facts, thirteen cells with their evidence, releases, sources."""

from collections.abc import Mapping
from html import escape
from urllib.parse import quote

from rlmkb.catalogue.features import FEATURES, Feature
from rlmkb.catalogue.frameworks import STATES, Framework
from rlmkb.views.catalogue.evidence import cell_html
from rlmkb.views.catalogue.states import (
    CENTRE_SAYS,
    CLASSED_IN_PAPER,
    GROUPS,
    LOOKS,
    STATUS,
    UNCLASSED,
    centric,
    short_name,
)
from rlmkb.views.catalogue.text import To, external, internal, items, markdown, page_of, paragraph, small


def page_markdown(framework: Framework, features: Mapping[str, Feature]) -> str:
    """The page as Markdown: headings and citations, and directives for everything else.

    Parameters
    ----------
    framework : Framework
    features : mapping
        The entries of the features by id.

    Returns
    -------
    str
        MyST Markdown in which nothing that the entry says is markup.
    """
    lines = [f"# {markdown(framework.name)}", *_directive("framework-facts", framework.id)]
    for group, title in GROUPS.items():
        lines += [f"## {title}"]
        for id in (id for id in FEATURES if features[id].group == group):
            lines += [f"### {markdown(_heading(features[id]))}", *_directive("framework-cell", f"{framework.id} {id}")]
    if framework.releases:
        lines += ["## Releases", *_directive("framework-releases", framework.id)]
    if framework.references:
        cited = ", ".join(f"{{cite:t}}`{key}`" for key in framework.references)
        lines += ["## Described in", f"{cited}."]
    lines += ["## Wrong, or out of date?", *_directive("framework-corrections", framework.id)]
    return "\n\n".join(lines) + "\n"


def _directive(name: str, argument: str) -> list[str]:
    return [f"```{{{name}}} {argument}\n```"]


def _heading(feature: Feature) -> str:
    """A feature's name with its abbreviation, where there is one.

    Examples
    --------
    >>> from rlmkb.catalogue import entry
    >>> _heading(entry("features", "TP")), _heading(entry("features", "async"))
    ('Tensor parallelism (TP)', 'Asynchronous execution')
    """
    return f"{feature.name} ({feature.id})" if feature.id.isupper() and feature.id[0] != "Z" else feature.name


def facts_html(framework: Framework, to: To) -> str:
    """What the framework is, and its cells at a glance."""
    code = framework.repository
    backends = framework.backends
    ours = "" if framework.id in CLASSED_IN_PAPER else " The paper does not class it; this is our reading."
    classed = framework.centre in CENTRE_SAYS
    facts = {
        "Class": f"{centric(framework.centre)}: {CENTRE_SAYS[framework.centre]}.{ours}" if classed else UNCLASSED,
        "Made by": escape(framework.organisation),
        "Code": external(code, code.removeprefix("https://")) if code else escape(framework.no_repository or ""),
        "Licence": escape(framework.license or ""),
        "Status": STATUS[framework.status],
        "Runs on": _upstream(framework, to),
        "Trains with": escape(", ".join(backends.training)) or "nothing of its own",
        "Generates with": escape(", ".join(backends.rollout)) or "nothing of its own",
        "Algorithms": escape(", ".join(framework.algorithms)),
        "Table XI says": escape(framework.remark or ""),
        "In short": in_short(framework),
    }
    rows = "".join(f"<div><dt>{name}</dt><dd>{fact}</dd></div>" for name, fact in facts.items() if fact)
    return (
        f"{paragraph(escape(framework.description), 'rl-lead')}<dl class='rl-facts'>{rows}</dl>{strip_html(framework)}"
    )


def _upstream(framework: Framework, to: To) -> str:
    return internal(to(page_of(framework.upstream)), framework.upstream) if framework.upstream else ""


def in_short(framework: Framework) -> str:
    """How many cells have which state, such as ``9 yes, 3 partial, 1 no``."""
    found = list(framework.states.values())
    return ", ".join(f"{found.count(state)} {LOOKS[state].word}" for state in STATES if state in found)


def strip_html(framework: Framework) -> str:
    """The row of the matrix as a strip of links into the page."""
    cells = "".join(
        f'<li><a class="s-{state}" href="#{feature}">{short_name(feature)}<span>{LOOKS[state].short}</span></a></li>'
        for feature, state in framework.states.items()
    )
    return f'<ul class="rl-strip" aria-label="Features">{cells}</ul>'


def framework_cell_html(framework: Framework, feature: Feature, to: To) -> str:
    """A cell under its question."""
    question = small(f"{escape(feature.question)} {internal(to('book/catalogue/frameworks'), 'How we tell')}")
    return (
        f'<div class="rl-cell" id="{feature.id}">{paragraph(question)}{cell_html(framework.features[feature.id])}</div>'
    )


def releases_html(framework: Framework) -> str:
    """The releases that cells name, the first and the latest."""
    listed = sorted(framework.releases, key=lambda release: release.date, reverse=True)
    lines = (f"{external(release.notes, release.version)} {small(release.date)}" for release in listed)
    return items(lines, "rl-releases")


def corrections_html(framework: Framework, repository: str) -> str:
    """Both ways to correct the entry."""
    path = f"data/frameworks/{framework.id}.yml"
    form = f"{repository}/issues/new?template=correct-a-cell.yml&entry={quote(framework.id)}"  # fills in the field
    edit = f"{repository}/edit/main/{path}"
    return paragraph(
        f"Everything on this page stands in <code>{escape(path)}</code>. "
        f"{external(form, 'Tell us with a form')}, or {external(edit, 'edit the file')}."
    )
