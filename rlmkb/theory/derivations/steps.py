"""What a derivation is: lines, each with its reason, of which sympy checks that it follows from the one before."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import sympy

from rlmkb.notation import symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.derivations.maxima import same_largest
from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.formula import Formula, to_latex
from rlmkb.theory.functions import Maximum, close_sums, expand_logs

S, T, m = (symbol(name) for name in ("S", "T", "m"))


def difference(left: sympy.Expr, right: sympy.Expr) -> sympy.Expr:
    """left - right, simplified: logarithms expanded, sums closed, and m = S + T where both stand.

    Zero, too, where both are the largest of the same sums; see `rlmkb.theory.derivations.maxima`.

    Examples
    --------
    >>> from rlmkb.theory.functions import Log2
    >>> d = symbol("d")
    >>> difference(Log2(d * m), Log2(d) + Log2(m))
    0
    >>> difference(d * m, d * S)
    T*d
    """
    gap = _expanded(left, right)
    return gap if gap.has(Maximum) else sympy.simplify(gap)  # which knows no largest-of, and searches long


def _expanded(left: sympy.Expr, right: sympy.Expr) -> sympy.Expr:
    """The difference without a search for its shortest form, which takes most of the time."""
    if (left - right).has(Maximum) and same_largest(left, right):
        return sympy.S.Zero
    gap = close_sums(left - right)
    if gap.has(m) and gap.has(S, T):
        gap = gap.xreplace({m: S + T})
    return sympy.expand(expand_logs(gap))


class Relation(StrEnum):
    """How a line follows from the one before: it equals it, leaves something out, or bounds it from above."""

    EQUAL = "="
    APPROXIMATE = r"\approx"
    BOUND = r"\le"


@dataclass(frozen=True)
class Step:
    """One line: an expression, and why it follows from the line before.

    Parameters
    ----------
    reason : str
        In words, one sentence.
    expr : sympy.Expr
        In symbols of table I and handles of the derivation's `where`.
    relation : Relation
        To the line before.
    """

    reason: str
    expr: sympy.Expr
    relation: Relation = Relation.EQUAL


@dataclass(frozen=True)
class Line:
    """A step as it is shown: its LaTeX, what it changed against the line before, and whether it may.

    `error` is in the symbols of table I and handles of `where`.
    """

    step: Step
    latex: str
    error: sympy.Expr
    holds: bool
    where: tuple[Formula, ...] = ()

    @property
    def error_latex(self) -> str | None:
        """LaTeX of this line less the one before; None where they are equal."""
        return None if self.error == 0 else to_latex(self.error, self.where)


@dataclass(frozen=True)
class Derivation:
    """A chain of steps that ends at a formula of the theory.

    Parameters
    ----------
    id, title : str
        Name and heading.
    left : str
        LaTeX of what is derived.
    source : str
        Where the paper derives it.
    steps : tuple of Step
        The first is the starting point.
    result : sympy.Expr
        The formula that the rest of the project uses, made elsewhere; in symbols of table I or the same handles.
    where : tuple of Formula
        Formulas whose handles stand in the steps.

    Examples
    --------
    >>> d = symbol("d")
    >>> twice = Derivation("twice", "Twice", "a", "here", (Step("A sum.", d + d), Step("Add up.", 2 * d)), 2 * d)
    >>> twice.holds
    True
    """

    id: str
    title: str
    left: str
    source: str
    steps: tuple[Step, ...]
    result: sympy.Expr
    where: tuple[Formula, ...] = ()

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Every step with its check."""
        errors = [sympy.Integer(0)]
        errors += [self._gap(after, before) for before, after in zip(self.steps, self.steps[1:], strict=False)]
        return tuple(
            Line(step, to_latex(step.expr, self.where), error, _allowed(step.relation, error), self.where)
            for step, error in zip(self.steps, errors, strict=True)
        )

    @property
    def broken(self) -> tuple[Step, ...]:
        """Steps that claim to be identities or bounds and are not; empty where all hold."""
        return tuple(line.step for line in self.lines if not line.holds)

    @property
    def reaches_result(self) -> bool:
        """Whether the last line is the formula that the rest of the project uses."""
        return self._gap(Step("", self.result), self.steps[-1]) == 0

    @property
    def holds(self) -> bool:
        """Whether all steps hold and the result is reached."""
        return not self.broken and self.reaches_result

    def value(self, at: Mapping[str, object]) -> float:
        """The result at a point, from symbol name to number.

        Examples
        --------
        >>> from rlmkb.theory.derivations import DERIVATIONS
        >>> DERIVATIONS["kv_cache"].value({"L": 1, "d": 2, "m": 4})  # keys and values
        16
        """
        return evaluate(self._explicit(self.result), at)

    def relative_errors(self, at: Mapping[str, object]) -> dict[str, float]:
        """Of each step that is no identity: its change relative to the line before, at a point.

        Examples
        --------
        >>> from rlmkb.theory.derivations import DERIVATIONS
        >>> error = DERIVATIONS["forward"].relative_errors({"L": 1, "d": 2, "d_ff": 8, "V": 10, "m": 4})
        >>> round(next(iter(error.values())), 4)  # 2 L d of 96 + 20 + 40
        -0.0256
        """
        pairs = zip(self.steps, self.lines[1:], strict=False)
        return {
            line.step.reason: evaluate(self._explicit(line.error), at) / evaluate(self._explicit(before.expr), at)
            for before, line in pairs
            if line.error != 0
        }

    def _explicit(self, expr: sympy.Expr) -> sympy.Expr:
        return expr.xreplace({part.handle: part.explicit for part in self.where})

    def _gap(self, after: Step, before: Step) -> sympy.Expr:
        gap = _expanded(after.expr, before.expr)  # most steps hold whatever the handles stand for
        # between two lines in handles, a largest-of of written-out depths says less than one of their names
        handles = {part.handle for part in self.where}
        named = gap.has(Maximum) and all(handles & step.expr.free_symbols for step in (before, after))
        if gap == 0 or (named and after.relation is Relation.APPROXIMATE):
            return gap
        explicit = difference(self._explicit(after.expr), self._explicit(before.expr))
        return gap if named and explicit != 0 else explicit


def _allowed(relation: Relation, error: sympy.Expr) -> bool:
    if relation is Relation.BOUND:
        return bool(sympy.expand(error).is_nonnegative)  # sympy proves the sign, or the bound does not count
    return relation is Relation.APPROXIMATE or error == 0


@dataclass(frozen=True)
class Induction:
    """Proof of a closed form of a sum over t from 1 to T - 1, by induction over T.

    Parameters
    ----------
    total : sympy.Sum
        Over `building_blocks.STEP`.
    closed : sympy.Expr
        What it is claimed to equal.
    """

    total: sympy.Sum
    closed: sympy.Expr

    @property
    def base(self) -> sympy.Expr:
        """The closed form at T = 1, where the sum is empty: must be zero."""
        return sympy.simplify(self.closed.subs(T, 1))

    @property
    def growth(self) -> sympy.Expr:
        """closed(T + 1) - closed(T): must be the summand at t = T."""
        return sympy.expand(self.closed.subs(T, T + 1) - self.closed)

    @property
    def summand(self) -> sympy.Expr:
        """The summand at t = T, which the sum gains from T to T + 1."""
        return sympy.expand(self.total.function.subs(blocks.STEP, T))

    @property
    def holds(self) -> bool:
        """Whether the base is zero and the growth is the summand.

        Examples
        --------
        >>> from rlmkb.theory.derivations import decode_closed_form
        >>> Induction(blocks.decode().expr, decode_closed_form()).holds
        True
        """
        return self.base == 0 and sympy.simplify(self.growth - self.summand) == 0
