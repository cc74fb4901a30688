"""Flash attention: tiles of the score matrix that are never stored."""

from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import arrow, box, cell, grid_of, legend, lines, panel, swatch
from rlmkb.views.diagrams.shapes import SMALL, Drawing, Label, column

_ROOM = 412
_BLOCKS, _SIDE, _GAP = 4, 46, 6
_NOW = (2, 1)  # the tile being computed: block of queries, block of keys

_STEPS = (
    ("$s = Q_i K_j^T$", "one tile, scaled and masked"),
    ("$μ′ = max(μ, s)$", "running maximum of each row"),
    ("$ℓ ← e^{μ − μ′} ℓ + Σ e^{s − μ′}$", "running sum of each row"),
    ("$O_i ← e^{μ − μ′} O_i + e^{s − μ′} V_j$", "weighted values so far"),
    ("$O_i / ℓ$", "written once, after the last tile"),
)


def _block(name: str, tone: str, on_chip: bool, **style) -> Drawing:
    return box(*name.split(), tone=tone, width=_SIDE, size=SMALL, weight=2.75 if on_chip else 1.25, pad=4, **style)


def _tiles() -> Drawing:
    """Queries on the left, keys and values on top, outputs on the right; between them the tiles."""
    i, j = _NOW
    step, left, top = _SIDE + _GAP, _SIDE + 22, 94
    outputs = left + step * _BLOCKS + 16
    drawing = Drawing()
    for block in range(_BLOCKS):
        n, x, y = block + 1, left + step * block, top + step * block
        drawing += _block(f"$K_{n}$ $V_{n}$", "memory", block == j, height=46, key=f"kv{block}").at(x, 30)
        drawing += _block(f"$Q_{n}$", "memory", block == i, height=_SIDE).at(0, y)
        written = "memory" if block <= i else "coming"
        drawing += _block(f"$O_{n}$", written, block == i, height=_SIDE, dashed=block > i).at(outputs, y)
        for other in range(block + 1):
            now = (block, other) == (i, j)
            drawing += cell(left + step * other, y, _SIDE, _SIDE, "work" if now else "faint", dashed=not now)
    middle = top + step * i + _SIDE / 2
    for start, end in ((_SIDE, left + step * j), (left + step * j + _SIDE, outputs)):
        drawing += arrow((start, middle), (end, middle))
    x = left + step * j + _SIDE / 2
    drawing += arrow((x, 76), (x, top + step * i))
    drawing += Label(left, 8, "blocks of keys and values stream by", SMALL, ink="muted", anchor="start")
    drawing += arrow((left, 22), (left + step * _BLOCKS - _GAP, 22), stroke="line")
    return drawing


def _flash_attention() -> Drawing:
    key = legend(
        swatch("memory", "device memory"), swatch("memory", "on chip now", weight=2.75),
        swatch("coming", "not written yet", dashed=True), swatch("work", "tile being computed"),
        swatch("faint", "tile never stored", dashed=True), room=_ROOM,
    )  # fmt: skip
    steps = grid_of([(lines(formula), lines(words, ink="muted")) for formula, words in _STEPS], gap=14, leading=6)
    return column(_tiles(), key, panel("For each tile of the row", steps, width=_ROOM), gap=18, align="middle")


FLASH_ATTENTION = Diagram(
    "flash-attention",
    "Flash attention: tiles that are never stored",
    "The score matrix is cut into tiles. A block of queries stays on chip while blocks of keys and values "
    "stream by. For each tile the running maximum and the running sum of each row are updated and the "
    "weighted values so far are rescaled; after the last tile of the row the output block is divided by "
    "the sum and written once. No tile is written to device memory, and tiles above the diagonal are "
    "skipped.",
    _flash_attention,
)
