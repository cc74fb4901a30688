"""The seven insights of section III-H: true for a real case, and able to be false."""

import pytest

from rlmkb.theory.insights_intra import INSIGHTS_INTRA

CASE = {
    "L": 32, "d": 4096, "d_ff": 14336, "h": 32, "V": 128256, "B": 8, "K": 8, "S": 1024, "T": 7168,
    "E": 128, "E_a": 8, "d_e": 768, "P_d": 8, "P_p": 4, "P_t": 4, "P_c": 8, "P_e": 8,
}  # fmt: skip


@pytest.mark.parametrize("id", INSIGHTS_INTRA)
def test_it_holds_for_llama_3_1_8b_shapes(id):
    assert INSIGHTS_INTRA[id].holds(CASE)


CHANGES = {
    "stages": {"T": 1, "S": 8192},  # without decoding, generation has no depth of its own
    "data": {"P_d": 1},
    "capacity": {"P_t": 1},
    "context": {"S": 128, "T": 384},  # 16 times as long is still no long trace
    "frozen": {"P_d": 1},
    "experts": {"E": 8},
    "specialise": {"B": 64},  # activations outgrow the state
}


@pytest.mark.parametrize("id", CHANGES)
def test_it_can_fail(id):
    assert not INSIGHTS_INTRA[id].holds(CASE | CHANGES[id])


def test_each_has_a_case_in_which_it_fails():
    assert CHANGES.keys() == INSIGHTS_INTRA.keys()


@pytest.mark.parametrize(("length", "holds"), [(2048, False), (4096, True)])
def test_context_parallelism_matters_from_some_length_on(length, holds):
    insight = INSIGHTS_INTRA["context"]  # attention is half of the work at 45,056 tokens: 16 times 2,816
    assert insight.holds(CASE | {"S": 1024, "T": length - 1024}) is holds


def test_numbers_one_can_check_by_hand():
    assert INSIGHTS_INTRA["experts"].values(CASE)["experts in memory over experts a token pays for"] == 16
    frozen = INSIGHTS_INTRA["frozen"].values(CASE)
    assert frozen["numbers per weight of a trained replica"] == 4
    assert frozen["the same, sharded over the replicas by ZeRO-3"] == 0.5


def test_there_are_seven_of_section_iii_h():
    assert len(INSIGHTS_INTRA) == 7
    assert {insight.source for insight in INSIGHTS_INTRA.values()} == {"Section III-H"}
