"""The theory's expressions as JavaScript, so that a page computes without a server.

sympy's own printer writes quotients as products with a reciprocal, which is wrong under floor and ceil at exact
multiples, and knows no log-gamma; this one divides once, at the end.
"""

import json
from collections.abc import Mapping

import sympy
from sympy.printing.printer import Printer

from rlmkb.theory.functions import close_sums

_SAFE_INTEGER = 2**53
_FUNCTIONS = {
    "Log2": "Math.log2",
    "log": "Math.log",
    "Maximum": "Math.max",
    "Max": "Math.max",
    "Min": "Math.min",
    "ceiling": "Math.ceil",
    "floor": "Math.floor",
    "LogGammaRatio": "logGammaRatio",
}


class _JavaScript(Printer):
    """Printer of one expression; `names` maps a symbol to the JavaScript that stands for it."""

    def __init__(self, names: Mapping[sympy.Symbol, str]):
        super().__init__()
        self._names = names

    def emptyPrinter(self, expr):
        raise TypeError(f"no JavaScript for {type(expr).__name__}: {expr}")

    def _print_Symbol(self, expr):
        if expr not in self._names:
            raise TypeError(f"no JavaScript name for the symbol {expr}")
        return self._names[expr]

    def _print_Integer(self, expr):
        return str(int(expr)) if abs(int(expr)) <= _SAFE_INTEGER else repr(float(expr))

    def _print_Rational(self, expr):
        return f"({self._print(sympy.Integer(expr.p))}/{self._print(sympy.Integer(expr.q))})"

    def _print_Float(self, expr):
        return repr(float(expr))

    def _print_Add(self, expr):
        return f"({'+'.join(map(self._print, expr.args))})"

    def _print_Mul(self, expr):
        numerator, denominator = sympy.fraction(expr, exact=True)
        if denominator != 1:
            return f"({self._print(numerator)}/{self._print(denominator)})"
        return f"({'*'.join(map(self._print, expr.args))})"

    def _print_Pow(self, expr):
        base, exponent = expr.args
        if exponent.is_negative:
            return f"(1/{self._print(base ** -exponent)})"
        if exponent.is_Integer and exponent <= 4:  # exact where Math.pow need not be
            return f"({'*'.join([self._print(base)] * int(exponent))})"
        if exponent == sympy.Rational(1, 2):
            return f"Math.sqrt({self._print(base)})"
        return f"Math.pow({self._print(base)},{self._print(exponent)})"

    def _print_Function(self, expr):
        name = type(expr).__name__
        if name not in _FUNCTIONS:
            raise TypeError(f"no JavaScript for the function {name}")
        return f"{_FUNCTIONS[name]}({','.join(map(self._print, expr.args))})"

    _print_Max = _print_Min = _print_Function


def javascript(expr: sympy.Expr, names: Mapping[sympy.Symbol, str] | None = None) -> str:
    """An expression as JavaScript source; sums are closed first.

    Parameters
    ----------
    expr : sympy.Expr
        Of the theory.
    names : mapping, optional
        JavaScript for each symbol; default: the field of that name of an object ``p``.

    Returns
    -------
    str
        Uses `Math` and, for sums of logarithms, a function ``logGammaRatio`` (in ``live.js``).

    Raises
    ------
    TypeError
        For something that has no JavaScript form.

    Examples
    --------
    >>> L, d = sympy.symbols("L d", positive=True)
    >>> javascript(sympy.ceiling(L / d))
    'Math.ceil((p.L/p.d))'
    """
    expr = close_sums(sympy.sympify(expr))
    if names is None:
        names = {symbol: f"p.{symbol.name}" for symbol in expr.free_symbols}
    return _JavaScript(names).doprint(expr)


def literal(value: object) -> str:
    """Plain data as a JavaScript literal that is safe inside a script element.

    Examples
    --------
    >>> literal("</script>")
    '"<\\\\/script>"'
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True).replace("</", "<\\/")
