"""Tables and costs as plain text for a terminal."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal

from rlmkb.iteration_cost import IterationCost
from rlmkb.theory.tables import Cell, CostTable, TextTable


def columns(rows: Iterable[Sequence[str]], *, right: frozenset[int] = frozenset()) -> str:
    """Rows as aligned text; columns in `right` are right-aligned.

    Examples
    --------
    >>> columns([("a", "1"), ("bb", "22")], right=frozenset({1}))
    'a    1\\nbb  22'
    """
    rows = [tuple(map(str, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
    return "\n".join(lines)


def number(value: object) -> str:
    """A number for reading: four significant digits, exact below ten thousand; of an array the least and greatest.

    Examples
    --------
    >>> number(8030261248), number(102.0), number(None)
    ('8.030e+09', '102', '')
    """
    if value is None:
        return ""
    if hasattr(value, "tolist"):
        values = value.ravel().tolist()
        return number(values[0]) if len(values) == 1 else f"{number(min(values))} to {number(max(values))}"
    if abs(value) < 10_000:
        return f"{value:.6g}"
    digits, exponent = f"{Decimal(value):.3e}".split("e")  # an exact integer may be beyond double precision
    return f"{digits}e{int(exponent):+03d}"


def table_text(table: CostTable | TextTable) -> str:
    """A table as text; notes and honest readings stand below.

    Examples
    --------
    >>> from rlmkb.theory.tables import table
    >>> table_text(table("II")).splitlines()[0]
    'Table II. Models of the pipeline'
    >>> table_text(table("V")).splitlines()[3].split("  ")[-1].strip()
    'O(B*L*m*(d**2 + d*m))'
    """
    title = f"Table {table.id}. {table.title}"
    if isinstance(table, TextTable):
        shown = tuple(name for name in table.columns if name != "group")
        body = [("", *shown), *((row, *(cells[name] for name in shown)) for row, cells in table.rows.items())]
        return f"{title}\n\n{columns(body)}"
    notes = {text: f"[{place}]" for place, text in enumerate(dict.fromkeys(c.note for c in table.cells if c.note), 1)}
    shown = _columns(table, notes)
    body = [tuple(shown), *(tuple(content(cell) for content in shown.values()) for cell in table.cells)]
    right = frozenset(place for place, name in enumerate(shown) if name in VALUES)
    parts = [title, columns(body, right=right), *_notes(table, notes), *_honest(table)]
    return "\n\n".join(parts)


VALUES = {
    "value": lambda cell: number(cell.value),
    "worst rank": lambda cell: number(cell.worst_rank_value),
    "honest value": lambda cell: number(cell.honest_value),
}


def _columns(table: CostTable, notes: Mapping[str, str]) -> dict[str, Callable[[Cell], str]]:
    """Headings, and what stands below them in a cell's line; without those that no cell has."""
    filled = {name: content for name, content in VALUES.items() if any(map(content, table.cells))}
    if table.at is not None:
        filled = {"value": VALUES["value"], **filled}
    return {
        "row": lambda cell: cell.row,
        **{head: lambda cell, head=head: getattr(cell, head) or "" for head in _selectors(table)},
        "quantity": lambda cell: cell.formula.quantity.value,
        **filled,
        "unit": lambda cell: cell.formula.unit,
        **({"note": lambda cell: notes.get(cell.note, "")} if notes else {}),
        "formula": lambda cell: cell.formula.text_asymptotic if table.asymptotic else cell.formula.text,
    }


def _notes(table: CostTable, notes: Mapping[str, str]) -> list[str]:
    lines = [f"{mark} {_plain(text)}" for text, mark in notes.items()]
    if table.asymptotic and table.at is not None:
        lines.append("Values are those of the explicit form.")
    return ["\n".join(["Notes", *lines])] if lines else []


def _honest(table: CostTable) -> list[str]:
    """Ours, where the printed cell is an idealisation."""
    lines = [f"- {_name(cell)}: {cell.honest.text}. {_plain(cell.honest.note or '')}".rstrip()
             for cell in table.cells if cell.honest]  # fmt: skip
    return ["\n".join(["Honest readings", *lines])] if lines else []


def _plain(text: str) -> str:
    return text.replace("$", "")


def _selectors(table: CostTable) -> tuple[str, ...]:
    return tuple(head for head in ("scope", "stage", "model") if any(getattr(cell, head) for cell in table.cells))


def table_latex(table: CostTable | TextTable) -> str:
    """One LaTeX equation a line, after a comment that names the cell.

    Examples
    --------
    >>> from rlmkb.theory.tables import table
    >>> table_latex(table("III")).splitlines()[5]
    'C_b^{\\\\mathrm{tok}}(\\\\pi_\\\\theta) = 2 C_f^{\\\\mathrm{tok}}(\\\\pi_\\\\theta)  % C_b_tok pi work'
    """
    if isinstance(table, TextTable):
        first = next(iter(table.columns)) if "symbol" not in table.columns else "symbol"
        return "\n".join(f"{cells[first]}  % {row}" for row, cells in table.rows.items())
    form = "equation_asymptotic" if table.asymptotic else "equation"
    lines = dict.fromkeys(f"{getattr(cell.formula, form)}  % {_name(cell)}" for cell in table.cells)
    return "\n".join(lines)


def _name(cell: Cell) -> str:
    parts = (cell.row, cell.scope, cell.stage, cell.model, cell.formula.quantity.value)
    return " ".join(part for part in parts if part)


def cost_text(result: IterationCost) -> str:
    """An iteration's cost as text.

    Examples
    --------
    >>> from rlmkb.iteration_cost import cost
    >>> result = cost("grpo", "llama-3.1-8b", reward="verifier", B=1, K=1, S=1, T=1)
    >>> cost_text(result).splitlines()[3].split()[:2]  # 2 * 32 * (4d^2 + 2 d d_ff + d) + 2Vd FLOP, for one token
    ['generation', '1.286e+10']
    """
    title = f"{result.algorithm.name}, {result.configuration.id}: one iteration"
    rows = [("stage", "work (FLOP)", "depth (steps)", "memory (elements)")]
    rows += [(part.stage, number(part.work), number(part.depth), number(part.memory)) for part in result.stages]
    rows.append(("total", number(result.work), number(result.depth), ""))
    honest = [
        (part.stage, quantity, number(value)) for part in result.stages for quantity, value in part.honest.items()
    ]
    ours = f"\n\nHonest values, where the printed one is an idealisation\n{columns(honest)}" if honest else ""
    lines = "\n".join(f"- {text}" for text in result.assumptions)
    return f"{title}\n\n{columns(rows, right=frozenset({1, 2, 3}))}{ours}\n\nAssumptions\n{lines}"


def architecture_text(described: Mapping[str, object]) -> str:
    """An architecture's counts as text."""
    flops = described["forward_flops_per_token"]
    rows = [(f"parameters, {name.replace('_', ' ')}", f"{value:,}") for name, value in described["params"].items()]
    rows.append(("KV cache, bytes per token (bf16)", f"{described['kv_bytes_per_token']:,}"))
    for name in ("causal_half", "full_square"):
        label = f"forward FLOP per token at {flops['length']:,} tokens, {name.replace('_', ' ')}"
        rows.append((label, f"{flops[name]:,}"))
    lines = "\n".join(f"- {text}" for text in described["conventions"])
    return f"{described['id']}\n\n{columns(rows, right=frozenset({1}))}\n\nConventions\n{lines}"
