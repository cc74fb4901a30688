"""Index of symbols: equal to what the formulas contain."""

import re

from rlmkb.theory.tables import table
from rlmkb.views.symbols import COST_TABLES, symbol_index_html, tables_of_symbols


def test_every_table_of_formulas_is_looked_at():
    known = [id for id in ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX") if hasattr(table(id), "cells")]
    assert list(COST_TABLES) == known


def test_known_places():
    found = tables_of_symbols()
    assert found["B_pairs"]["work"] == ("IV",)
    assert found["V"].keys() == {"work", "memory"}  # the head's product; the depth of a look-up is none
    assert found["d"]["depth"] == COST_TABLES
    assert "L_pi" not in found
    for name in ("kappa", "eta", "rho"):
        assert found[name] == {}


def test_links_are_given_where_there_are_any():
    html = symbol_index_html({"IV": "a.html#panel-IV"})
    assert re.search(r'<code>K</code>.*?href="a.html#panel-IV">IV</a>, IX</td>', html)
    assert "<a" not in symbol_index_html({})
