"""The same six invocations of PPO in four placements: what stands in a frame shares its devices."""

from rlmkb.views.diagrams import text
from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import box, legend, lines, paragraph, swatch
from rlmkb.views.diagrams.shapes import SMALL, Drawing, Rect, Shape, column, row

_CHIP, _PAD, _ROOM = 48, 5, 388
LETTERS = {"generation": "G", "assessment": "A", "training": "T"}

PLACEMENTS = (
    ("co-located", "one group runs everything in turn"),
    ("partly co-located", "trained and frozen models apart"),
    ("disaggregated", "a group for each model"),
    ("split by stage", "a group for each model and stage"),
)


def placed(name: str) -> dict[str, tuple]:
    """The groups of a placement and the invocations of PPO that each runs.

    Examples
    --------
    >>> {group: len(nodes) for group, nodes in placed("partly co-located").items()}
    {'trained': 4, 'frozen': 2}
    """
    from rlmkb.notation import Role
    from rlmkb.theory import graph
    from rlmkb.theory.algorithms import PPO
    from rlmkb.theory.placements import grouped

    halves = {"trained": (Role.POLICY, Role.CRITIC), "frozen": (Role.REFERENCE, Role.REWARD)}
    placement = {
        "co-located": graph.co_located, "disaggregated": graph.disaggregated, "split by stage": graph.split_by_stage,
        "partly co-located": lambda algorithm: grouped(algorithm, halves),
    }[name](PPO)  # fmt: skip
    return graph.IterationGraph(PPO, placement).groups


def _group(nodes: tuple) -> Drawing:
    chips = row(*(box(f"{text.from_latex(node.role.latex)} {LETTERS[node.stage.value]}", tone=node.role.value,
                      width=_CHIP, height=30, size=SMALL) for node in nodes), gap=4)  # fmt: skip
    e = chips.extent
    frame = Shape(Rect(0, 0, e.w + 2 * _PAD, e.h + 2 * _PAD), "none", "line", 1.5, 6)
    return Drawing((frame, *chips.at(_PAD, _PAD).items), frame.extent)


def _placement(name: str, says: str) -> Drawing:
    title = row(lines(name, bold=True), lines(says, ink="muted"), gap=9, align="end")
    return column(title, row(*(_group(nodes) for nodes in placed(name).values()), gap=6), gap=5)


def _draw() -> Drawing:
    names = (("policy", "policy"), ("reference", "reference"), ("reward", "reward model"), ("critic", "critic"))
    key = legend(*(swatch(tone, name) for tone, name in names), room=_ROOM)
    note = paragraph(
        "A frame is a device group. G generates, A runs forward in assessment, T is trained. A group runs one "
        "invocation at a time, and holds the weights of all models in its frame, unless idle ones are moved out.",
        _ROOM,
    )
    return column(*(_placement(*each) for each in PLACEMENTS), key, note, gap=16)


PLACEMENT = Diagram(
    "placements",
    "Four placements of the invocations of PPO",
    "The same six invocations in four rows, with frames for device groups. Co-located: one frame holds policy "
    "generation, reference, reward and critic in assessment, policy and critic training. Partly co-located: one frame "
    "for the trained models, policy and critic, one for the frozen ones, reference and reward. Disaggregated: a frame "
    "for each of the four models. Split by stage: six frames, one for each model and stage.",
    _draw,
)
