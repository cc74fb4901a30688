"""Listings: columns agree, text is escaped, numbers keep their value and show four digits."""

import pytest

from rlmkb.errors import InputError
from rlmkb.views.listing import listing

ROWS = [{"model": "a & b", "$W$": 1234567.0}, {"model": "c", "$W$": -0.5}]


def test_numbers_are_shown_rounded_and_kept_whole():
    table = listing(ROWS, "Work")
    assert table.rows[0][1] == 1234567.0
    assert "1.235 × 10<sup>6</sup>" in table._repr_html_()
    assert repr(table).splitlines() == ["model  W", "a & b  1.235 × 10^6", "c      −0.5"]


def test_text_is_escaped_and_mathematics_marked():
    html = listing(ROWS, "Work of <models>")._repr_html_()
    assert "a &amp; b" in html
    assert "Work of &lt;models&gt;" in html
    assert r"\(W\)" in html


def test_rows_of_other_columns_and_empty_tables_are_refused():
    with pytest.raises(InputError, match="has the columns model"):
        listing([*ROWS, {"model": "d"}], "Work")
    with pytest.raises(InputError, match="no rows"):
        listing([], "Work")
