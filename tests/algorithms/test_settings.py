"""Tasks, settings and minibatches: what is refused, and what a verifier says."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rlmkb.algorithms import dpo, experiments, grpo, ppo, updates
from rlmkb.algorithms.learning import preference_pairs
from rlmkb.algorithms.tasks import Task
from rlmkb.errors import InputError
from rlmkb.notation import Role
from rlmkb.verification.transformer import Shape

TASK = Task("sort", length=3, digits=6)
SHAPE = Shape(L=1, d=4, d_ff=4, h=1, V=TASK.vocabulary)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"epochs": 0}, "epochs is 0; give an integer of at least 1"),
        ({"clip_range": 0.0}, "clip_range is 0.0; give a number above 0"),
        ({"discount": 1.5}, "discount is 1.5; give a number from 0 to 1"),
        ({"kl_coefficient": float("nan")}, "kl_coefficient is nan; give a number of at least 0"),
        ({"minibatches": 3}, "minibatches is 3, which does not divide the 128 rollouts"),
        ({"candidates": True}, "candidates is True"),
    ],
)
def test_ppo_names_what_is_out_of_range(changes, told):
    with pytest.raises(InputError, match=told):
        ppo.Setting(TASK, SHAPE, SHAPE.with_role(Role.CRITIC), **changes)


def test_a_group_needs_two_candidates():
    with pytest.raises(InputError, match="candidates is 1; a group needs at least 2"):
        grpo.Setting(TASK, SHAPE, candidates=1)
    with pytest.raises(InputError, match="minibatches is 5"):
        grpo.Setting(TASK, SHAPE, minibatches=5)


def test_dpo_needs_a_positive_beta():
    with pytest.raises(InputError, match=r"kl_coefficient is 0\.0; give a number above 0"):
        dpo.Setting(SHAPE, kl_coefficient=0.0)


@pytest.mark.parametrize("wrong", [{"rule": "shuffle"}, {"length": 0}, {"digits": 1}, {"length": 2.0}])
def test_a_task_names_what_is_wrong(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        Task(**wrong)


def test_right_answers_score_one_and_are_solved():
    prompts = np.array([[5, 0, 3], [1, 1, 0]])
    for rule, answers in (("sort", [[0, 3, 5, 6], [0, 1, 1, 6]]), ("reverse", [[3, 0, 5, 6], [0, 1, 1, 6]])):
        task, tokens = Task(rule, length=3, digits=6), np.hstack([prompts, answers])
        assert np.array_equal(task.answers(prompts), answers)
        assert np.array_equal(task.score(tokens, np.ones((2, 4), bool)), [1, 1])
        assert np.array_equal(task.solved(tokens, np.ones((2, 4), bool)), [1, 1])


def test_pairs_differ_in_one_place_and_only_the_preferred_is_right():
    right, wrong = preference_pairs(TASK, 64, jax.random.key(3))
    assert np.array_equal(right.tokens[:, :3], wrong.tokens[:, :3])
    assert np.all(TASK.solved(right.tokens, right.mask) == 1)
    assert np.all(TASK.score(wrong.tokens, wrong.mask) < 1)
    assert np.all(np.asarray(right.mask))
    ended = np.asarray(wrong.mask).sum(axis=1)
    differing = np.asarray(right.tokens != wrong.tokens)[:, 3:] & np.asarray(wrong.mask)
    assert np.all(differing.sum(axis=1) == 1)
    assert ended.min() < TASK.response_length  # an end token too early also is a mistake


def test_minibatches_deal_every_row_once_and_keep_rows_together():
    batch = (jnp.arange(12), jnp.arange(12) * 10)
    parts = list(updates.minibatches(batch, 3, jax.random.key(1)))
    assert [len(part[0]) for part in parts] == [4, 4, 4]
    rows = np.concatenate([part[0] for part in parts])
    assert sorted(rows) == list(range(12))
    assert not np.array_equal(rows, np.arange(12))
    assert all(np.array_equal(part[1], 10 * part[0]) for part in parts)


def test_a_lost_result_is_named():
    with pytest.raises(InputError, match="no stored result 'lerning'; there are: learning"):
        experiments.read("lerning")
