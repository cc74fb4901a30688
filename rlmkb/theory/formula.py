"""A formula: one sympy expression with its meaning, unit, assumptions and source."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import sympy

from rlmkb.notation import Role, latex_names
from rlmkb.theory.asymptotics import order
from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.functions import close_sums


class Quantity(StrEnum):
    """What a formula measures."""

    WORK = "work"
    DEPTH = "depth"
    MEMORY = "memory"

    @property
    def unit(self) -> str:
        """FLOP for work, steps of a binary reduction for depth, elements (not bytes) for memory."""
        return {"work": "FLOP", "depth": "steps", "memory": "elements"}[self]


@dataclass(frozen=True)
class Term:
    """One named part of a cost, for example the projections of all layers."""

    name: str
    expr: sympy.Expr


@dataclass(frozen=True)
class Terms:
    """A cost as a sum of named terms.

    Examples
    --------
    >>> Terms((Term("a", sympy.Integer(2)), Term("b", sympy.Integer(3)))).total
    5
    """

    terms: tuple[Term, ...]

    def __iter__(self):
        return iter(self.terms)

    def __getitem__(self, name: str) -> sympy.Expr:
        return next(term.expr for term in self.terms if term.name == name)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the terms, in order."""
        return tuple(term.name for term in self.terms)

    @property
    def total(self) -> sympy.Expr:
        """The sum."""
        return sympy.Add(*(term.expr for term in self.terms))

    def scaled(self, factor: sympy.Expr | int) -> "Terms":
        """Every term times a factor."""
        return Terms(tuple(replace(term, expr=factor * term.expr) for term in self.terms))


@dataclass(frozen=True)
class Formula:
    """One quantity, defined once; LaTeX, numbers and tables derive from it.

    Parameters
    ----------
    name : str
        Identifier, for example ``"C_f_tok"``.
    left : str
        LaTeX of the left-hand side.
    expr : sympy.Expr
        In the symbols of `rlmkb.notation` and the handles of `where`.
    quantity : Quantity
        Fixes the unit.
    meaning, source : str
        In words; where it comes from ("Table III", "Appendix B-A4", ...).
    role : Role, optional
        The model it belongs to.
    per : str
        What the cost is counted for ("token", "rollout", "iteration", ...).
    asymptotic : sympy.Expr, optional
        What stands inside the Landau symbol as the paper prints it; derived from `expr` where it prints none.
    landau : str
        ``"O"`` or ``"Theta"``.
    where : tuple of Formula
        The formulas whose handles `expr` contains.
    assumptions : tuple of str
        Under which it holds.
    note : str, optional
        For example that the paper does not print it.

    Examples
    --------
    >>> from rlmkb.notation import symbol
    >>> area = Formula("area", "a", symbol("d") ** 2, Quantity.MEMORY, "entries of a square matrix", "geometry")
    >>> area.evaluate(d=3), area.unit, area.latex
    (9, 'elements', 'd^{2}')
    """

    name: str
    left: str
    expr: sympy.Expr
    quantity: Quantity
    meaning: str
    source: str
    role: Role | None = None
    per: str = "iteration"
    asymptotic: sympy.Expr | None = None
    landau: str = "O"
    where: tuple["Formula", ...] = ()
    assumptions: tuple[str, ...] = ()
    note: str | None = None

    @property
    def unit(self) -> str:
        """The unit of the value."""
        return self.quantity.unit

    @cached_property
    def handle(self) -> sympy.Symbol:
        """A symbol that stands for this formula inside another one."""
        # sympy orders factors and terms by name: the tilde puts blocks after batch sizes, as in BK C_gen, and the
        # role's place keeps the paper's order of models
        place = list(Role).index(self.role) if self.role else 0
        return sympy.Symbol(f"~{self.name}.{place}({self.left})", positive=True)

    @cached_property
    def explicit(self) -> sympy.Expr:
        """The expression in symbols of table I only."""
        return self.expr.xreplace({part.handle: part.explicit for part in self.where})

    @cached_property
    def closed(self) -> sympy.Expr:
        """The explicit expression with its sums replaced by closed forms."""
        return close_sums(self.explicit)

    @property
    def text(self) -> str:
        """The right-hand side as plain text, for terminals.

        Examples
        --------
        >>> from rlmkb.theory.building_blocks import training
        >>> training(Role.CRITIC).text
        'C_b_tok(V) + C_f_tok(V)'
        """
        return self._text(self.expr)

    @property
    def text_asymptotic(self) -> str:
        """The Big-O (or Theta) form as plain text.

        Examples
        --------
        >>> from rlmkb.theory.building_blocks import activation_memory
        >>> activation_memory(Role.POLICY).text_asymptotic
        'Theta(L_pi*d_pi)'
        """
        return f"{self.landau}({self._text(self.leading)})"

    def _text(self, expr: sympy.Expr) -> str:
        text = str(expr)
        for part in self.where:
            model = f"({part.role.suffix})" if part.role else ""
            text = text.replace(part.handle.name, f"{part.name}{model}")
        return text

    @property
    def leading(self) -> sympy.Expr:
        """What stands inside the Landau symbol: as printed, or derived from the expression."""
        return order(self.explicit) if self.asymptotic is None else self.asymptotic

    @property
    def latex(self) -> str:
        """LaTeX of the right-hand side, as the paper writes it (S + T for m)."""
        return to_latex(self.expr, self.where)

    @property
    def latex_explicit(self) -> str:
        """LaTeX of the right-hand side in symbols of table I only."""
        return to_latex(self.explicit)

    @property
    def latex_asymptotic(self) -> str:
        """LaTeX of the Big-O (or Theta) form."""
        landau = {"O": "O", "Theta": r"\Theta"}[self.landau]
        return rf"{landau}\left({to_latex(self.leading, self.where)}\right)"

    @property
    def equation(self) -> str:
        """LaTeX of left-hand side = right-hand side."""
        return f"{self.left} = {self.latex}"

    @property
    def equation_asymptotic(self) -> str:
        """LaTeX of left-hand side = Big-O (or Theta) form."""
        return f"{self.left} = {self.latex_asymptotic}"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.equation}$"

    def evaluate(self, values: Mapping[str, object] | None = None, /, **symbols: object):
        """Value at a point, or at many: arrays broadcast.

        Parameters
        ----------
        values : mapping, optional
            From symbol name to number or array.
        **symbols
            The same as keywords.

        Returns
        -------
        int, float or numpy.ndarray
            In `unit`.

        Raises
        ------
        InputError
            If a value is missing or out of range.
        """
        return evaluate(self.explicit, {**(values or {}), **symbols})


def to_latex(expr: sympy.Expr, where: tuple[Formula, ...] = ()) -> str:
    """LaTeX in the paper's symbols; m is written as S + T where the paper does.

    Examples
    --------
    >>> from rlmkb.notation import symbol
    >>> to_latex(symbol("d_ff") * symbol("m"))
    'd_{\\\\mathrm{ff}} (S+T)'
    """
    names = {**latex_names(), **{part.handle: part.left for part in where}}
    names[sympy.Symbol("m", integer=True, positive=True)] = "(S+T)"
    text = sympy.latex(expr, symbol_names=names, ln_notation=True)
    text = text.replace(r"\left((S+T)\right)", "(S+T)").replace(r"\log (S+T)", r"\log(S+T)")
    return text.replace("{(S+T)}", "{S+T}")
