"""Rows of the inter-model chapters against the table and the graph."""

from dataclasses import replace

import pytest

from rlmkb.errors import InputError
from rlmkb.measurements import measurements
from rlmkb.notation import Role
from rlmkb.theory.algorithms import DPO, GRPO, PPO
from rlmkb.theory.graph import IterationGraph, co_located, disaggregated
from rlmkb.theory.structures import shared_actor_critic
from rlmkb.theory.tables import table
from rlmkb.views.inter_model import (
    by_network,
    moved,
    period_rows,
    placement_rows,
    readings,
    structure_rows,
    timed_step,
    use_rows,
)
from rlmkb.views.strategies import rows
from rlmkb.views.tables import cost_table_html

SHAPE = {"L": 12, "d": 64, "d_ff": 256, "h": 4}
AT = {**SHAPE, **{f"{name}_ac": size for name, size in SHAPE.items()}, "V": 500, "B": 8, "K": 2, "S": 30, "T": 70,
      "P_t": 2, "B_pairs": 8}  # fmt: skip
NINE = table("IX", at=AT)
STAGES = ("generation", "assessment", "training")


def stages_of(row, quantity):
    return [NINE.cell(row, stage=stage, quantity=quantity).value for stage in STAGES]


def test_each_printed_depth_is_named_for_what_it_is():
    kinds = {row["configuration"]: row["printed is"] for row in readings(AT)}
    assert kinds == {
        "co-located baseline": "critical path = period", "shared actor-critic": "critical path = period",
        "disaggregated models": "critical path = period", "a layout per stage": "critical path = period",
        "stage fusion": "neither", "asynchronous execution": "period", "all combined": "period",
    }  # fmt: skip


@pytest.mark.parametrize("algorithm", [GRPO, DPO])
def test_without_a_critic_no_shared_row(algorithm):
    assert "shared actor-critic" not in [row["configuration"] for row in readings(AT, algorithm)]


def test_table_ix_of_another_algorithm():
    ppo, grpo = NINE, table("IX", at=AT, algorithm="grpo")
    names = {"stage": "training", "quantity": "work"}
    assert grpo.cell("baseline", **names).value < ppo.cell("baseline", **names).value
    assert "ac_shared" in {cell.row for cell in ppo.cells} - {cell.row for cell in grpo.cells}
    assert grpo.title.endswith("GRPO")
    with pytest.raises(InputError, match="algorithm goes with table IX"):
        table("IV", algorithm="grpo")
    with pytest.raises(InputError, match="allowed, nearest first: grpo"):
        table("IX", algorithm="grppo")


def test_stages_that_are_several_at_once_have_words():
    html = cost_table_html(rows(NINE, "async"))
    assert "the whole iteration" in html
    assert html.index("Honest value") < html.index("Formula") < html.index("Honest formula")


def test_structures_are_told_against_the_first():
    told = structure_rows({"separate": (PPO, AT), "shared": (shared_actor_critic(PPO), AT),
                           "critic-free": (PPO.without(Role.CRITIC), AT)})  # fmt: skip
    assert [row["invocations"] for row in told] == [6, 5, 4]
    assert [row["work (%)"] for row in told] == sorted((row["work (%)"] for row in told), reverse=True)
    works = [sum(stages_of(row, "work")) for row in ("baseline", "ac_shared")]
    assert told[1]["work (%)"] == pytest.approx(100 * works[1] / works[0])


def test_placements_agree_with_the_table():
    told = placement_rows({"one": co_located(PPO), "four": disaggregated(PPO)}, AT)
    for row, name in zip(told, ("baseline", "disaggregated"), strict=True):
        assert row["depth (steps)"] == pytest.approx(sum(stages_of(name, "depth")))
    assert told[0]["all kept ($10^9$)"] > told[1]["all kept ($10^9$)"]
    assert told[0]["state of all groups ($10^9$)"] == told[1]["state of all groups ($10^9$)"]


def test_seconds_of_a_run():
    step = timed_step(measurements("rl_phase_times").iloc[0])
    step = replace(step, at={**step.at, "B": 32})
    graphs = {"four": IterationGraph(PPO, disaggregated(PPO))}
    runs = {"four": step.run(graphs["four"], iterations=2)}
    (row,) = period_rows(graphs, runs, step)
    assert row["critical path (s)"] == pytest.approx(row["period (s)"])
    used = use_rows(runs, {"four": dict.fromkeys(graphs["four"].groups, 1.0)})
    assert [use["group"] for use in used] == ["policy", "reference", "reward", "critic"]
    busiest = runs["four"].use["policy"]
    assert (used[0]["slower (%)"], used[0]["idle (%)"]) == pytest.approx((100 * busiest.underused, 100 * busiest.idle))
    assert used[1]["idle (%)"] > used[0]["idle (%)"] >= 0


def test_networks_are_groups():
    assert by_network(PPO) == disaggregated(PPO)
    assert len(set(by_network(shared_actor_critic(PPO)).values())) == 3


def test_other_devices_scale_generation_by_bandwidth_and_passes_by_arithmetic():
    step = timed_step(measurements("rl_phase_times").iloc[0])
    h20 = moved(step, was="h100-sxm5-80gb", rollout="h20-sxm-96gb", trainer="h20-sxm-96gb")
    assert h20.generation < step.generation  # more bandwidth
    assert h20.training / step.training == pytest.approx(h20.forward / step.forward)
    assert h20.training > 6 * step.training
