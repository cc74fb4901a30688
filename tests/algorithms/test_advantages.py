"""Shaped rewards, generalised advantages and group advantages against hand-made cases, definitions and limits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rlmkb.algorithms.grpo import group_advantages
from rlmkb.algorithms.ppo import advantages_and_returns, shaped_rewards
from rlmkb.algorithms.rollout import Rollouts

ROWS, T = 3, 5
LENGTHS = np.array([5, 1, 3])
MASK = np.arange(T) < LENGTHS[:, None]
numbers = arrays(float, (ROWS, T), elements=st.floats(-10, 10))
shares = st.floats(0, 1)


@pytest.fixture(autouse=True, scope="module")
def _double_precision():
    with jax.enable_x64(True):
        yield


def by_definition(rewards, values, discount, smoothing):
    """A_t = sum over k of (gamma lambda)^k delta_(t+k), each response by itself, with V = 0 after its end."""
    advantages = np.zeros((ROWS, T))
    for n, length in enumerate(LENGTHS):
        following = np.append(values[n, 1:length], 0.0)
        residuals = rewards[n, :length] + discount * following - values[n, :length]
        for t in range(length):
            advantages[n, t] = sum((discount * smoothing) ** k * residuals[t + k] for k in range(length - t))
    return advantages


@settings(max_examples=40)
@given(numbers, numbers, shares, shares)
def test_advantages_are_the_double_sum_of_their_definition(rewards, values, discount, smoothing):
    rewards, values = rewards * MASK, values * MASK
    advantages, returns = advantages_and_returns(rewards, values, discount, smoothing)
    expected = by_definition(rewards, values, discount, smoothing)
    np.testing.assert_allclose(advantages, expected, atol=1e-10)
    np.testing.assert_allclose(returns, expected + values, atol=1e-10)


def test_two_tokens_by_hand():
    # delta_2 = 1 - 0.4 = 0.6; delta_1 = 0 + 0.5 * 0.4 - 0.2 = 0; A_1 = 0 + 0.5 * 0.5 * 0.6 = 0.15
    advantages, returns = advantages_and_returns(jnp.array([[0.0, 1.0]]), jnp.array([[0.2, 0.4]]), 0.5, 0.5)
    np.testing.assert_allclose(advantages, [[0.15, 0.6]])
    np.testing.assert_allclose(returns, [[0.35, 1.0]])


@settings(max_examples=15)
@given(numbers, numbers, shares)
def test_lambda_one_is_the_discounted_sum_less_the_value(rewards, values, discount):
    rewards, values = rewards * MASK, values * MASK
    sums = [[sum(discount**k * row[t + k] for k in range(T - t)) for t in range(T)] for row in rewards]
    advantages, returns = advantages_and_returns(rewards, values, discount, 1.0)
    np.testing.assert_allclose(returns * MASK, np.array(sums) * MASK, atol=1e-10)
    np.testing.assert_allclose(advantages * MASK, (sums - values) * MASK, atol=1e-10)


@settings(max_examples=15)
@given(numbers, numbers, shares)
def test_lambda_zero_is_the_residual_alone(rewards, values, discount):
    rewards, values = rewards * MASK, values * MASK
    following = np.pad(values[:, 1:], ((0, 0), (0, 1)))
    advantages, _ = advantages_and_returns(rewards, values, discount, 0.0)
    np.testing.assert_allclose(advantages, rewards + discount * following - values, atol=1e-12)


def test_nothing_leaks_in_from_behind_the_end():
    rewards, values = jnp.ones((ROWS, T)) * MASK, jnp.full((ROWS, T), 0.5) * MASK
    whole, _ = advantages_and_returns(rewards, values, 1.0, 0.95)
    alone, _ = advantages_and_returns(rewards[2:, :3], values[2:, :3], 1.0, 0.95)
    np.testing.assert_allclose(whole[2:, :3], alone)
    assert not np.any(np.asarray(whole)[~MASK])


def test_shaped_rewards_put_the_score_on_the_last_token():
    mask, log_probs = jnp.array([[True, True], [True, False]]), jnp.array([[-1.0, -2.0], [-3.0, 0.0]])
    rollouts = Rollouts(jnp.zeros((2, 4), int), mask, log_probs)
    reference = jnp.array([[-1.5, -1.0], [-1.0, 0.0]])
    shaped = shaped_rewards(rollouts, reference, jnp.array([10.0, 20.0]), 0.1)
    np.testing.assert_allclose(shaped, [[-0.05, 10.1], [20.2, 0.0]])


@settings(max_examples=40)
@given(arrays(float, (2, 4), elements=st.floats(-5, 5)), st.floats(-3, 3), st.floats(0.1, 10))
def test_group_advantages_follow_numpy_and_ignore_shift_and_scale(rewards, shift, scale):
    found = np.asarray(group_advantages(rewards))
    centred = rewards - rewards.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(found, centred / (rewards.std(axis=1, keepdims=True) + 1e-8), atol=1e-6)
    if rewards.std(axis=1).min() > 0.1:
        np.testing.assert_allclose(group_advantages(scale * rewards + shift), found, atol=1e-5)
        np.testing.assert_allclose((found.mean(axis=1), found.std(axis=1)), ((0, 0), (1, 1)), atol=1e-6)


def test_two_candidates_give_plus_and_minus_one():
    np.testing.assert_allclose(group_advantages(jnp.array([[0.3, 0.8], [5.0, -5.0]])), [[-1, 1], [1, -1]], rtol=1e-7)


@pytest.mark.parametrize("reward", [0.1, 0.3, 0.7, 0.9])
def test_equal_rewards_give_no_advantage(reward):
    rewards = jnp.full((1, 8), reward, jnp.float32)
    found = group_advantages(rewards)
    assert found.dtype == jnp.float32
    assert not np.any(found)


def test_the_plain_formula_takes_rounding_for_an_advantage():
    """Why `group_advantages` takes the first reward off: in single precision 1e-8 is no protection."""
    worst = 0.0
    for count in (6, 7, 8, 10):
        rewards = np.full(count, 0.7, np.float32)
        aside = rewards - np.float32(rewards.cumsum(dtype=np.float32)[-1] / np.float32(count))
        worst = max(worst, abs(aside / (np.sqrt(np.mean(aside**2)) + np.float32(1e-8))).max())
    assert worst > 0.5
