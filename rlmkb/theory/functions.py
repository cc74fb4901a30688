"""The binary logarithm of depth expressions, and closed forms of sums.

A reduction of n numbers has depth log2(n), so every `log` of the paper's depth is `Log2` here: it prints as
``log``, evaluates exactly at powers of two, and becomes ``log2`` in NumPy.
"""

import sympy
from sympy.codegen.cfunctions import log2 as _log2


class Log2(_log2):
    """Base-2 logarithm; `Log2(8)` is 3.

    Examples
    --------
    >>> Log2(sympy.Integer(8))
    3
    """

    def _latex(self, printer, exp=None):
        argument = printer._print(self.args[0])
        if not (self.args[0].is_Symbol or self.args[0].is_Integer):
            argument = rf"\left({argument}\right)"
        text = rf"\log {argument}"
        return text if exp is None else rf"\left({text}\right)^{{{exp}}}"

    def _sympystr(self, printer):
        return f"log2({printer._print(self.args[0])})"

    def _numpycode(self, printer):
        return f"{printer._module_format('numpy.log2')}({printer._print(self.args[0])})"

    def _pythoncode(self, printer):
        return f"{printer._module_format('math.log2')}({printer._print(self.args[0])})"


class LogGammaRatio(sympy.Function):
    """ln(Gamma(upper) / Gamma(lower)), kept as it is.

    sympy's own log-gamma turns into log(gamma(n)) for an integer n, which overflows from n = 172 on, and a difference
    of two loses digits; see `rlmkb.theory.special.log_gamma_ratio`.

    Examples
    --------
    >>> n = sympy.Symbol("n", integer=True, positive=True)
    >>> LogGammaRatio(n, n), LogGammaRatio(n + 1, n).subs(n, 1)
    (0, 0)
    """

    nargs = 2

    @classmethod
    def eval(cls, upper, lower):
        """What sympy asks when one is made: 0 where nothing is left to compute."""
        if upper == lower or (upper.is_Integer and lower.is_Integer and upper <= 2 and lower <= 2):
            return sympy.S.Zero
        return None

    def _eval_evalf(self, precision):
        upper, lower = (sympy.loggamma(arg.evalf()) for arg in self.args)
        return (upper - lower)._eval_evalf(precision)

    def _latex(self, printer, exp=None):
        upper, lower = (rf"\Gamma\left({printer._print(arg)}\right)" for arg in self.args)
        return rf"\ln \frac{{{upper}}}{{{lower}}}"

    def _numpycode(self, printer):
        return f"log_gamma_ratio({', '.join(map(printer._print, self.args))})"

    _pythoncode = _numpycode


class Maximum(sympy.Function):
    """Largest of its arguments, never compared symbolically (sympy's own `Max` may take seconds to try).

    Examples
    --------
    >>> a, b = sympy.symbols("a b", positive=True)
    >>> Maximum(a), Maximum(a, b, a)
    (a, max(a, b))
    """

    @classmethod
    def eval(cls, *args):
        """What sympy asks when one is made: without repetitions, and a number where all are."""
        unique = tuple(dict.fromkeys(args))
        if len(unique) == 1:
            return unique[0]
        if all(arg.is_number for arg in unique):
            return sympy.Max(*unique)
        return cls(*unique) if len(unique) < len(args) else None

    def _sympystr(self, printer):
        return f"max({', '.join(map(printer._print, self.args))})"

    def _latex(self, printer, exp=None):
        text = rf"\max\left\{{{', '.join(map(printer._print, self.args))}\right\}}"
        return text if exp is None else rf"\left({text}\right)^{{{exp}}}"

    def _numpycode(self, printer):
        first, *rest = map(printer._print, self.args)
        for code in rest:
            first = f"{printer._module_format('numpy.maximum')}({first}, {code})"
        return first

    def _pythoncode(self, printer):
        return f"max({', '.join(map(printer._print, self.args))})"


def expand_logs(expr: sympy.Expr) -> sympy.Expr:
    """Write the logarithm of a product as a sum, so that equal depths become the same expression.

    Parameters
    ----------
    expr : sympy.Expr
        Any expression with positive symbols.

    Examples
    --------
    >>> B, m = sympy.symbols("B m", positive=True)
    >>> expand_logs(Log2(B * m**2))
    log2(B) + 2*log2(m)
    """

    def split(argument: sympy.Expr) -> sympy.Expr:
        if argument.is_Mul:
            return sympy.Add(*map(split, argument.args))
        if argument.is_Pow and argument.exp.is_number:
            return argument.exp * split(argument.base)
        return Log2(argument)

    return sympy.expand(expr.replace(Log2, lambda argument: split(sympy.factor(argument))))


def close_sums(expr: sympy.Expr) -> sympy.Expr:
    """Replace every `Sum` by its closed form; sums of logarithms become log-gamma differences.

    The sum over t from a to b of log2(c + t) is LogGammaRatio(c + b + 1, c + a) / log(2), which is evaluated
    without a loop.

    Raises
    ------
    ValueError
        If a sum has no closed form here.

    Examples
    --------
    >>> t, n = sympy.symbols("t n", integer=True, positive=True)
    >>> close_sums(sympy.Sum(2 * t, (t, 1, n)))
    n*(n + 1)
    """
    return expr.replace(lambda node: isinstance(node, sympy.Sum), _close_sum)


def _close_sum(total: sympy.Sum) -> sympy.Expr:
    (index, low, high), *more = total.limits
    if more:
        raise ValueError(f"no closed form for a sum over several indices: {total}")
    return sympy.factor_terms(
        sum(_close_term(term, index, low, high) for term in sympy.Add.make_args(sympy.expand(total.function)))
    )


def _close_term(term: sympy.Expr, index: sympy.Symbol, low: sympy.Expr, high: sympy.Expr) -> sympy.Expr:
    factor, rest = term.as_independent(index, as_Add=False)
    if isinstance(rest, _log2):
        offset = rest.args[0] - index
        if offset.has(index):
            raise ValueError(f"no closed form for a sum of {rest} over {index}")
        return factor * LogGammaRatio(offset + high + 1, offset + low) / sympy.log(2)
    closed = sympy.summation(rest, (index, low, high))
    if closed.has(sympy.Sum):
        raise ValueError(f"no closed form for a sum of {rest} over {index}")
    return factor * sympy.factor(closed)
