"""Which framework for which need: a form, the frameworks that `finder.js` picks from, and four practical rules."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape

from rlmkb.catalogue.features import FEATURES, Feature
from rlmkb.catalogue.frameworks import Framework
from rlmkb.views.catalogue.counts import Frameworks, who
from rlmkb.views.catalogue.framework import in_short
from rlmkb.views.catalogue.query import Query
from rlmkb.views.catalogue.states import CENTRES, GROUPS, STATUS, SUPPORT, UNCLASSED, short_name
from rlmkb.views.catalogue.text import To, internal, items, page_of, paragraph

FINDER = "book/catalogue/choose"
LETTERS = {"yes": "y", "partial": "p", "no": "n", "unknown": "u", "not_applicable": "a"}


def finder_html(frameworks: Frameworks, features: Mapping[str, Feature], to: To) -> str:
    """The form and the list of all frameworks."""
    intra, inter = (_features_html(title, group, features) for group, title in GROUPS.items())
    classes = "".join(
        f'<label><input type="checkbox" name="class" value="{key}"> {word}-centric</label>'
        for key, word in CENTRES.items()
    )
    licences = "".join(
        f"<option>{escape(name)}</option>"
        for name in sorted({one.license for one in frameworks.values() if one.license})
    )
    form = (
        f'<form class="rl-finder" aria-label="What it must do" hidden>{intra}<div>{inter}'
        f'<fieldset class="rl-more"><legend>Class, code and licence</legend>{classes}'
        '<label><input type="checkbox" name="code" value="public"> public code</label>'
        '<label><input type="checkbox" name="status" value="active"> active</label>'
        f'<label>Licence <select name="license"><option value="">any</option>{licences}</select></label>'
        "</fieldset></div>"
        '<p class="rl-outcome"><output aria-live="polite"></output> <button type="reset">Start again</button></p>'
        "</form>"
    )
    listed = sorted(frameworks.values(), key=lambda one: one.name.casefold())
    rows = "".join(_row(one, to) for one in listed)
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Framework", "Class", "Licence", "What it does"))
    names = " ".join(f"{id}={short_name(id)};" for id in FEATURES)
    return (
        f'<div class="rl-find" data-features="{" ".join(FEATURES)}" data-names="{escape(names)}">{form}'
        "<noscript><p>Choosing needs JavaScript. The matrix of frameworks shows the same states without it.</p>"
        "</noscript>"
        '<div class="rl-table rl-tall" role="group" tabindex="0" aria-label="Frameworks that fit">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></div>"
    )


def _features_html(title: str, group: str, features: Mapping[str, Feature]) -> str:
    lines = "".join(
        f'<div><label title="{escape(features[id].question)}"><input type="checkbox" name="{id}" value="partial"> '
        f"{escape(features[id].name)}</label>"
        f'<label class="rl-fully"><input type="checkbox" name="{id}" value="yes" '
        f'aria-label="{escape(features[id].name)}, fully"> fully</label></div>'
        for id in FEATURES
        if features[id].group == group
    )
    return f"<fieldset><legend>{title}</legend>{lines}</fieldset>"


def _row(framework: Framework, to: To) -> str:
    states = "".join(LETTERS[state] for state in framework.states.values())
    data = {
        "s": states,
        "class": framework.centre,
        "code": "public" if framework.repository else "none",
        "status": framework.status,
        "license": framework.license or "",
    }
    told = "".join(f' data-{key}="{escape(value)}"' for key, value in data.items())
    about = "" if framework.status == "active" else f'<span class="rl-small">{STATUS[framework.status]}</span>'
    return (
        f'<tr{told}><th scope="row">{internal(to(page_of(framework.id)), framework.name)}{about}</th>'
        f"<td>{CENTRES.get(framework.centre, UNCLASSED)}</td><td>{escape(framework.license or '–')}</td>"
        f'<td class="rl-asked">{in_short(framework)}</td></tr>'
    )


# ---- the practical rules of section VI-B --------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """A need, what section VI-B advises, what the catalogue says to it, and the query behind it."""

    need: str
    advice: str
    counted: Callable[[Frameworks], list[str]]
    query: Query


def rules_html(frameworks: Frameworks, to: To) -> str:
    """The four rules, each with its counts and a link that puts its query into the finder."""
    return "".join(_rule_html(rule, frameworks, to) for rule in RULES)


def _rule_html(rule: Rule, frameworks: Frameworks, to: To) -> str:
    found = [one for one in frameworks.values() if rule.query(one)]
    shown = internal(
        f"{to(FINDER)}#{rule.query.fragment()}",
        f"Show the {len(found)} with public code that fit",
        "rl-preset",
    )
    return (
        f'<div class="rl-rule"><p><b>{rule.need}</b> {rule.advice}</p>'
        f"{items(rule.counted(frameworks))}{paragraph(shown)}</div>"
    )


def _of_class(frameworks: Frameworks, centre: str) -> Frameworks:
    return {id: one for id, one in frameworks.items() if one.centre == centre}


def _share(frameworks: Frameworks, features: str, states: tuple[str, ...] = ("yes",)) -> str:
    return f"{len(who(frameworks, features.split(), states))} of {len(frameworks)}"


def _small(frameworks: Frameworks) -> list[str]:
    library, others = _of_class(frameworks, "library"), _of_class(frameworks, "orchestrator")
    return [
        f"Sharding: {_share(library, 'Z3')} libraries shard parameters, gradients and optimizer state fully.",
        f"Scheduling: {_share(library, 'disagg')} libraries place models on devices of their own and "
        f"{_share(library, 'async')} run asynchronously, both fully; of the orchestrators {_share(others, 'disagg')} "
        f"and {_share(others, 'async')}.",
    ]


def _memory(frameworks: Frameworks) -> list[str]:
    return [
        f"{_share(frameworks, 'Z3')} shard all model state fully, "
        f"{_share(frameworks, 'Z3', SUPPORT)} at least in part.",
        f"{_share(frameworks, 'TP PP', SUPPORT)} divide matrices and layers as well, as Megatron does; "
        f"{_share(frameworks, 'Z3 TP PP', SUPPORT)} offer both ways.",
    ]


def _rollout(frameworks: Frameworks) -> list[str]:
    served = {id: one for id, one in frameworks.items() if {"vLLM", "SGLang"} & set(one.backends.rollout)}
    apart = len(who(served, ["disagg"], ["yes"]))
    return [
        f"{_share(frameworks, 'disagg')} give generation or assessment devices of its own, fully.",
        f"{len(served)} generate with vLLM or SGLang, {apart} of them on such devices.",
    ]


def _frontier(frameworks: Frameworks) -> list[str]:
    by_class = ", ".join(
        f"{_share(_of_class(frameworks, centre), 'async')} {word.lower()}-centric" for centre, word in CENTRES.items()
    )
    return [
        f"{_share(frameworks, 'async')} run asynchronously with a stated limit of staleness: {by_class}.",
        f"{_share(frameworks, 'disagg stage_fusion async')} combine it fully with disaggregation and stage fusion.",
    ]


RULES = (
    Rule(
        "A small experiment?",
        "Take a library. It is the shortest way to a first run, and one node needs no schedule.",
        _small,
        Query(classes=("library",), public=True),
    ),
    Rule(
        "Does the model hardly fit?",
        "Take a training backend with mature sharding of model state: ZeRO or FSDP, or Megatron.",
        _memory,
        Query({"Z3": "yes"}, public=True),
    ),
    Rule(
        "Does generation take most of the time?",
        "Generate on devices of its own, with an engine that is made for serving.",
        _rollout,
        Query({"disagg": "yes"}, public=True),
    ),
    Rule(
        "Long reasoning at the largest scale?",
        "Run asynchronously or stream, with explicit control of staleness and of uneven lengths.",
        _frontier,
        Query({"disagg": "yes", "async": "yes"}, public=True),
    ),
)
