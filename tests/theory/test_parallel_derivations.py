"""Appendix B-C: every derivation holds and ends at the partition's form, and a wrong line is caught."""

from dataclasses import replace

import pytest

from rlmkb.notation import symbol
from rlmkb.theory.derivations import PARALLEL_DERIVATIONS, Relation, Step
from rlmkb.theory.derivations.parallel import SECTIONS
from rlmkb.theory.formula import Quantity
from rlmkb.theory.parallel_tables import Scope, parallel_formula
from rlmkb.theory.partition import STRATEGIES


@pytest.mark.parametrize("id", PARALLEL_DERIVATIONS)
def test_every_step_holds_and_the_form_is_reached(id):
    derivation = PARALLEL_DERIVATIONS[id]
    assert derivation.broken == ()
    assert derivation.reaches_result


def test_every_section_has_work_depth_and_memory():
    assert set(SECTIONS) == set(STRATEGIES)
    for row in STRATEGIES:
        for quantity in ("work", "depth", "memory"):
            assert f"{row}_{quantity}_rank" in PARALLEL_DERIVATIONS


def test_results_are_the_cells_of_table_vii():
    for row, strategy in STRATEGIES.items():
        for quantity in Quantity:
            printed = parallel_formula(strategy, Scope.PER_RANK, quantity).explicit
            result = PARALLEL_DERIVATIONS[f"{row}_{quantity.value}_rank"].result
            assert (printed - result).equals(0), (row, quantity)


@pytest.mark.parametrize("id", ["data_depth_global", "pipeline_memory_global", "expert_work_rank", "5d_memory_rank"])
def test_an_added_term_is_caught_in_every_line(id):
    derivation = PARALLEL_DERIVATIONS[id]
    for place, step in enumerate(derivation.steps):
        steps = list(derivation.steps)
        steps[place] = replace(step, expr=step.expr + symbol("N"), relation=Relation.EQUAL)
        assert not replace(derivation, steps=tuple(steps)).holds, f"line {place + 1}"


def test_dividing_the_width_twice_is_caught():
    """Substituting d / P_t for d would take two factors from d^2."""
    honest = PARALLEL_DERIVATIONS["tensor_work_rank"]
    d, degree = symbol("d"), symbol("P_t")
    wrong = Step("Every width is divided.", honest.steps[0].expr.subs(d, d / degree))
    assert replace(honest, steps=(wrong, *honest.steps[1:])).broken == (honest.steps[1],)


def test_only_the_head_is_left_out():
    inexact = [(id, line.step.relation) for id, one in PARALLEL_DERIVATIONS.items() for line in one.lines
               if line.error != 0]  # fmt: skip
    assert inexact == [("none_work_rank", Relation.APPROXIMATE), ("none_depth_rank", Relation.APPROXIMATE)]
