"""Derivations as a notebook shows them: every line with its reason, its mathematics and its check."""

import re

from rlmkb.errors import InputError, nearest
from rlmkb.theory.derivations import (
    DERIVATIONS,
    INTER_MODEL_DERIVATIONS,
    PARALLEL_DERIVATIONS,
    Derivation,
    Line,
    Relation,
)
from rlmkb.theory.functions import Maximum
from rlmkb.views.markup import math_html, text_html

_TOKEN = re.compile(r"\\left\\?.|\\right\\?.|\\.| [+-] |.")
_OPEN, _CLOSE = (r"\left(", r"\left\{", "{", "("), (r"\right)", r"\right\}", "}", ")")


class Shown:
    """Derivations one below the other; the last line of a cell.

    Examples
    --------
    >>> Shown(DERIVATIONS["kv_cache"])
    kv_cache: 2 lines, holds
    """

    def __init__(self, *derivations: Derivation):
        self.derivations = derivations

    def __repr__(self) -> str:
        return "\n".join(
            f"{one.id}: {len(one.steps)} lines, {'holds' if one.holds else 'DOES NOT HOLD'}" for one in self.derivations
        )

    def _repr_html_(self) -> str:
        return "".join(derivation_html(one) for one in self.derivations)


def show(*ids: str) -> Shown:
    """Derivations by name.

    Parameters
    ----------
    *ids : str
        Keys of `rlmkb.theory.derivations.DERIVATIONS`, `PARALLEL_DERIVATIONS` or `INTER_MODEL_DERIVATIONS`.

    Raises
    ------
    InputError
        If there is no derivation of that name.

    Examples
    --------
    >>> show("decode")
    decode: 3 lines, holds
    """
    known = DERIVATIONS | PARALLEL_DERIVATIONS | INTER_MODEL_DERIVATIONS
    for id in ids:
        if id not in known:
            raise InputError(f"there is no derivation {id!r}; nearest first: {nearest(id, known)}")
    return Shown(*(known[id] for id in ids))


def derivation_html(derivation: Derivation) -> str:
    """Title and lines as a numbered list.

    Examples
    --------
    >>> derivation_html(DERIVATIONS["kv_cache"]).count("<li>")
    2
    """
    title = f"<strong>{text_html(derivation.title)}</strong>"
    head = f'<p>{title} <span class="rl-note">{text_html(derivation.source)}</span></p>'
    first, *others = derivation.lines
    start = _item(first, f"{derivation.left} =", "")
    items = start + "".join(_item(line, line.step.relation, _check(line)) for line in others)
    return f'<div class="rl-derivation">{head}<ol>{items}</ol>{_end(derivation)}</div>'


def _item(line: Line, left: str, check: str) -> str:
    reason = " ".join(text for text in (text_html(line.step.reason), check) if text)
    formula = sum_html(f"{left} {line.latex}", r"\displaystyle ")
    return f'<li><p>{reason}</p><p style="overflow: auto hidden">{formula}</p></li>'


def sum_html(latex: str, style: str = "") -> str:
    """Mathematics that wraps between the terms of a sum."""
    first, *others = _terms(latex)
    # {} before a sign keeps it a binary one
    return " ".join(math_html(style + term) for term in (first, *(f"{{}} {other}" for other in others)))


def _terms(latex: str) -> list[str]:
    """The terms of a sum, each with its sign; what stands in brackets or braces stays together."""
    terms, depth = [""], 0
    for token in _TOKEN.findall(latex):
        depth += (token in _OPEN) - (token in _CLOSE)
        if depth == 0 and token in (" + ", " - ") and terms[-1]:
            terms.append("")
        terms[-1] += token
    return terms


def _check(line: Line) -> str:
    change = sum_html(line.error_latex or "0")
    if not line.holds:
        return f"<strong>Wrong: it changes the line by {change}.</strong>"
    if line.step.relation is Relation.APPROXIMATE and len(line.error.atoms(Maximum)) > 1:
        # the difference of two largest-of has no form of its own
        return '<span class="rl-note">Approximate: not equal where another term is the largest.</span>'
    texts = {
        Relation.EQUAL: "Checked: equal.",
        Relation.APPROXIMATE: f"Approximate: it changes the line by {change}.",
        Relation.BOUND: f"Checked: larger by {change}, which is never negative.",
    }
    return f'<span class="rl-note">{texts[line.step.relation]}</span>'


def _end(derivation: Derivation) -> str:
    if derivation.reaches_result:
        return ""
    return "<p><strong>The last line is not the formula that tables and functions use.</strong></p>"
