"""Algorithm 1: what is stored is what a teacher-forced pass finds, and sampling follows the policy."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rlmkb.algorithms.rollout import generate, log_distributions, log_probabilities, values
from rlmkb.algorithms.tasks import Task
from rlmkb.notation import Role
from rlmkb.verification import transformer
from rlmkb.verification.transformer import Shape

TASK = Task("sort", length=1, digits=2)
SHAPE = Shape(L=1, d=4, d_ff=4, h=2, V=TASK.vocabulary)
K = 512


@pytest.fixture(scope="module")
def drawn():
    """Parameters of a policy, and many rollouts of two prompts."""
    with jax.enable_x64(True):
        parameters = transformer.initialise(SHAPE, 1)
        prompts = jnp.array([[0], [1]])
        yield parameters, generate(SHAPE, TASK, parameters, prompts, K, jax.random.key(0))


def test_candidates_of_a_prompt_follow_each_other(drawn):
    _, rollouts = drawn
    assert np.array_equal(rollouts.tokens[:, :1], np.repeat([[0], [1]], K, axis=0))


def test_a_response_ends_with_its_first_end_token_or_at_the_limit(drawn):
    _, rollouts = drawn
    response, mask = np.asarray(rollouts.tokens[:, TASK.length :]), np.asarray(rollouts.mask)
    for tokens, inside in zip(response, mask, strict=True):
        ends = np.flatnonzero(tokens == TASK.end)
        length = ends[0] + 1 if len(ends) else TASK.response_length
        assert np.array_equal(inside, np.arange(TASK.response_length) < length)
        assert np.all(tokens[length:] == TASK.end)
    assert 1 < mask.sum(axis=1).mean() < TASK.response_length  # some end early, some do not


def test_stored_log_probabilities_are_those_of_one_teacher_forced_pass(drawn):
    parameters, rollouts = drawn
    found = log_probabilities(SHAPE, parameters, rollouts)
    np.testing.assert_allclose(found, rollouts.log_probs, atol=1e-12)
    assert not np.any(np.asarray(found)[~np.asarray(rollouts.mask)])


def test_first_tokens_are_drawn_from_the_policy(drawn):
    parameters, rollouts = drawn
    compiled = jax.jit(log_distributions, static_argnums=0)
    share = np.exp(compiled(SHAPE, parameters, rollouts)[::K, 0])  # the same for all candidates
    for n, expected in enumerate(share):
        counted = np.bincount(rollouts.tokens[n * K : (n + 1) * K, TASK.length], minlength=SHAPE.V) / K
        assert np.all(np.abs(counted - expected) < 4 * np.sqrt(expected * (1 - expected) / K))


def test_a_value_knows_the_tokens_before_it_and_no_later_one(drawn):
    parameters, rollouts = drawn
    critic = SHAPE.with_role(Role.CRITIC)
    parameters = parameters | {"scalar_head": jnp.array([1.0, -2.0, 3.0, -4.0])}
    tokens, mask = np.array(rollouts.tokens), np.ones_like(rollouts.mask)
    before = np.asarray(values(critic, parameters, rollouts._replace(tokens=tokens, mask=mask)))
    tokens[:, 1:] = 1 - tokens[:, 1:] % 2
    after = np.asarray(values(critic, parameters, rollouts._replace(tokens=tokens, mask=mask)))
    np.testing.assert_allclose(before[:, 0], after[:, 0], atol=1e-12)
    assert np.abs(before[:, 1] - after[:, 1]).max() > 1e-3


def test_the_same_key_draws_the_same(drawn):
    parameters, rollouts = drawn
    again = partial(generate, SHAPE, TASK, parameters, rollouts.tokens[::K, :1], K)
    with jax.enable_x64(True):
        assert np.array_equal(again(jax.random.key(0)).tokens, rollouts.tokens)
        assert not np.array_equal(again(jax.random.key(1)).tokens, rollouts.tokens)
