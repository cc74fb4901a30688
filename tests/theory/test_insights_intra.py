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


@pytest.mark.parametrize(
    ("id", "change"),
    [
        ("stages", {"T": 1, "S": 8192}),  # without decoding, generation has no depth of its own
        ("data", {"P_d": 1}),
        ("capacity", {"P_t": 1}),
        ("frozen", {"P_d": 1}),
        ("experts", {"E": 8}),
        ("specialise", {"B": 64}),  # activations outgrow the state
    ],
)
def test_it_can_fail(id, change):
    assert not INSIGHTS_INTRA[id].holds(CASE | change)


def test_numbers_one_can_check_by_hand():
    assert INSIGHTS_INTRA["experts"].values(CASE)["experts in memory over experts a token pays for"] == 16
    frozen = INSIGHTS_INTRA["frozen"].values(CASE)
    assert frozen["numbers per weight of a trained replica"] == 4
    assert frozen["the same, sharded over the replicas by ZeRO-3"] == 0.5


def test_there_are_seven_of_section_iii_h():
    assert len(INSIGHTS_INTRA) == 7
    assert {insight.source for insight in INSIGHTS_INTRA.values()} == {"Section III-H"}
