"""Disagreements as a notebook shows them: what is printed, what follows, the difference, its size, our reading."""

from collections.abc import Mapping, Sequence

import sympy

from rlmkb.errors import InputError, nearest
from rlmkb.theory.derivations.disagreement import Disagreement
from rlmkb.theory.derivations.disagreements import EVERY
from rlmkb.theory.formula import to_latex
from rlmkb.theory.functions import Maximum
from rlmkb.views.derivations import sum_html
from rlmkb.views.markup import text_html


class ShownDisagreements:
    """Disagreements one below the other, sized at a point; the last line of a cell."""

    def __init__(self, entries: Sequence[Disagreement], at: Mapping[str, object]):
        self.entries, self.at = tuple(entries), dict(at)

    def __repr__(self) -> str:
        return "\n".join(
            f"{entry.id}: {'stands' if entry.stands else 'DOES NOT STAND'}, {size_text(entry, self.at)}"
            for entry in self.entries
        )

    def _repr_html_(self) -> str:
        titled = len(self.entries) > 1  # a single one stands under a heading of its own
        return "".join(disagreement_html(entry, self.at, titled) for entry in self.entries)


def show(*ids: str, at: Mapping[str, object]) -> ShownDisagreements:
    """Disagreements by name.

    Parameters
    ----------
    *ids : str
        Keys of `rlmkb.theory.derivations.disagreements.EVERY`.
    at : mapping
        The point at which their size is given, from symbol name to number.

    Raises
    ------
    InputError
        If there is no disagreement of that name.

    Examples
    --------
    >>> show("critic_gap", at={"L": 1, "d": 2, "d_ff": 8, "m": 4})
    critic_gap: stands, −25 %
    """
    for id in ids:
        if id not in EVERY:
            raise InputError(f"there is no disagreement {id!r}; nearest first: {nearest(id, EVERY)}")
    return ShownDisagreements([EVERY[id] for id in ids], at)


def size_text(entry: Disagreement, at: Mapping[str, object]) -> str:
    """How far the other reading lies from ours, in percent with two digits.

    Examples
    --------
    >>> size_text(EVERY["softmax"], {"h": 32, "S": 8, "L": 1})
    '−97 %'
    """
    size = 100 * entry.size(at)
    if size == 0:
        return "0 %"
    if abs(size) < 0.01:
        return "below 0.01 %"
    shown = f"{size:+.2g}" if abs(size) < 100 else f"{size:+.0f}"
    return f"{shown} %".replace("-", "−")


def disagreement_html(entry: Disagreement, at: Mapping[str, object], titled: bool = True) -> str:
    """Both readings with their sources, the difference as SymPy finds it, its size, and why we read it so.

    Examples
    --------
    >>> disagreement_html(EVERY["softmax"], {"h": 32, "S": 8, "L": 1}).count("<dt>")
    4
    """
    size = f"{size_text(entry, at)} of our reading" if entry.size(at) else "none at this case"
    check = "not zero" if entry.stands else "zero"
    items = (
        ("We use", text_html(entry.ours_source) + _formula(entry, entry.ours)),
        ("Also stated", text_html(entry.other_source) + _formula(entry, entry.other)),
        ("Difference", f"{size}; SymPy: {check}" + _gap(entry)),
        ("Our reading", text_html(entry.why)),
    )
    body = "".join(f"<dt>{name}</dt><dd>{content}</dd>" for name, content in items)
    title = f"<p><strong>{text_html(entry.title)}</strong></p>" if titled else ""
    return f'<div class="rl-derivation">{title}<dl>{body}</dl></div>'


def _formula(entry: Disagreement, expr: sympy.Expr) -> str:
    terms = sum_html(to_latex(expr, entry.where), r"\displaystyle ")
    return f'<p style="overflow: auto hidden">{terms}</p>'


def _gap(entry: Disagreement) -> str:
    # the difference of two largest-of has no form of its own
    return "" if entry.gap.has(Maximum) else _formula(entry, entry.gap)
