"""Model structures: which invocations go, and that work and memory follow from what is left."""

import pytest

from rlmkb.errors import InputError
from rlmkb.notation import Role, Stage
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import GRPO, PPO
from rlmkb.theory.configurations import Configuration
from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.formula import Quantity
from rlmkb.theory.iteration import BASELINE, iteration_cost, stage_cost
from rlmkb.theory.residency import live_sets
from rlmkb.theory.structures import (
    joint_layers,
    merged_critic_reward,
    partly_shared_actor_critic,
    shared_actor_critic,
    sharing_break_even,
)

SHAPE = {"L": 12, "d": 64, "d_ff": 256, "h": 4}
AT = {**SHAPE, **{f"{name}_ac": size for name, size in SHAPE.items()}, "V": 500, "B": 8, "K": 2, "S": 30, "T": 70}


def work(algorithm, at=AT, stage=None):
    part = iteration_cost(algorithm, Quantity.WORK, BASELINE) if stage is None else stage_cost(
        algorithm, stage, Quantity.WORK, BASELINE)  # fmt: skip
    return part.evaluate(at)


def calls(algorithm):
    return [(call.role.value, call.stage.value) for call in algorithm.invocations]


def test_partial_sharing_merges_training_alone():
    assert calls(partly_shared_actor_critic(PPO)) == [
        ("policy", "generation"), ("reference", "assessment"), ("reward", "assessment"), ("critic", "assessment"),
        ("actor_critic", "training"),
    ]  # fmt: skip


@pytest.mark.parametrize("shared", [0, 5, 12])
def test_each_shared_layer_saves_its_training(shared):
    partly = work(partly_shared_actor_critic(PPO), {**AT, "L_ac": joint_layers(12, 12, shared)})
    body = blocks.forward(Role.CRITIC).evaluate(AT) - blocks.forward(Role.CRITIC).evaluate({**AT, "L_V": 11})
    assert work(PPO) - partly == pytest.approx(8 * 2 * 100 * 3 * shared * body)


def test_all_layers_shared_trains_the_shared_backbone():
    partly, whole = partly_shared_actor_critic(PPO), shared_actor_critic(PPO)
    assert work(partly, stage=Stage.TRAINING) == work(whole, stage=Stage.TRAINING)
    # the shared row also runs the vocabulary head over what is assessed
    saved = work(whole, stage=Stage.ASSESSMENT) - work(partly, stage=Stage.ASSESSMENT)
    assert saved == pytest.approx(8 * 2 * 100 * 2 * 500 * 64)


def test_joint_layers_refuses_more_than_there_are():
    with pytest.raises(InputError, match="give 0 to 8"):
        joint_layers(12, 8, 9)


def test_merging_critic_and_reward_saves_one_pass():
    gone = work(PPO) - work(merged_critic_reward(PPO))
    assert gone == pytest.approx(8 * 2 * 100 * blocks.forward(Role.REWARD).evaluate(AT))
    frozen = merged_critic_reward(PPO, trained=False)
    assert calls(frozen) == [call for call in calls(merged_critic_reward(PPO)) if call != ("critic", "training")]


@pytest.mark.parametrize("edit", [partly_shared_actor_critic, merged_critic_reward])
def test_without_a_critic_there_is_nothing_to_share(edit):
    with pytest.raises(InputError, match="no critic"):
        edit(GRPO)


def test_a_joint_network_is_held_once():
    alone = Configuration("one", "one", structure=partly_shared_actor_critic)
    kept = live_sets(alone, PPO, offload=False)
    at = {**AT, "L_ac": 18}
    held = {Role.ACTOR_CRITIC: 4, Role.REFERENCE: 1, Role.REWARD: 1}
    state = sum(numbers * blocks.parameter_count(role).evaluate(at) for role, numbers in held.items())
    for live in kept:
        explicit = live.resident.xreplace({part.handle: part.explicit for part in live.parts})
        assert evaluate(explicit, at) == state


def test_replicas_share_the_batch_and_repeat_the_weights():
    (generation, *_) = live_sets(Configuration("one", "one"), PPO, offload=False)
    one, two, four = (evaluate(generation.per_replica(count), AT) for count in (1, 2, 4))
    cache = 8 * 2 * blocks.cache_memory().evaluate(AT)
    assert (one - two, two - four) == (cache / 2, cache / 4)
    assert one == evaluate(generation.explicit, AT)


def test_sharing_breaks_even_where_it_says():
    """C_f(V) of a quarter of C_f(pi), and what the value head adds to the shared model's four passes."""
    policy = blocks.forward(Role.POLICY).evaluate(AT)
    found = sharing_break_even(PPO, AT)
    assert found == pytest.approx(1 / 4 + 2 * 64 / policy)
    assert found == pytest.approx(sharing_break_even(PPO, {**AT, "L_V": 3}))
    for layers in (2, 3, 4, 5):
        at = {**AT, "L_V": layers}
        cheaper = work(shared_actor_critic(PPO), at) < work(PPO, at)
        assert cheaper == (blocks.forward(Role.CRITIC).evaluate(at) / policy > found)
