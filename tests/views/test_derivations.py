"""Derivations in a notebook: each line with its check, and a broken one says so."""

from dataclasses import replace

import pytest

from rlmkb.errors import InputError
from rlmkb.theory.derivations import DERIVATIONS
from rlmkb.views.derivations import Shown, _terms, derivation_html, show


def test_all_derivations_show_and_none_says_wrong():
    html = show(*DERIVATIONS)._repr_html_()
    assert html.count("<li>") == sum(len(derivation.steps) for derivation in DERIVATIONS.values())
    assert "Wrong" not in html
    assert "is not the formula" not in html
    assert "<strong>Wrong" not in html


def test_a_broken_line_is_marked():
    good = DERIVATIONS["decode"]
    steps = (good.steps[0], replace(good.steps[1], expr=2 * good.steps[1].expr), good.steps[2])
    broken = replace(good, steps=steps)
    assert derivation_html(broken).count("Wrong: it changes the line by") == 2
    assert repr(Shown(broken)) == "decode: 3 lines, DOES NOT HOLD"


def test_a_wrong_result_is_marked():
    assert "is not the formula" in derivation_html(replace(DERIVATIONS["decode"], result=DERIVATIONS["prefill"].result))


def test_an_unknown_name_is_refused():
    with pytest.raises(InputError, match="there is no derivation 'decod'; nearest first: decode"):
        show("decod")


def test_terms_of_a_sum_wrap_and_brackets_stay_whole():
    assert _terms(r"a + \left(b - c\right) - \frac{d + e}{f}") == ["a", r" + \left(b - c\right)", r" - \frac{d + e}{f}"]
    assert _terms(r"- a + \max\left\{b + c, d\right\}") == ["- a", r" + \max\left\{b + c, d\right\}"]
    for line in (line for one in DERIVATIONS.values() for line in one.lines):
        terms = _terms(line.latex)
        assert "".join(terms) == line.latex
        assert all(term.count(r"\left") == term.count(r"\right") for term in terms)
