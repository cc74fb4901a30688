"""What an iteration runs is what the theory's lists say, and its work is the theory's to the last FLOP."""

from functools import cache

import jax
import jax.numpy as jnp
import pytest

from rlmkb.algorithms import dpo, grpo, ppo, updates
from rlmkb.algorithms.invocations import (
    Invoked,
    recorded,
    rehearsed,
    sequences_by_theory,
    sequences_run,
    work_by_theory,
    work_run,
)
from rlmkb.algorithms.rewards import RewardModel, Verifier
from rlmkb.algorithms.rollout import Rollouts
from rlmkb.algorithms.tasks import Task
from rlmkb.notation import Role, Stage
from rlmkb.theory import algorithms as theory
from rlmkb.theory.algorithms import Call
from rlmkb.verification import transformer
from rlmkb.verification.transformer import Shape

TASK = Task("sort", length=3, digits=6)
POLICY = Shape(L=2, d=8, d_ff=12, h=2, V=TASK.vocabulary)
CRITIC = Shape(L=1, d=4, d_ff=10, h=1, V=TASK.vocabulary, role=Role.CRITIC)
REWARD = Shape(L=3, d=6, d_ff=4, h=3, V=TASK.vocabulary, role=Role.REWARD)
B, K = 4, 2
SIZES = {"S": 3, "T": 4, "m": 7, "V": TASK.vocabulary}
for role, shape in (("pi", POLICY), ("V", CRITIC), ("R", REWARD)):
    SIZES |= {f"{name}_{role}": getattr(shape, name) for name in ("L", "d", "d_ff", "h")}
PROMPTS, KEY = jax.ShapeDtypeStruct((B, 3), jnp.int32), jax.random.key(0)
MODEL = RewardModel(REWARD, transformer.parameter_shapes(REWARD))


def trained(shape):
    return jax.eval_shape(lambda parameters: updates.start(parameters, 1e-3), transformer.parameter_shapes(shape))


def of_ppo(reward=MODEL, **changes):
    setting = ppo.Setting(TASK, POLICY, CRITIC, prompts=B, candidates=K, **changes)
    frozen = transformer.parameter_shapes(POLICY)

    def once(policy, critic, reference, prompts, key):
        return ppo.iteration(setting, ppo.Models(policy, critic, reference, with_arrays(reward)), prompts, key)

    return rehearsed(once, trained(POLICY), trained(CRITIC), frozen, PROMPTS, KEY)


@cache
def of_grpo(reward=MODEL, **changes):
    setting = grpo.Setting(TASK, POLICY, prompts=B, candidates=K, **changes)

    def once(policy, reference, prompts, key):
        return grpo.iteration(setting, grpo.Models(policy, reference, with_arrays(reward)), prompts, key)

    return rehearsed(once, trained(POLICY), transformer.parameter_shapes(POLICY), PROMPTS, KEY)


@cache
def of_dpo(pairs=6, **changes):
    setting = dpo.Setting(POLICY, **changes)
    side = Rollouts(
        jax.ShapeDtypeStruct((pairs, 7), jnp.int32), jax.ShapeDtypeStruct((pairs, 4), bool),
        jax.ShapeDtypeStruct((pairs, 4), jnp.float32),
    )  # fmt: skip

    def once(policy, reference, data, key):
        return dpo.train(setting, dpo.Models(policy, reference), data, key)

    return rehearsed(once, trained(POLICY), transformer.parameter_shapes(POLICY), dpo.Pairs(side, side), KEY)


def with_arrays(reward):
    if isinstance(reward, Verifier):
        return reward
    return RewardModel(reward.shape, jax.tree.map(lambda leaf: jnp.zeros(leaf.shape), reward.parameters))


CASES = {
    "PPO": (of_ppo, {}, theory.PPO, {"B": B, "K": K}),
    "PPO, verifier, epochs, minibatches": (
        of_ppo, {"reward": Verifier(TASK), "epochs": 2, "minibatches": 4},
        theory.PPO.with_verifier().with_epochs(2), {"B": B, "K": K},
    ),
    "GRPO": (of_grpo, {}, theory.GRPO, {"B": B, "K": K}),
    "GRPO, decoupled": (of_grpo, {"decoupled": True}, theory.GRPO.with_recomputed_log_probs(), {"B": B, "K": K}),
    "DPO, minibatches": (of_dpo, {"minibatches": 3}, theory.DPO, {"B_pairs": 6}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_models_stages_calls_sequences_and_work_are_those_of_the_theory(case):
    run, changes, algorithm, at = CASES[case]
    runs = run(**changes)
    assert sequences_run(runs) == sequences_by_theory(algorithm, **at)
    assert work_run(runs) == work_by_theory(algorithm, **SIZES, **at)


def test_another_list_is_noticed():
    runs = of_grpo()
    assert sequences_run(runs) != sequences_by_theory(theory.PPO, B=B, K=K)
    assert sequences_run(runs) != sequences_by_theory(theory.GRPO, B=B, K=K + 1)
    assert work_run(runs) != work_by_theory(theory.GRPO, **SIZES | {"d_ff_pi": 13}, B=B, K=K)


def test_every_pass_of_dpo_runs_all_three_again():
    """The policy has changed, so its forward pass repeats; the reference's repeats unless its results are stored."""
    once, thrice = sequences_run(of_dpo(minibatches=3)), sequences_run(of_dpo(epochs=3, minibatches=3))
    assert thrice == {invoked: 3 * sequences for invoked, sequences in once.items()}


def test_dpo_trains_backward_only_since_activations_are_kept():
    work = work_run(of_dpo(minibatches=3))
    forward = work[Invoked(Role.POLICY, Stage.ASSESSMENT, Call.FORWARD)]
    assert work[Invoked(Role.POLICY, Stage.TRAINING, Call.TRAIN)] == 2 * forward
    assert work[Invoked(Role.REFERENCE, Stage.ASSESSMENT, Call.FORWARD)] == forward


def test_recording_ends_with_its_block_and_may_nest():
    verifier = Verifier(Task("sort", length=1, digits=2))
    rollouts = Rollouts(jnp.zeros((1, 3), int), jnp.ones((1, 2), bool), jnp.zeros((1, 2)))
    with recorded() as outer:
        with recorded() as inner:
            verifier.scores(rollouts)
        verifier.scores(rollouts)
    verifier.scores(rollouts)
    assert (len(outer), len(inner)) == (1, 1)
