"""How the state of a cell looks: a symbol, drawn by the stylesheet, and a word. Never a colour alone."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Look:
    """How a state is called in text and in a narrow cell, what it means, and where it stands when sorted."""

    word: str
    short: str
    says: str
    order: int


LOOKS = {
    "yes": Look("yes", "yes", "Done, by the test of the feature.", 4),
    "partial": Look("partial", "part", "Done for some models, stages, engines or settings; the note says which.", 3),
    "unknown": Look("unknown", "?", "No public source tells, or nobody has looked.", 2),
    "no": Look("no", "no", "Not done; the sources were searched.", 1),
    "not_applicable": Look("not applicable", "n/a", "There is no part that the question is about.", 0),
}
SUPPORT = ("yes", "partial")

SHORT = {"ac_share": "AC share", "disagg": "Disagg.", "stage_fusion": "Fusion", "hybrid": "Hybrid", "async": "Async"}

CENTRES = {
    "library": "Library",
    "orchestrator": "Orchestrator",
    "scheduling": "Scheduling",
}
UNCLASSED = "Not classed yet"
CENTRE_SAYS = {
    "library": "trains with data parallelism and sharding, and leaves the schedule of models to the user",
    "orchestrator": "treats the loop as a dataflow of roles, each placed and laid out on its own",
    "scheduling": "is about when things run: fusion, streaming, bounded staleness",
}
# Section VI-B of besta2026performance names the class of these; of the others it is our reading.
CLASSED_IN_PAPER = frozenset(
    [
        "trl",
        "deepspeed-chat",
        "colossalchat",
        "openrlhf",
        "verl",
        "skyrl",
        "nemo-rl",
        "slime",
        "roll",
        "real",
        "rlhfuse",
        "pipe-rlhf",
        "streamrl",
        "areal",
        "asyncflow",
        "laminar",
        "staleflow",
        "mindspeed-rl",
    ]
)
IN_PAPER = {"table_xi": "in table XI", "text": "in the text", "no": "newer, or left out"}
STATUS = {
    "active": "active",
    "maintenance": "maintained only",
    "dormant": "no commit for half a year",
    "archived": "archived",
    "paper_only": "no public code",
    "unknown": "unknown",
}
STATUS_SHORT = {
    "maintenance": "maintained only",
    "dormant": "dormant",
    "archived": "archived",
    "paper_only": "no code",
    "unknown": "status unknown",
}
GROUPS = {"intra_model": "Intra-model parallelism", "inter_model": "Inter-model parallelism"}


def centric(centre: str) -> str:
    """A class of section VI-B in words.

    Examples
    --------
    >>> centric("library"), centric("unknown")
    ('Library-centric', 'Not classed yet')
    """
    return f"{CENTRES[centre]}-centric" if centre in CENTRES else UNCLASSED


def centres(found: Iterable[str]) -> dict[str, str]:
    """The classes for a list to choose from, `unknown` only where it occurs.

    Examples
    --------
    >>> list(centres(["library"])), centres(["unknown"])["unknown"]
    (['library', 'orchestrator', 'scheduling'], 'Not classed yet')
    """
    return CENTRES | ({"unknown": UNCLASSED} if "unknown" in found else {})


def short_name(feature: str) -> str:
    """The heading of a feature's column.

    Examples
    --------
    >>> short_name("TP"), short_name("async")
    ('TP', 'Async')
    """
    return SHORT.get(feature, feature)


def state_html(state: str) -> str:
    """A state as symbol and word.

    Examples
    --------
    >>> state_html("partial")
    '<span class="rl-state s-partial">partial</span>'
    """
    return f'<span class="rl-state s-{state}">{LOOKS[state].word}</span>'


def legend_html() -> str:
    """What the symbols mean."""
    lines = "".join(
        f'<div><dt><span class="rl-state s-{state}">{look.short}</span></dt>'
        f"<dd><b>{look.word}</b> {look.says}</dd></div>"
        for state, look in LOOKS.items()
    )
    return f'<dl class="rl-legend-states">{lines}</dl>'
