"""Configurations side by side: ratios to the baseline, mixes of stages, and their chart."""

import pytest

from rlmkb.errors import InputError
from rlmkb.theory.algorithms import GRPO, PPO
from rlmkb.theory.configurations import CONFIGURATIONS, shared_actor_critic
from rlmkb.views.configurations import READINGS, SERIAL, changes, mix_chart, mixes

POINT = {"L": 2, "d": 8, "d_ff": 32, "h": 2, "V": 50, "B": 2, "K": 2, "S": 4, "T": 4, "P_t": 2}
SMALL_CRITIC = {"L_V": 1, "d_V": 8, "d_ff_V": 8, "h_V": 2}


def test_every_row_of_table_ix_is_there_relative_to_the_baseline():
    rows = changes(PPO, POINT)
    assert [row["configuration"] for row in rows] == [one.title for one in CONFIGURATIONS.values()]
    assert set(list(rows[0].values())[1:]) == {1.0}
    assert [row["configuration"] for row in rows if row["work"] != 1] == ["shared actor-critic"]
    assert all(row["period"] <= row["critical path"] for row in rows)


def test_a_small_critic_turns_the_work_of_sharing_and_nothing_else():
    shared, small = (changes(PPO, at)[1]["work"] for at in (POINT, POINT | SMALL_CRITIC))
    assert shared < 1 < small


def test_grpo_has_no_critic_to_share():
    assert shared_actor_critic(GRPO) is GRPO
    assert shared_actor_critic(PPO) is not PPO


@pytest.mark.parametrize(
    ("generation", "assessment", "seconds"),
    [
        (0.5, 0.2, (100, 90, 60, 50, 50)),  # 50, 10 and 40 s
        (0.2, 0.0, (100, 100, 80, 80, 80)),  # training alone
        (0.4, 0.5, (100, 70, 70, 50, 40)),  # 40, 30 and 30 s: two batches share 100 s
    ],
)
def test_a_mix_has_the_times_that_one_finds_by_hand(generation, assessment, seconds):
    frame = mixes([generation], [assessment])
    found = dict(zip(frame["configuration"], frame["seconds"], strict=True))
    assert [found[name] for name, _ in READINGS.values()] == list(seconds)
    assert max(found.values()) == SERIAL


def test_the_chart_draws_a_line_for_each_and_starts_at_the_first_share():
    spec = mix_chart(mixes([0.25, 0.75], [0.1, 0.3])).to_dict()
    assert spec["params"][0]["value"] == 0.1
    assert mix_chart(mixes([0.5], [0.1, 0.3]), 0.3).to_dict()["params"][0]["value"] == 0.3
    assert spec["params"][0]["bind"] | {"step": 0.2} == spec["params"][0]["bind"]
    assert spec["encoding"]["strokeDash"]["scale"]["domain"] == [name for name, _ in READINGS.values()]


def test_a_missing_column_is_named():
    with pytest.raises(InputError, match="the chart's data lack seconds"):
        mix_chart(mixes([0.5], [0.0]).drop(columns="seconds"))
