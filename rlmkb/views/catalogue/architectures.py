"""Shapes of real decoders side by side: parameters, the active ones, and what a token leaves in the cache."""

from collections.abc import Mapping
from functools import lru_cache
from html import escape
from statistics import median
from typing import TYPE_CHECKING, Any

from rlmkb.catalogue.architectures import Architecture
from rlmkb.views.catalogue.live import Cell, Column, Facet, Row, live_table_html
from rlmkb.views.catalogue.text import small
from rlmkb.views.markup import Html, number_html, table_html

if TYPE_CHECKING:
    import pandas as pd

GIGA, KIBI, BF16 = 10**9, 2**10, 2
KINDS = {"dense": "dense", "mixture": "mixture of experts", "hybrid": "with recurrent layers"}


def kind_of(entry: Architecture) -> str:
    """Whether every weight works on every token, experts are chosen, or recurrent layers replace attention.

    Examples
    --------
    >>> from rlmkb.catalogue import entry
    >>> kind_of(entry("architectures", "mixtral-8x7b-v0.1"))
    'mixture'
    """
    if entry.mamba2 or entry.gated_delta_net:
        return "hybrid"
    return "mixture" if entry.experts else "dense"


@lru_cache
def counts(id: str) -> dict[str, float]:
    """Parameters, active parameters and bytes of cache per token of one architecture, cache in bf16.

    Examples
    --------
    Llama-3.1-8B keeps 2 x 32 layers x 8 heads x 128 numbers of two bytes:

    >>> counts("llama-3.1-8b")["cache"]
    131072
    """
    from rlmkb.architecture.decoder import active_parameters, cache_elements, parameters
    from rlmkb.architecture.entries import from_entry
    from rlmkb.catalogue import entry

    decoder = from_entry(entry("architectures", id))
    return {
        "total": sum(parameters(decoder).values()),
        "active": sum(active_parameters(decoder).values()),
        "cache": cache_elements(decoder) * BF16,
    }


def architecture_table_html(architectures: Mapping[str, Architecture]) -> str:
    """All architectures by family, with their counts computed from the shapes."""
    columns = [
        Column("Architecture"),
        Column("Kind"),
        Column("Parameters, 10⁹", numeric=True),
        Column("Active, 10⁹", "Weights that one token uses, both vocabulary tables included", numeric=True),
        Column("KV cache, KiB per token", "Keys and values of all layers in bf16", numeric=True),
        Column("Layers", numeric=True),
        Column("Width", numeric=True),
        Column("Heads", numeric=True),
        Column("KV heads", numeric=True),
        Column("Vocabulary", numeric=True),
        Column("Context, tokens", numeric=True),
    ]
    listed = sorted(architectures.values(), key=lambda one: (one.family.casefold(), counts(one.id)["total"]))
    rows = [_row(one) for one in listed]
    facets = [Facet("kind", "Kind", KINDS)]
    return live_table_html(columns, rows, name="Architectures", noun="architectures", facets=facets, kind="rl-shapes")


def _row(entry: Architecture) -> Row:
    found, kind = counts(entry.id), kind_of(entry)
    attention = entry.attention
    shared = attention.kv_heads if attention.kind == "grouped" else None
    numbers = [
        found["total"] / GIGA,
        found["active"] / GIGA,
        found["cache"] / KIBI,
        entry.layers,
        entry.d_model,
        attention.heads,
        shared,
        entry.vocab_size,
        entry.max_context,
    ]
    name = escape(entry.name) + small(escape(entry.id))
    cells = [
        Cell(f'<span class="rl-name">{name}</span>', entry.name.casefold()),
        Cell(KINDS[kind]),
        *(Cell("latent" if value is None else number_html(value), value or 0) for value in numbers),
    ]
    return Row(cells, {"kind": [kind]}, group=entry.family)


def kinds_html(architectures: Mapping[str, Architecture]) -> str:
    """Dense, mixtures and hybrids in a few numbers each."""
    rows = []
    for kind, name in KINDS.items():
        inside = [counts(one.id) for one in architectures.values() if kind_of(one) == kind]
        if inside:
            shares = [found["active"] / found["total"] for found in inside]
            rows.append(
                [
                    name.capitalize(),
                    len(inside),
                    _range([found["total"] / GIGA for found in inside]),
                    Html(f"{100 * median(shares):.0f}\u202f% {small(f'{_percent(shares)}')}"),
                    _range([found["cache"] / KIBI for found in inside]),
                ]
            )
    columns = ("Kind", "Entries", "Parameters, 10⁹", "Active share, median", "KV cache, KiB per token")
    return table_html(columns, rows, name="Architectures by kind")


def _range(values: list[float]) -> Html:
    low, high = number_html(min(values)), number_html(max(values))
    return Html(low if low == high else f"{low} to {high}")


def _percent(shares: list[float]) -> str:
    low, high = (f"{100 * share:.0f}\u202f%" for share in (min(shares), max(shares)))
    return low if low == high else f"{low} to {high}"


def frame(architectures: Mapping[str, Architecture]) -> "pd.DataFrame":
    """One row an architecture, for charts."""
    import pandas as pd

    rows: list[dict[str, Any]] = [
        {
            "architecture": one.name,
            "kind": KINDS[kind_of(one)],
            "total": counts(one.id)["total"] / GIGA,
            "active": counts(one.id)["active"] / GIGA,
            "cache": counts(one.id)["cache"] / KIBI,
        }
        for one in architectures.values()
    ]
    return pd.DataFrame(rows)
