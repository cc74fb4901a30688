"""Table X as a table that a reader can sort and filter: how reasoning models were post-trained, and what that means."""

from collections.abc import Mapping
from html import escape

from rlmkb.catalogue.models import Model
from rlmkb.views.catalogue.live import Cell, Column, Facet, Row, live_table_html
from rlmkb.views.catalogue.text import To, external, internal, items, number_of, small

GROUPS = {"general": "General aligned models", "reasoning": "Reasoning models"}
ACCESS = {"open_weights": "open weights", "closed": "closed", "mixed": "mixed", "unknown": "unknown"}
STRUCTURE = {
    "dense": "dense",
    "moe": "mixture of experts",
    "dense_and_moe": "dense and mixture",
    "undisclosed": "undisclosed",
    "unknown": "unknown",
}
FAMILIES = {
    "ppo_like": "PPO-like",
    "grpo_like": "GRPO-like",
    "dpo_like": "DPO-like",
    "hybrid": "hybrid",
    "search_agentic": "search or agentic",
    "distillation": "distillation",
    "unknown": "unknown",
}
FEEDBACK = {
    "rlhf": "RLHF",
    "rlaif": "RLAIF",
    "d_rlaif": "d-RLAIF",
    "rlvr": "RLVR",
    "process": "process rewards",
    "offline_preference": "offline preferences",
    "distillation": "distillation",
    "undisclosed": "undisclosed",
    "unknown": "unknown",
}
IN_PAPER = {"table_x": "in table X", "no": "newer, or left out"}
ARCHITECTURES = "book/catalogue/architectures"


def model_table_html(models: Mapping[str, Model], to: To) -> str:
    """All models by group, from the oldest to the newest."""
    columns = [
        Column("Model"),
        Column("Released"),
        Column("Scale and architecture"),
        Column("Post-training signal"),
        Column("For the system"),
        Column("Sources"),
    ]
    listed = sorted(models.values(), key=lambda one: (one.released or "9", one.name.casefold()))
    rows = [_row(model, to) for group in GROUPS for model in listed if model.group == group]
    facets = (
        Facet("kind", "Kind", GROUPS),
        Facet("paper", "In the paper", IN_PAPER),
        Facet("access", "Access", ACCESS),
        Facet("structure", "Structure", {key: STRUCTURE[key] for key in ("dense", "moe", "undisclosed")}),
        Facet("signal", "Signal", FAMILIES),
        Facet("feedback", "Feedback", FEEDBACK),
    )
    facets = tuple(_in_use(facet, rows) for facet in facets)
    return live_table_html(columns, rows, name="Models", noun="models", facets=facets, kind="rl-models")


def _in_use(facet: Facet, rows: list[Row]) -> Facet:
    used = {word for row in rows for word in row.facets[facet.key]}
    return Facet(facet.key, facet.label, {key: word for key, word in facet.options.items() if key in used})


def _row(model: Model, to: To) -> Row:
    signal = model.signal
    shapes = ", ".join(internal(f"{to(ARCHITECTURES)}#find={id}", id) for id in model.architectures)
    feedback = ", ".join(FEEDBACK[key] for key in signal.feedback)
    cells = [
        Cell(escape(model.name) + small(escape(model.organisation)), model.name.casefold()),
        Cell(f'<span class="rl-day">{model.released or "–"}</span>{small(_access(model))}', model.released or ""),
        Cell(
            f'<span class="rl-prose">{_scale(model)}{small(f"shape: {shapes}") if shapes else ""}</span>',
            model.structure,
        ),
        Cell(
            f'<span class="rl-prose"><b>{FAMILIES[signal.family]}</b>, {feedback}{small(escape(signal.says))}</span>',
            f"{signal.family} {feedback}",
        ),
        Cell(f'<span class="rl-prose">{escape(model.system)}</span>'),
        Cell(_sources(model), len(model.evidence)),
    ]
    both = ["dense", "moe"] if model.structure == "dense_and_moe" else [model.structure]
    facets = {
        "kind": [model.group],
        "paper": [model.in_paper],
        "access": [model.access],
        "structure": both,
        "signal": [signal.family],
        "feedback": signal.feedback,
    }
    return Row(cells, facets, group=GROUPS[model.group])


def _access(model: Model) -> str:
    return ", ".join(filter(None, (ACCESS[model.access], escape(model.license or ""))))


def _scale(model: Model) -> str:
    """Structure and sizes; a structure that nobody knows is not said twice."""
    known = model.structure not in ("undisclosed", "unknown")
    return f"{STRUCTURE[model.structure]}; {escape(model.scale)}" if known else escape(model.scale)


def _sources(model: Model) -> str:
    seen = items(
        f"{escape(piece.says)} {small(external(piece.url, piece.url.removeprefix('https://')))}"
        for piece in model.evidence
    )
    doubts = items(f"<b>Open:</b> {escape(doubt)}" for doubt in model.doubts)
    mark = '<b class="rl-flag">corrected</b> ' if model.corrections else ""
    corrections = items(_correction(one) for one in model.corrections)
    count = number_of(len(model.evidence), "source")
    return f'{mark}<details class="rl-data"><summary>{count}</summary>{corrections}{seen}{doubts}</details>'


def _correction(one) -> str:
    return (
        f"<b>Table X prints</b> “{escape(one.paper)}” for the {one.field}. {escape(one.instead)} "
        f"{small(external(one.source.url, one.source.says))}"
    )


def corrections_html(models: Mapping[str, Model]) -> str:
    """Where table X and the sources disagree."""
    return items(
        f"<b>{escape(model.name)}.</b> {_correction(one)}" for model in models.values() for one in model.corrections
    )
