"""The seven insights of section IV-G: true for a real case, and able to be false."""

import pytest

from rlmkb.theory.insights_inter import INSIGHTS_INTER

CASE = {
    "L": 32, "d": 4096, "d_ff": 14336, "h": 32, "V": 128256, "B": 8, "K": 8, "S": 1024, "T": 7168, "P_t": 8, "eta": 1,
}  # fmt: skip
SMALL_CRITIC = {"L_V": 16, "d_V": 2048, "d_ff_V": 8192, "h_V": 32}


@pytest.mark.parametrize("id", INSIGHTS_INTER)
def test_it_holds_for_llama_3_1_8b_shapes(id):
    assert INSIGHTS_INTER[id].holds(CASE)


@pytest.mark.parametrize(
    ("id", "change"),
    [
        ("work", SMALL_CRITIC),  # less than a quarter of the policy's work
        ("placement", {"T": 1, "S": 8191}),  # without decoding, the other stages are most of the path
        ("barriers", {"eta": 0}),
        ("actor", {"T": 2, "S": 8190}),
        ("freshness", {"eta": 0}),
        ("roles", {"T": 2, "S": 8190}),
        ("scarce", SMALL_CRITIC),
    ],
)
def test_it_can_fail(id, change):
    assert not INSIGHTS_INTER[id].holds(CASE | change)


def test_numbers_one_can_check_by_hand():
    values = {id: insight.values(CASE) for id, insight in INSIGHTS_INTER.items()}
    assert values["work"]["largest work of the five other rows over the baseline"] == 1
    assert values["freshness"]["elements of the actor, copy and training state, over the state"] == 1.25
    # two backbones against one; the heads differ by a little
    assert values["scarce"]["trained parameters, shared over separate"] == pytest.approx(0.5, abs=1e-6)
    assert values["barriers"]["critical path, fused and asynchronous, over disaggregated"] == 1


def test_fusion_and_asynchrony_gain_nothing_in_the_path_of_short_responses_either():
    short = INSIGHTS_INTER["barriers"].values(CASE | {"T": 2, "S": 8190})
    assert short["critical path, fused and asynchronous, over disaggregated"] == 1
    assert short["fused, as printed, over disaggregated"] == pytest.approx(6 / 7, abs=0.08)  # two passes, one, and four
    assert short["period at staleness eta over disaggregated"] < 0.65


def test_there_are_seven_of_section_iv_g():
    assert len(INSIGHTS_INTER) == 7
    assert {insight.source for insight in INSIGHTS_INTER.values()} == {"Section IV-G"}
