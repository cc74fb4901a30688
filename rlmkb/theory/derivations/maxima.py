"""When two expressions with largest-of have the same value everywhere: both as the largest of some sums."""

from itertools import combinations, product

import sympy

from rlmkb.theory.functions import Maximum


def sums(expr: sympy.Expr) -> frozenset[sympy.Expr]:
    """The sums of which an expression is the largest; what stands beside a largest-of goes into each of its arguments.

    Parameters
    ----------
    expr : sympy.Expr
        Sums, largest-of, and their products with what is never negative.

    Examples
    --------
    >>> a, b, c = sympy.symbols("a b c", positive=True)
    >>> sorted(sums(a + Maximum(b, 2 * Maximum(b, c))), key=str)
    [a + 2*b, a + 2*c, a + b]
    """
    if isinstance(expr, Maximum):
        return frozenset().union(*map(sums, expr.args))
    if expr.is_Add and expr.has(Maximum):
        return frozenset(sympy.expand(sympy.Add(*chosen)) for chosen in product(*map(sums, expr.args)))
    if expr.is_Mul and expr.has(Maximum):
        factors = [part for part in expr.args if not part.has(Maximum)]
        (*others, last) = [part for part in expr.args if part.has(Maximum)]
        if not others and sympy.Mul(*factors).is_nonnegative:
            return frozenset(sympy.expand(sympy.Mul(*factors, part)) for part in sums(last))
    return frozenset({sympy.expand(expr)})


def never_larger(one: sympy.Expr, others: frozenset[sympy.Expr]) -> bool:
    """Whether one of the others, or the mean of two or three of them, is at least as large everywhere.

    A mean is never above the largest of what it is made of, so then the largest of the others is not smaller.

    Examples
    --------
    >>> a, b = sympy.symbols("a b", positive=True)
    >>> never_larger((a + b) / 2, frozenset({a, b})), never_larger(a + b, frozenset({a, b}))
    (True, False)
    """
    if not one.free_symbols <= frozenset().union(*(other.free_symbols for other in others)):
        return False  # what none of the others knows may be as large as it likes
    return any(
        sympy.expand(sympy.Add(*chosen) / size - one).is_nonnegative is True
        for size in (1, 2, 3)
        for chosen in combinations(sorted(others, key=sympy.default_sort_key), size)
    )


def same_largest(left: sympy.Expr, right: sympy.Expr) -> bool:
    """Whether two expressions with largest-of are proved equal; False where no proof is found.

    Examples
    --------
    >>> a, b = sympy.symbols("a b", positive=True)
    >>> same_largest(Maximum(a, b, (a + b) / 2), Maximum(a, b))
    True
    >>> same_largest(a + b, Maximum(a, b))
    False
    """
    one, two = sums(left), sums(right)
    return all(never_larger(each, two) for each in one - two) and all(never_larger(each, one) for each in two - one)
