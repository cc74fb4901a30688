"""Model structures: which stacks of layers policy, critic and reward model are, and which they share."""

from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import box, cell, legend, lines, paragraph, swatch
from rlmkb.views.diagrams.shapes import SMALL, Drawing, Rect, column, row

_WIDE, _GAP, _LAYER, _LAYERS = 34, 4, 9, 4  # of a stack, between stacks, height of a layer, layers
_ROOM = 392
_HEAD = 26  # height of a head
PLACES = {"policy": 0, "critic": 1, "reward": 2}
SYMBOLS = {"policy": "$π$", "critic": "$V$", "reward": "$R$"}

# picture: the stacks as (models, first layer, last layer); a stack of two models is as wide as both
PICTURES = {
    "separate": ((("policy",), 0, 4), (("critic",), 0, 4), (("reward",), 0, 4)),
    "smaller critic": ((("policy",), 0, 4), (("critic",), 0, 2), (("reward",), 0, 4)),
    "shared backbone": ((("policy", "critic"), 0, 4), (("reward",), 0, 4)),
    "partly shared": ((("policy", "critic"), 0, 2), (("policy",), 2, 4), (("critic",), 2, 4), (("reward",), 0, 4)),
    "critic and reward merged": ((("policy",), 0, 4), (("critic", "reward"), 0, 4)),
    "critic-free": ((("policy",), 0, 4), (("reward",), 0, 4)),
}


def structures() -> dict[str, object]:
    """PPO in each of the drawn structures.

    Examples
    --------
    >>> [len(algorithm.invocations) for algorithm in structures().values()]
    [6, 6, 5, 5, 5, 4]
    """
    from rlmkb.notation import Role
    from rlmkb.theory import structures as edits
    from rlmkb.theory.algorithms import PPO

    return {
        "separate": PPO, "smaller critic": PPO, "shared backbone": edits.shared_actor_critic(PPO),
        "partly shared": edits.partly_shared_actor_critic(PPO),
        "critic and reward merged": edits.merged_critic_reward(PPO), "critic-free": PPO.without(Role.CRITIC),
    }  # fmt: skip


def _picture(name: str) -> Drawing:
    high = _LAYERS * (_LAYER + 2)
    drawing = Drawing((), Rect(0, 0, 3 * _WIDE + 2 * _GAP, _HEAD + 4 + high))
    tops: dict[str, int] = {}
    for models, first, last in PICTURES[name]:
        x, tone = PLACES[models[0]] * (_WIDE + _GAP), models[0] if len(models) == 1 else "accent"
        width = len(models) * (_WIDE + _GAP) - _GAP
        for layer in range(first, last):
            y = _HEAD + 4 + high - (layer + 1) * (_LAYER + 2)
            drawing += cell(x, y, width, _LAYER, tone)
        tops |= dict.fromkeys(models, last)
    for model, top in tops.items():
        y = high - top * (_LAYER + 2)
        head = box(SYMBOLS[model], tone=model, width=_WIDE, height=_HEAD, size=SMALL, pad=4)
        drawing += head.at(PLACES[model] * (_WIDE + _GAP), y)
    return drawing


def _structure(name: str, algorithm: object) -> Drawing:
    count = lines(f"{len(algorithm.invocations)} invocations", ink="muted")
    return column(paragraph(name, 124, bold=True), _picture(name), count, gap=5)


def _draw() -> Drawing:
    drawn = [_structure(name, algorithm) for name, algorithm in structures().items()]
    rows = (row(*drawn[i : i + 3], gap=10, align="end") for i in (0, 3))
    key = legend(swatch("policy", "policy"), swatch("critic", "critic"), swatch("reward", "reward model"),
                 swatch("accent", "layers of two models"), room=_ROOM)  # fmt: skip
    note = paragraph("Boxes are heads, bars layers. The reference, a frozen policy, is the same in all.", _ROOM)
    return column(*rows, key, note, gap=18)


STRUCTURE = Diagram(
    "model-structures",
    "Six model structures for PPO",
    "Six pictures of stacks of layers with a head on top. Separate: policy, critic and reward model have a stack each; "
    "six invocations an iteration. Smaller critic: its stack is lower. Shared backbone: one stack carries the heads "
    "of policy and critic; five invocations. Partly shared: the lower half is shared, the upper halves are separate; "
    "five invocations. Critic and reward merged: one stack carries both their heads; five invocations. Critic-free: "
    "policy and reward model only; four invocations.",
    _draw,
)
