"""From a sympy expression to numbers: compiled once, then broadcast over arrays."""

from collections.abc import Callable, Mapping
from functools import lru_cache

import sympy

from rlmkb.errors import InputError
from rlmkb.theory.functions import close_sums
from rlmkb.theory.special import log_gamma_ratio
from rlmkb.theory.values import resolve


@lru_cache(maxsize=1024)
def names_in(expr: sympy.Expr) -> tuple[str, ...]:
    """Names of the free symbols, sorted.

    Examples
    --------
    >>> from rlmkb.notation import symbol
    >>> names_in(symbol("d") * symbol("L"))
    ('L', 'd')
    """
    return tuple(sorted(symbol.name for symbol in expr.free_symbols))


@lru_cache(maxsize=1024)
def _compiled(expr: sympy.Expr, library: str) -> Callable:
    closed = close_sums(expr)
    by_name = {symbol.name: symbol for symbol in expr.free_symbols}
    arguments = [by_name[name] for name in names_in(expr)]
    own = {"log_gamma_ratio": log_gamma_ratio}
    return sympy.lambdify(arguments, closed, modules=[own, library], cse=True)


def evaluate(expr: sympy.Expr, values: Mapping[str, object]):
    """Value of an expression at given symbol values.

    Scalars are computed with Python numbers, so that a count stays an exact integer of any size; arrays with
    NumPy in float64, broadcast against each other.

    Parameters
    ----------
    expr : sympy.Expr
        In the symbols of `rlmkb.notation`; sums are closed first.
    values : mapping
        From symbol name to number or array; see `rlmkb.theory.values.resolve` for defaults.

    Returns
    -------
    int, float or numpy.ndarray
        In the unit of the expression.

    Raises
    ------
    InputError
        If a value is missing or out of range, or the result exceeds the range of double precision.

    Examples
    --------
    >>> from rlmkb.notation import symbol
    >>> evaluate(4 * symbol("d") ** 2, {"d": 10})
    400
    """
    import numpy as np

    expr = sympy.sympify(expr)
    points = resolve(values, names_in(expr))
    arguments = [points[name] for name in names_in(expr)]
    vector = any(isinstance(value, np.ndarray) for value in points.values())
    try:
        if vector:
            with np.errstate(over="ignore", invalid="ignore"):  # told below, in words
                result = _compiled(expr, "numpy")(*(np.asarray(value, dtype=float) for value in arguments))
        else:
            result = _compiled(expr, "math")(*arguments)
    except OverflowError:
        raise _too_large() from None
    if not (isinstance(result, int) or np.isfinite(result).all()):
        raise _too_large()
    return result


def _too_large() -> InputError:
    return InputError("the result exceeds the range of double precision; give smaller values")
