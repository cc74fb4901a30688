"""Expert parallelism: tokens, router, the two exchanges, and experts that receive unequal numbers of tokens."""

from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import arrow, blank, box, legend, lines, paragraph, swatch
from rlmkb.views.diagrams.shapes import SMALL, Drawing, Rect, Shape, column, row

_ROOM, _GUTTER, _SIDE = 412, 20, 24
RANKS, EXPERTS, ACTIVE = 2, 4, 2
#: For each token the experts that the router picks; tokens 1 to 4 live on rank 0, the others on rank 1.
CHOICES = ((1, 2), (2, 3), (1, 2), (2, 4), (2, 3), (1, 2), (2, 4), (3, 4))

_HALF = (_ROOM - _GUTTER) / RANKS
_TONES = ("accent", "memory")  # of the rank that owns a token


def received(expert: int) -> tuple[int, ...]:
    """The tokens that an expert computes, numbered from 1.

    Examples
    --------
    >>> received(1)
    (1, 3, 6)
    """
    return tuple(token for token, chosen in enumerate(CHOICES, 1) if expert in chosen)


def load(rank: int) -> int:
    """Routed tokens that a rank computes.

    Examples
    --------
    >>> load(0), load(1)
    (10, 6)
    """
    each = EXPERTS // RANKS
    return sum(len(received(expert)) for expert in range(rank * each + 1, rank * each + each + 1))


def _token(number: int) -> Drawing:
    home = (number - 1) * RANKS // len(CHOICES)
    return box(str(number), tone=_TONES[home], width=_SIDE, height=_SIDE, size=SMALL, pad=2)


def _tokens(numbers: tuple[int, ...]) -> Drawing:
    return row(*map(_token, numbers), gap=3)


def _expert(number: int) -> Drawing:
    """An expert above the tokens it has received, in rows of three."""
    tokens, width = received(number), (_HALF - 32) / 2
    shown = column(*(_tokens(tokens[i : i + 3]) for i in range(0, len(tokens), 3)), gap=3)
    head = box(f"expert {number}", tone="work", width=width, height=26, size=SMALL, pad=2)
    return column(head, shown, gap=6, align="middle")


def _side(rank: int) -> Drawing:
    own = tuple(range(1 + rank * 4, 5 + rank * 4))
    inner = _HALF - 24
    route = box("router", f"{ACTIVE} of {EXPERTS} for each token", width=inner, height=44, size=SMALL)
    shared = box("attention, shared expert", "on its own tokens", tone="work", width=inner, height=44, size=SMALL)
    experts = row(*(_expert(rank * 2 + i) for i in (1, 2)), gap=8)
    busy = lines(f"computes {load(rank)} of {len(CHOICES) * ACTIVE}", ink="muted")
    content = (
        row(lines(f"rank {rank}", bold=True), lines("its own tokens:", ink="muted"), gap=8, align="end"), _tokens(own),
        shared, route, blank(inner, 44), experts, busy,
    )  # fmt: skip
    return column(*content, gap=9)


def _expert_parallelism() -> Drawing:
    sides = [_side(rank) for rank in range(RANKS)]
    high = max(side.extent.h for side in sides) + 24
    drawing = Drawing()
    for place, side in enumerate(sides):
        x = place * (_HALF + _GUTTER)
        drawing += Shape(Rect(x, 0, _HALF, high), "none", "line", 1.25, 6, dashed=True)
        drawing += side.at(x + 12, 12)
    top = 12 + 9 * 4 + lines("x").extent.h + _SIDE + 44 + 44
    exchange = box("all-to-all: dispatch, one copy per chosen expert", tone="depth", width=_ROOM - 24, height=28,
                   size=SMALL, key="dispatch")  # fmt: skip
    drawing += exchange.at(12, top + 8)
    back = box("all-to-all: combine, outputs go home and are weighted", tone="depth", width=_ROOM - 24, height=28,
               size=SMALL, key="combine").at(12, high + 16)  # fmt: skip
    drawing += back
    for place in range(RANKS):
        x = place * (_HALF + _GUTTER) + _HALF / 2
        drawing += arrow((x, high), (x, high + 16))
    key = legend(
        *(swatch(tone, f"token of rank {rank}") for rank, tone in enumerate(_TONES)), swatch("work", "computes"),
        swatch("depth", "moves tokens"), room=_ROOM,
    )  # fmt: skip
    note = paragraph(
        "The step waits for rank 0, which has more routed tokens than its share: routing is uneven even where every "
        "rank owns as many tokens.",
        _ROOM,
    )
    return column(drawing, key, note, gap=12)


EXPERT_PARALLELISM = Diagram(
    "expert-parallelism",
    "Expert parallelism: route, dispatch, compute, combine",
    "Two ranks with four tokens each. Each rank runs attention and the shared expert on its own tokens, and a router "
    f"picks {ACTIVE} of {EXPERTS} experts for each. A first all-to-all sends a copy of a token to each expert it "
    f"chose. Rank 0 holds experts 1 and 2 and computes {load(0)} of the {len(CHOICES) * ACTIVE} copies, rank 1 holds "
    f"experts 3 and 4 and computes {load(1)}. A second all-to-all brings the outputs home, where they are weighted and "
    "added.",
    _expert_parallelism,
)
