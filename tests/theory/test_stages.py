"""Stages as functions: every variant composes, and a missing producer is refused."""

from dataclasses import replace

import pytest

from rlmkb.catalogue import entries
from rlmkb.catalogue.algorithms import applied
from rlmkb.errors import InputError
from rlmkb.notation import Role, Stage
from rlmkb.theory.algorithms import ALGORITHMS, DPO, GRPO, PPO, Call
from rlmkb.theory.stages import compose, stage_table, updated, weights

VARIANTS = {
    "ppo": PPO,
    "grpo": GRPO,
    "dpo": DPO,
    "ppo without critic": PPO.without(Role.CRITIC),
    "ppo with verifier": PPO.with_verifier(),
    "ppo without reference": PPO.without(Role.REFERENCE),
    "ppo, log-probabilities recomputed": PPO.with_recomputed_log_probs(),
    "ppo with costs": PPO.with_frozen(Role.COST_MODEL).with_trained(Role.COST_CRITIC),
    "ppo, four epochs": PPO.with_epochs(4),
    "grpo with verifier, no reference": GRPO.with_verifier().without(Role.REFERENCE),
    "grpo, process reward": GRPO.with_process_reward(8),
    "grpo, filtered": GRPO.with_extra_rollouts(3),
    "dpo without reference": DPO.without(Role.REFERENCE),
    "dpo on single responses": DPO.with_sequences_per_example(1),
}


def names(data):
    return [item.name for item in data]


@pytest.mark.parametrize("name", VARIANTS)
def test_each_stage_takes_only_what_was_made_before(name):
    iteration = compose(VARIANTS[name])
    known = set(iteration.inputs)
    for stage in iteration.stages:
        assert set(stage.inputs) <= known
        known |= set(stage.outputs)
    assert set(iteration.outputs) <= known


@pytest.mark.parametrize("name", VARIANTS)
def test_the_next_iteration_can_begin_with_what_this_one_gives(name):
    iteration = compose(VARIANTS[name])
    trained = VARIANTS[name].trained_roles
    assert iteration.outputs == tuple(map(updated, trained))
    assert set(map(weights, trained)) <= set(iteration.inputs)


def test_every_algorithm_of_the_catalogue_composes():
    known = entries("algorithms")
    ids = [id for id, entry in known.items() if entry.based_on or id in ALGORITHMS]
    assert len(ids) > 20
    assert all(compose(applied(id, known, ALGORITHMS)).stages for id in ids)


def test_ppo_is_the_pipeline_of_the_appendix():
    generation, assessment, training = compose(PPO).stages
    assert names(generation.inputs) == ["prompts", "policy"]
    assert names(generation.outputs) == ["rollouts", "sampled log-probabilities"]
    assert names(assessment.outputs) == ["reference log-probabilities", "rewards", "values", "advantages", "returns"]
    assert {"sampled log-probabilities", "advantages", "reference log-probabilities"} <= set(names(training.inputs))
    assert names(training.outputs) == ["next policy", "next critic"]


def test_critic_free_methods_need_no_values():
    assert "values" not in names(compose(GRPO).stages[1].outputs)
    assert names(compose(GRPO).outputs) == ["next policy"]


def test_a_verifier_has_no_weights():
    assert "reward" not in names(compose(GRPO.with_verifier()).inputs)


def test_dpo_has_no_generation():
    iteration = compose(DPO)
    assert [stage.stage for stage in iteration.stages] == [Stage.ASSESSMENT, Stage.TRAINING]
    assert names(iteration.inputs)[0] == "preference pairs"


def test_recomputed_log_probabilities_replace_the_samplers():
    iteration = compose(PPO.with_recomputed_log_probs())
    assert names(iteration.unused) == ["sampled log-probabilities"]
    assert compose(PPO).unused == ()


def without(algorithm, role, call):
    kept = tuple(one for one in algorithm.invocations if (one.role, one.call) != (role, call))
    return replace(algorithm, invocations=kept)


@pytest.mark.parametrize(
    ("algorithm", "message"),
    [
        (PPO.without(Role.REWARD), "needs rewards, which nothing before it makes; add the reward model or a verifier"),
        (without(PPO, Role.CRITIC, Call.FORWARD), "returns for the critic in assessment needs values"),
        (without(GRPO, Role.POLICY, Call.GENERATE), "needs rollouts, .* add the policy in generation"),
        (without(GRPO, Role.POLICY, Call.TRAIN), "no invocation trains the policy"),
        (PPO.with_trained(Role.COST_CRITIC), "needs costs, .* add the cost model in assessment"),
        (replace(DPO, online=True), "needs rollouts"),
        (PPO.with_trained(Role.REWARD), "no function for train of the reward in training"),
    ],
)  # fmt: skip
def test_a_missing_producer_is_refused(algorithm, message):
    with pytest.raises(InputError, match=message) as problem:
        compose(algorithm)
    assert "\n" not in str(problem.value)


def test_the_table_has_a_row_for_each_stage():
    table = stage_table(PPO, GRPO, DPO, GRPO.with_verifier())
    assert len(table.rows) == 3 + 3 + 2 + 3
    assert {len(row) for row in table.rows.values()} == {len(table.columns)}
