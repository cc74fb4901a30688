"""Placements by named groups: every invocation has one, and the extremes are those of the graph."""

import pytest

from rlmkb.errors import InputError
from rlmkb.notation import Role, Stage
from rlmkb.theory.algorithms import DPO, PPO
from rlmkb.theory.graph import disaggregated, split_by_stage
from rlmkb.theory.placements import grouped


def test_a_group_for_each_role_is_disaggregated():
    assert grouped(PPO, {role.value: (role,) for role in PPO.roles}) == disaggregated(PPO)


def test_the_first_group_that_names_an_invocation_runs_it():
    placement = grouped(PPO, {"rollout": (Stage.GENERATION,), "policy": (Role.POLICY,), "rest": tuple(Role)})
    assert placement[Role.POLICY, Stage.GENERATION] == "rollout"
    assert placement[Role.POLICY, Stage.TRAINING] == "policy"
    assert placement[Role.CRITIC, Stage.TRAINING] == "rest"
    assert set(placement) == set(split_by_stage(PPO))


def test_what_no_group_runs_is_named():
    with pytest.raises(InputError, match="no group runs the reference in assessment"):
        grouped(PPO, {"trained": (Role.POLICY, Role.CRITIC)})


def test_a_group_without_work_is_refused():
    with pytest.raises(InputError, match="'rollout' runs nothing"):
        grouped(DPO, {"rollout": (Stage.GENERATION,), "rest": tuple(Role)})
