"""The comparison table says exact only where it is."""

from dataclasses import replace

from rlmkb.notation import Role
from rlmkb.theory.formula import Quantity
from rlmkb.verification.comparison import Row
from rlmkb.views.traced import agreement, numbers_table, ratio_table

WORK = Row(Role.POLICY, "forward", Quantity.WORK, 10**15, 10**15, "C_f")


def test_one_flop_in_a_quadrillion_is_not_exact():
    assert agreement(WORK) == "exact"
    assert agreement(replace(WORK, traced=10**15 + 1)) == "1.000"


def test_depth_may_differ_in_the_last_digits_only():
    depth = replace(WORK, quantity=Quantity.DEPTH, formula=815.0)
    assert agreement(replace(depth, traced=815.0000000000001)) == "exact"
    assert agreement(replace(depth, traced=815.001)) == "1.000"


def test_a_role_without_the_program_has_an_empty_cell():
    other = replace(WORK, role=Role.CRITIC, program="training", traced=2 * 10**15)
    table = ratio_table([WORK, other], "Example")
    assert table.columns == ("Program", "Formula", "policy", "critic")
    assert table.rows == [["forward, work", "$C_f$", "exact", None], ["training, work", "$C_f$", None, "2.000"]]
    assert "<caption>Example</caption>" in table._repr_html_()


def test_numbers_stand_beside_each_other():
    (line,) = numbers_table([replace(WORK, traced=5, formula=4)], "Example").rows
    assert line == ["policy", "$C_f$", "FLOP", 5, 4, "1.250"]
