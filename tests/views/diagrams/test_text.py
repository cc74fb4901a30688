"""The label markup and its measure."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlmkb.views.diagrams import text

words = st.lists(st.text("abcdefghij kl", min_size=1, max_size=9).filter(str.strip), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("markup", "styles"),
    [
        ("plain", [("plain", False, "")]),
        ("$d_{ff}$", [("d", True, ""), ("ff", False, "sub")]),
        ("$K_j^T$", [("K", True, ""), ("j", True, "sub"), ("T", True, "sup")]),
        ("$log B$", [("log", False, ""), ("\N{THIN SPACE}", False, ""), ("B", True, "")]),
        ("$Σ$", [("Σ", False, "")]),
    ],
)
def test_markup_styles(markup, styles):
    assert [(span.text, span.italic, span.script) for span in text.parse(markup)] == styles


def test_scripts_return_to_the_baseline():
    shifts = re.findall(r'dy="([-.\d]+)"', text.tspans("$x_i^T = y$", 10))
    assert sum(map(float, shifts)) == pytest.approx(0)


@given(words, st.floats(20, 300))
def test_wrapped_lines_fit_and_keep_every_word(parts, room):
    markup = " ".join(parts)
    lines = text.wrap(markup, room, 13)
    assert " ".join(lines).split() == markup.split()
    assert all(text.width(line, 13) <= room for line in lines if " " in line)


@given(st.text("abc W.,", max_size=20), st.text("abc W.,", max_size=20))
def test_width_adds_up_and_bold_is_wider(left, right):
    assert text.width(left + right, 14) == pytest.approx(text.width(left, 14) + text.width(right, 14), abs=0.02)
    assert text.width(left, 14, bold=True) >= text.width(left, 14)


def test_a_formula_is_never_broken():
    assert text.wrap("reads $(S + t) × d$ elements", 10, 13) == ["reads", "$(S + t) × d$", "elements"]


def test_an_unmeasured_character_is_an_error():
    with pytest.raises(KeyError):
        text.width("漢", 14)
