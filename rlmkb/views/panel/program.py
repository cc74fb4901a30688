"""A set of formulas as one JavaScript function of a point."""

from collections.abc import Iterable, Sequence

import sympy

from rlmkb.theory.evaluate import names_in
from rlmkb.theory.formula import Formula
from rlmkb.theory.functions import close_sums
from rlmkb.views.javascript import javascript


def program(formulas: Sequence[Formula]) -> str:
    """JavaScript source of a function from a point (symbol to number) to the formulas' values, in order.

    Building blocks that several formulas use are computed once.

    Parameters
    ----------
    formulas : sequence of Formula
        With all that they refer to.

    Examples
    --------
    >>> from rlmkb.notation import Role
    >>> from rlmkb.theory.building_blocks import activation_memory
    >>> program([activation_memory(Role.POLICY)])
    'p=>{return [(p.L_pi*p.d_pi)];}'
    """
    names: dict[sympy.Symbol, str] = {}
    lines = []
    for block in _in_order(formulas):
        lines.append(f"const b{len(names)}={javascript(block.expr, _names(block, names))};")
        names[block.handle] = f"b{len(names)}"
    values = ",".join(javascript(formula.expr, _names(formula, names)) for formula in formulas)
    return f"p=>{{{''.join(lines)}return [{values}];}}"


def symbols(formulas: Iterable[Formula]) -> tuple[str, ...]:
    """Names of all symbols of table I that the formulas need."""
    return tuple(sorted({name for formula in formulas for name in names_in(formula.explicit)}))


def _names(formula: Formula, blocks: dict[sympy.Symbol, str]) -> dict[sympy.Symbol, str]:
    own = {symbol: f"p.{symbol.name}" for symbol in close_sums(formula.expr).free_symbols if symbol not in blocks}
    return own | blocks


def _in_order(formulas: Sequence[Formula]) -> list[Formula]:
    """The blocks below the formulas, each after those that it refers to."""
    found: dict[sympy.Symbol, Formula] = {}

    def visit(formula: Formula) -> None:
        for block in formula.where:
            if block.handle not in found:
                visit(block)
                if formula.expr.has(block.handle):
                    found[block.handle] = block

    for formula in formulas:
        visit(formula)
    return list(found.values())
