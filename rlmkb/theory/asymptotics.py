"""Big-O forms: constants dropped, terms that another one dominates left out."""

import sympy

from rlmkb.theory.functions import close_sums, expand_logs


def order(expr: sympy.Expr) -> sympy.Expr:
    """What stands inside O(.) for a sum of products of symbols of at least one.

    Coefficients become one, negative terms vanish, and so does a term that is a factor of another: with every symbol
    at least one, it can never exceed it.

    Parameters
    ----------
    expr : sympy.Expr
        A sum of products of symbols and logarithms; sums are closed first.

    Returns
    -------
    sympy.Expr
        The dominating products, added up.

    Examples
    --------
    >>> L, d, V = sympy.symbols("L d V", positive=True)
    >>> order(8 * L * d**2 + 2 * V * d + 2 * d - L)
    L*d**2 + V*d
    """
    products = {_without_constant(term) for term in sympy.Add.make_args(expand_logs(close_sums(expr)))}
    products.discard(sympy.S.Zero)
    kept = [one for one in products if not any(_dominates(other, one) for other in products if other != one)]
    return sympy.Add(*kept)


def _without_constant(term: sympy.Expr) -> sympy.Expr:
    coefficient, product = term.as_coeff_Mul()
    return product if coefficient > 0 else sympy.S.Zero


def _dominates(larger: sympy.Expr, smaller: sympy.Expr) -> bool:
    return all(power >= 0 for power in (larger / smaller).as_powers_dict().values())
