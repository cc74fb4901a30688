"""What a disagreement is: one quantity that the paper states in two ways."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import sympy

from rlmkb.theory.derivations.steps import difference
from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.formula import Formula, Quantity


@dataclass(frozen=True)
class Disagreement:
    """One quantity that the paper states in two ways.

    Parameters
    ----------
    id, title : str
        Name, and what is stated twice.
    quantity : Quantity
        Its unit is that of both readings.
    ours_source, other_source : str
        Where each reading stands.
    ours, other : sympy.Expr
        The reading that this project uses, and the one that it does not.
    why : str
        Reason for the choice, one sentence.
    where : tuple of Formula
        Formulas whose handles stand in the readings.

    Examples
    --------
    >>> from rlmkb.theory.derivations.disagreements import DISAGREEMENTS
    >>> DISAGREEMENTS["critic_gap"].stands
    True
    """

    id: str
    title: str
    quantity: Quantity
    ours_source: str
    ours: sympy.Expr
    other_source: str
    other: sympy.Expr
    why: str
    where: tuple[Formula, ...] = ()

    @cached_property
    def gap(self) -> sympy.Expr:
        """other - ours, simplified; in the handles of `where` if there are any.

        Examples
        --------
        >>> from rlmkb.theory.derivations.disagreements import DISAGREEMENTS
        >>> DISAGREEMENTS["prefill_logits"].gap
        2*V*d_pi*(S - 1)
        """
        return difference(self.other, self.ours)

    @property
    def stands(self) -> bool:
        """Whether the readings differ for some values."""
        return self.gap != 0

    def size(self, at: Mapping[str, object]) -> float:
        """(other - ours) / ours at a point.

        Examples
        --------
        >>> from rlmkb.theory.derivations.disagreements import DISAGREEMENTS
        >>> DISAGREEMENTS["critic_gap"].size({"L": 1, "d": 2, "d_ff": 8, "m": 4})  # 3 passes where there are 4
        -0.25
        """
        ours, other = (evaluate(self._explicit(expr), at) for expr in (self.ours, self.other))
        return (other - ours) / ours

    def _explicit(self, expr: sympy.Expr) -> sympy.Expr:
        return expr.xreplace({part.handle: part.explicit for part in self.where})
