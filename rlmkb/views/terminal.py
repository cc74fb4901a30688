"""Tables and costs as plain text for a terminal."""

from collections.abc import Iterable, Mapping, Sequence

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
    """A number for reading: four significant digits, exact below ten thousand.

    Examples
    --------
    >>> number(8030261248), number(102.0), number(None)
    ('8.030e+09', '102', '')
    """
    if value is None:
        return ""
    if abs(value) < 10_000:
        return f"{value:.6g}"
    return f"{value:.3e}"


def table_text(table: CostTable | TextTable) -> str:
    """A table as text.

    Examples
    --------
    >>> from rlmkb.theory.tables import table
    >>> table_text(table("II")).splitlines()[0]
    'Table II. Models of the pipeline'
    """
    title = f"Table {table.id}. {table.title}"
    if isinstance(table, TextTable):
        shown = tuple(name for name in table.columns if name != "group")
        body = [("", *shown), *((row, *(cells[name] for name in shown)) for row, cells in table.rows.items())]
        return f"{title}\n\n{columns(body)}"
    heads = _selectors(table)
    valued = table.at is not None
    body = [("row", *heads, "quantity", *(["value"] if valued else []), "unit", "formula")]
    for cell in table.cells:
        value = [number(cell.value)] if valued else []
        where = (getattr(cell, head) or "" for head in heads)
        body.append((cell.row, *where, cell.formula.quantity.value, *value, cell.formula.unit, cell.formula.text))
    right = frozenset({len(heads) + 2}) if valued else frozenset()
    return f"{title}\n\n{columns(body, right=right)}"


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
    lines = dict.fromkeys(f"{cell.formula.equation}  % {_name(cell)}" for cell in table.cells)
    return "\n".join(lines)


def _name(cell: Cell) -> str:
    parts = (cell.row, cell.scope, cell.stage, cell.model, cell.formula.quantity.value)
    return " ".join(part for part in parts if part)


def cost_text(result: IterationCost) -> str:
    """An iteration's cost as text."""
    title = f"{result.algorithm.name}, {result.configuration.id}: one iteration"
    rows = [("stage", "work (FLOP)", "depth (steps)", "memory (elements)")]
    rows += [(part.stage, number(part.work), number(part.depth), number(part.memory)) for part in result.stages]
    rows.append(("total", number(result.work), number(result.depth), ""))
    lines = "\n".join(f"- {text}" for text in result.assumptions)
    return f"{title}\n\n{columns(rows, right=frozenset({1, 2, 3}))}\n\nAssumptions\n{lines}"


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
