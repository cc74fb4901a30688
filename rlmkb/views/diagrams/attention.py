"""Attention in generation: prefill and decode, and the cache of keys and values."""

from fractions import Fraction

from rlmkb.views.diagrams.page import Diagram
from rlmkb.views.diagrams.parts import blank, box, brace, cell, grid_of, legend, lines, paragraph, swatch, widened
from rlmkb.views.diagrams.shapes import SMALL, Drawing, Label, Line, Rect, Shape, column, row

_ROOM = 412
_PROMPT, _RESPONSE = 5, 5  # S and T of the sketches

_STEPS = (
    ("prefill", "decode step $t$"),
    ("passes", "one", "$T − 1$, in sequence"),
    ("query $Q$", "$S × d$", "$1 × d$"),
    ("keys, values", "$S × d$", "$(S + t) × d$"),
    ("scores, per head", "$S × S$", "$1 × (S + t)$"),
    ("reads weights", "once for $S$ tokens", "once for one token"),
    ("reads cache", "no, fills it", "all of it"),
    ("gives", "first token", "next token"),
)


def _staircase() -> Drawing:
    """The causal score matrix: a row per query token, a column per cached token."""
    side, left, top = 24, 96, 62
    tokens = [f"$x_{i + 1}$" for i in range(_PROMPT)] + [f"$y_{i + 1}$" for i in range(_RESPONSE - 1)]
    drawing = Drawing()
    for index, token in enumerate(tokens):
        x, y = left + side * index, top + side * index
        cached = box(token, tone="memory", width=side - 3, height=side - 3, size=SMALL, pad=1, radius=3)
        drawing += cached.at(x, top - 28)
        drawing += Label(left - 10, y + side / 2 - 1.5, token, SMALL, anchor="end")
        prefill = index < _PROMPT
        for other in range(_PROMPT if prefill else index + 1):
            tone = "empty" if other > index else "work" if prefill else "depth"
            drawing += cell(left + side * other, y, side - 3, side - 3, tone)
    end = left + side * len(tokens)
    drawing += Label(left, top - 46, "keys and values in the cache", SMALL, ink="memory-ink", anchor="start")
    drawing += Label(left - 10, top - 17, "query ↓", SMALL, ink="muted", anchor="end")
    middle, bottom = top + side * _PROMPT, top + side * len(tokens)
    drawing += brace((left + side * _PROMPT + 4, top), (left + side * _PROMPT + 4, middle - 3))
    words = lines("prefill: $S$ rows", "in one pass", ink="work-ink")
    drawing += words.at(left + side * _PROMPT + 18, top + (middle - top - words.extent.h) / 2)
    drawing += brace((end + 2, middle), (end + 2, bottom - 3))
    words = lines("decode: a", "row a pass", ink="depth-ink")
    return drawing + words.at(end + 14, middle + (bottom - middle - words.extent.h) / 2)


def _prefill_and_decode() -> Drawing:
    widths = (112, 140, 148)
    header, *body = _STEPS
    heads = [
        box(words, tone=tone, width=w, height=26, size=SMALL, bold=True)
        for words, w, tone in zip(header, widths[1:], ("work", "depth"), strict=True)
    ]
    rows = [
        [lines(name, ink="muted"), *(box(words, tone="bare", width=w, height=22, size=SMALL, pad=0)
                                     for words, w in zip(cells, widths[1:], strict=True))]
        for name, *cells in body
    ]  # fmt: skip
    rows = [[blank(widths[0], 26), *heads], *rows]
    key = legend(swatch("empty", "masked: half of the dense product"), room=_ROOM)
    return column(column(_staircase(), key, gap=12), grid_of(rows, gap=5, leading=2), gap=18)


PREFILL_AND_DECODE = Diagram(
    "prefill-and-decode",
    "Prefill and decode: the causal score matrix, row by row",
    "The score matrix has a row per query token and a column per token in the cache, and is filled below "
    "its diagonal like a staircase. Prefill computes the first S rows in one pass and fills the cache. "
    "Each decode step computes one further row, of length S + t, and reads the whole cache and all "
    "weights for a single token; T minus 1 such steps follow each other.",
    _prefill_and_decode,
)


_GENERATED = 3  # tokens decoded so far in the sketch of the cache
_HEADS = 8
_SHARING = {"multi-head": 8, "grouped-query": 2, "multi-query": 1}  # heads of keys and values


def _cache() -> Drawing:
    """A sheet per layer; on it keys and values, a cell per token; the next token's cells are dashed."""
    side, pad, layers, shift = 26, 8, 3, 9
    tokens = _PROMPT + _GENERATED + 1
    w, h, left = tokens * side - 3 + 2 * pad, 2 * side - 3 + 2 * pad, 52
    top = (layers - 1) * shift
    drawing = Drawing()
    for back in reversed(range(layers)):
        sheet = Rect(left + back * shift, top - back * shift, w, h)
        drawing += Shape(sheet, "surface", "line", key="front" if not back else "")
    for line, name in enumerate(("keys", "values")):
        y = top + pad + line * side
        drawing += Label(left - 8, y + side / 2 - 1.5, name, SMALL, ink="memory-ink", anchor="end")
        for index in range(tokens):
            coming = index == tokens - 1
            drawing += cell(
                left + pad + index * side, y, side - 3, side - 3, "coming" if coming else "memory", dashed=coming
            )
    x, y = left + pad, top + h + 5
    for start, count, words in (
        (0, _PROMPT, ("$S$ prompt tokens,", "written by prefill")),
        (_PROMPT, _GENERATED, ("$t$ decoded,", "one a step")),
    ):
        a, b = x + start * side, x + (start + count) * side - 3
        drawing += brace((a, y), (b, y))
        label = lines(*words, anchor="middle", ink="muted")
        drawing += label.at((a + b - label.extent.w) / 2, y + 8)
    words = lines("$L$ sheets,", "a layer each;", "$d$ elements", "a cell", ink="muted")
    return drawing + words.at(left + w + top + 14, top + (h - words.extent.h) / 2 - top / 2)


def _sharing(name: str, cached: int) -> Drawing:
    """Query heads above, the heads of keys and values that they share below."""
    step, side = 26, 16
    drawing = Drawing()
    for kv in range(cached):
        share = _HEADS // cached
        queries = [(kv * share + i) * step + side / 2 for i in range(share)]
        centre = sum(queries) / share
        for x in queries:
            drawing += Line(((x, side), (centre, 40)), "line", 1.25)
        for x in queries:
            drawing += cell(x - side / 2, 0, side, side, "quiet", radius=side / 2)
        drawing += cell(centre - side / 2, 40, side, side, "memory")
    part = Fraction(cached, _HEADS)
    words = lines(f"{name}", f"$h_{{kv}} = {cached}$")
    return row(widened(words, 102), drawing, lines("cache", f"× {part}", ink="memory-ink"), gap=16, align="middle")


def _kv_cache() -> Drawing:
    key = legend(
        swatch("quiet", f"query head ({_HEADS} here)"),
        swatch("memory", "cached"),
        swatch("coming", "next token", dashed=True),
        room=_ROOM,
    )
    note = paragraph(
        "Elements after $t$ steps: two rows, $L$ sheets, $S + t$ columns, $d$ a cell. Heads that share keys and values "
        "shrink each cell to $h_{kv} / h$ of its size.",
        _ROOM,
    )
    heads = column(*(_sharing(name, cached) for name, cached in _SHARING.items()), gap=18)
    return column(_cache(), note, heads, key, gap=20)


KV_CACHE = Diagram(
    "kv-cache",
    "The cache of keys and values",
    "The cache is a stack of L sheets, one per layer. Each sheet has a row of keys and a row of values "
    "and a column per token: S from the prompt, written by prefill, and one more per decode step, with d "
    "elements in each cell. Below, eight query heads share keys and values in three ways: multi-head "
    "attention caches eight heads, grouped-query attention with two heads caches a quarter of that, "
    "multi-query attention an eighth.",
    _kv_cache,
)
