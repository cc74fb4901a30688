"""Maps: of the subject, and of this project."""

from rlmkb.views import design
from rlmkb.views.diagrams.glyphs import glyph
from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import arrow, box, legend, lines, panel, paragraph, swatch
from rlmkb.views.diagrams.shapes import SMALL, TEXT, Drawing, Label, column, row

_ROOM = 412

# glyph, name, what it does
WITHIN = (
    ("data", "Data $P_d$", "splits the batch"),
    ("tensor", "Tensor $P_t$", "splits the width of products"),
    ("sequence", "Sequence", "splits tokens in norms, dropout"),
    ("context", "Context $P_c$", "splits tokens everywhere"),
    ("pipeline", "Pipeline $P_p$", "splits the layers"),
    ("expert", "Expert $P_e$", "splits the experts"),
    ("zero", "ZeRO, FSDP $P_z$", "splits weights, gradients, moments"),
    ("checkpointing", "Checkpointing", "keeps few activations"),
)
BETWEEN = (
    ("structure", "Model structure", "actor and critic share a body"),
    ("placement", "Placement", "models on groups of devices"),
    ("fusion", "Stage fusion", "ready samples move on"),
    ("hybrid", "Hybrid layouts", "each call has its own layout"),
    ("asynchrony", "Asynchrony", "stages overlap, weights are stale"),
)


def _entry(picture: str, name: str, does: str) -> Drawing:
    room = (_ROOM - 24 - 14) / 2 - 50
    words = column(lines(name, bold=True), paragraph(does, room, ink="muted"), gap=0)
    return row(glyph(picture), words, gap=10, align="middle")


def _entries(entries: tuple, gap: float = 14) -> Drawing:
    """Entries in two columns."""
    rows = [
        row(*(_entry(*entry) for entry in entries[i : i + 2]), gap=gap, align="middle")
        for i in range(0, len(entries), 2)
    ]
    return column(*rows, gap=14)


def _taxonomy() -> Drawing:
    within = panel("Within a model: one call, many devices", _entries(WITHIN), tone="accent", width=_ROOM)
    between = panel("Between models: one iteration, many calls", _entries(BETWEEN), tone="accent", width=_ROOM)
    key = legend(
        swatch("accent", "one device’s share", solid=True), swatch("memory", "kept", solid=True),
        *(swatch(name, name, solid=True) for name in (*design.ROLES, *design.STAGES)), room=_ROOM,
    )  # fmt: skip
    return column(within, between, key, gap=18)


TAXONOMY = Diagram(
    "taxonomy",
    "A map of parallelism in post-training",
    "Two groups. Within a model: data parallelism splits the batch, tensor parallelism the width of "
    "matrix products, sequence parallelism the tokens of norms and dropout, context parallelism the "
    "tokens everywhere, pipeline parallelism the layers, expert parallelism the experts, ZeRO and FSDP "
    "weights, gradients and moments; checkpointing keeps few activations and recomputes the rest. Between "
    "models: model structure (actor and critic may share a body), placement of models on device groups, "
    "stage fusion, hybrid layouts per call, and asynchrony with stale weights.",
    _taxonomy,
)

# The package from top to bottom; imports only point down.
LAYERS = (
    (("rlmkb.cli", "the command line"), ("rlmkb.views", "charts, tables, figures")),
    (("rlmkb.algorithms", "PPO, GRPO, DPO that run"), ("rlmkb.simulation", "an iteration in seconds")),
    (("rlmkb.verification", "counts from traced programs"),),
    (("rlmkb.theory", "work, depth, memory"), ("rlmkb.architecture", "shapes of real models")),
    (("rlmkb.catalogue", "reads and checks the data"), ("rlmkb.notation", "every symbol, once")),
)


def _architecture() -> Drawing:
    room, between = _ROOM - 24, 12
    bands = [
        row(
            *(box(title, words, width=(room - between * (len(boxes) - 1)) / len(boxes), size=TEXT, bold=True)
              for title, words in boxes),
            gap=between,
        )
        for boxes in LAYERS
    ]  # fmt: skip
    outside = {"tone": "accent", "width": _ROOM, "bold": True}
    book = box("book/", "chapters: prose and executed notebooks", key="book", **outside)
    data = box("data/", "architectures, algorithms, references", key="data", **outside)
    package = panel("rlmkb, the package: imports only point down", column(*bands, gap=12), width=_ROOM, key="package")
    stack = column(book, package, data, gap=30)
    for above, verb, below in (("book", "uses", "package"), ("package", "reads", "data")):
        x, y = stack[above].bottom_at()
        stack += arrow((x, y), stack[below].top_at())
        stack += Label(x + 12, y + 15, verb, SMALL, ink="muted", anchor="start")
    return stack


ARCHITECTURE = Diagram(
    "architecture",
    "The layers of rlmkb",
    "The book uses the package, and the package reads the data. Inside the package, from top to bottom, "
    "each layer uses only those below it: the command line and the views (charts, tables, figures); "
    "algorithms (PPO, GRPO and DPO that run) and simulation (an iteration in seconds); "
    "verification, which counts from traced programs; theory (work, depth, memory) and architecture "
    "(shapes of real models); the catalogue, which reads and checks the data, and the notation.",
    _architecture,
)
