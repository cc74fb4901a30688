"""What ZeRO shards, and what checkpointing keeps: memory of one rank, drawn to scale from the theory."""

import sympy

from rlmkb.theory.partition import DENSE, STRATEGIES, d, d_ff, h, m
from rlmkb.theory.sequence import kept
from rlmkb.theory.traffic import messages
from rlmkb.theory.transforms import GRADIENT, MOMENTS, STATES, WEIGHT, Zero, zero_states
from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import cell, legend, lines, paragraph, swatch
from rlmkb.views.diagrams.shapes import SMALL, Drawing, Label, Rect, Shape, column, row

_ROOM = 412
RANKS = 4
_PARTS = (("weights", WEIGHT, Zero.PARAMETERS), ("gradients", GRADIENT, Zero.GRADIENTS),
          ("moments", MOMENTS, Zero.OPTIMIZER))  # fmt: skip
_PAINT = {"weights": ("accent", True), "gradients": ("accent", False), "moments": ("memory", False)}
_NAMES = {
    Zero.NONE: "plain data parallelism", Zero.OPTIMIZER: "ZeRO-1: moments", Zero.GRADIENTS: "ZeRO-2: and gradients",
    Zero.PARAMETERS: "ZeRO-3, FSDP: and weights",
}  # fmt: skip


def _rank(stage: Zero, rank: int, width: float, high: float) -> Drawing:
    """A bar for each part of the state; what the rank holds is filled."""
    drawing, y, unit = Drawing(), 0.0, high / STATES
    for name, numbers, sharded_from in _PARTS:
        bar, (tone, solid) = numbers * unit - 2, _PAINT[name]
        share = width / RANKS if stage >= sharded_from else width
        drawing += Shape(Rect(0, y, width, bar), "none", "hairline", 1, 2)
        drawing += cell(rank * share if share < width else 0, y, share, bar, tone, solid)
        y += numbers * unit
    return drawing


def _stage(stage: Zero) -> Drawing:
    held = float(zero_states(stage, RANKS))
    kinds = dict.fromkeys(message.kind.value for message in messages(STRATEGIES["data"], zero=stage))
    held_words = lines(f"{held:g} {'number' if held == 1 else 'numbers'} a parameter", ink="muted")
    title = row(lines(_NAMES[stage], bold=True), held_words, gap=10, align="end")
    bars = row(*(_rank(stage, rank, 92, 56) for rank in range(RANKS)), gap=14)
    return column(title, bars, lines(f"moves: {', '.join(kinds)}", ink="muted"), gap=4)


def _zero_stages() -> Drawing:
    header = Drawing()
    for rank in range(RANKS):
        header += Label(rank * 106 + 46, 8, f"rank {rank}", SMALL, ink="muted")
    key = legend(*(swatch(tone, name, solid=solid) for name, (tone, solid) in _PAINT.items()), room=_ROOM)
    note = paragraph("Filled is what a rank holds, outlined what it leaves to others. Heights are numbers per "
                     "parameter: one weight, one gradient, two moments.", _ROOM)  # fmt: skip
    return column(header, *(_stage(stage) for stage in Zero), key, note, gap=12)


ZERO_STAGES = Diagram(
    "zero-stages",
    "What each stage of ZeRO shards over four ranks",
    "Four rows of four ranks. In plain data parallelism each rank holds weights, gradients and both moments of every "
    "parameter, four numbers. ZeRO-1 leaves each rank a quarter of the moments, 2.5 numbers. ZeRO-2 a quarter of the "
    "gradients as well, 1.75. ZeRO-3, also FSDP, a quarter of everything, 1 number; weights are gathered layer by "
    "layer when needed.",
    _zero_stages,
)

#: A layer of Megatron's 22B model: the case in which the publication measured recomputation.
SHAPE = {d: 6144, d_ff: 24576, h: 64, m: 2048}
_KEPT = {  # what stays of a layer, by the names of `sequence.kept`
    "nothing recomputed": lambda name: True,
    "selective: attention shares again": lambda name: name != "attention shares",
    "full: all but the layer’s input": lambda name: False,
}


def shares() -> dict[str, float]:
    """What stays of a layer's activations in each mode, over what is kept without recomputation.

    Examples
    --------
    >>> [round(share, 3) for share in shares().values()]
    [1.0, 0.429, 0.027]
    """
    parts = kept(DENSE, flash=False)
    whole = sympy.Add(*(part.per_token for part in parts)).subs(SHAPE)
    held = {mode: sympy.Add(*(part.per_token for part in parts if stays(part.name))).subs(SHAPE)
            for mode, stays in _KEPT.items()}  # fmt: skip
    return {mode: float((elements or SHAPE[d]) / whole) for mode, elements in held.items()}


def _mode(mode: str, share: float) -> Drawing:
    """The bar of a layer; where nothing of it stays, its input is kept and everything computed again."""
    parts, stays, x = kept(DENSE, flash=False), _KEPT[mode], 0.0
    whole = float(sympy.Add(*(part.per_token for part in parts)).subs(SHAPE))
    widths = [(_ROOM * float(part.per_token.subs(SHAPE)) / whole, stays(part.name)) for part in parts]
    if not any(held for _, held in widths):
        widths = [(_ROOM * share, True), (_ROOM * (1 - share), False)]
    drawing = Drawing()
    for width, held in widths:
        drawing += cell(x, 0, width - 1, 22, "memory" if held else "faint", solid=held, dashed=not held)
        x += width
    title = row(lines(mode, bold=True), lines(f"keeps {share:.0%}", ink="muted"), gap=10, align="end")
    return column(title, drawing, gap=4)


def _checkpointing() -> Drawing:
    key = legend(
        swatch("memory", "kept for the backward pass", solid=True), swatch("faint", "computed again", dashed=True),
        room=_ROOM,
    )  # fmt: skip
    note = paragraph(
        "One layer of a 22B model at 2,048 tokens, to scale. From left to right: inputs of the norms, input of query, "
        "key and value, these three, attention shares, attended values, input of the feed-forward network, both sides "
        "of its activation. Flash attention never keeps the shares, so it is selective by itself.",
        _ROOM,
    )
    return column(*(_mode(mode, share) for mode, share in shares().items()), key, note, gap=12)


CHECKPOINTING = Diagram(
    "activation-checkpointing",
    "What a layer keeps under recomputation",
    "Three bars of equal length, the activations of one layer. Nothing recomputed: all of it is kept. Selective: the "
    "attention shares, more than half, are computed again in the backward pass and the rest is kept. Full: only the "
    "layer's input is kept and its whole forward pass runs again.",
    _checkpointing,
)

