"""The losses against finite differences, limits, sums written out, and exact expectations over a tiny vocabulary."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlmkb.algorithms import dpo, grpo, ppo
from rlmkb.algorithms.grpo import LARGEST, kl_estimate
from rlmkb.algorithms.rollout import Rollouts
from rlmkb.algorithms.tasks import Task
from rlmkb.notation import Role
from rlmkb.verification.transformer import Shape

ROWS, S, T, V = 4, 2, 3, 5
SHAPE = Shape(L=1, d=4, d_ff=4, h=1, V=V)
TASK = Task("sort", length=S, digits=V - 1)
RANDOM = np.random.default_rng(0)
LOGITS = RANDOM.normal(size=(ROWS, T, V))
TOKENS = RANDOM.integers(0, V, (ROWS, S + T))
MASK = np.arange(T) < np.array([[3], [1], [2], [3]])
OLD = -np.abs(RANDOM.normal(size=(ROWS, T))) * MASK
ADVANTAGES = RANDOM.normal(size=(ROWS, T)) * MASK
ROLLOUTS = Rollouts(jnp.array(TOKENS), jnp.array(MASK), jnp.array(OLD))


@pytest.fixture(autouse=True)
def _table_for_a_policy(monkeypatch):
    """Logits in a table stand in for the Transformer, whose own derivatives are not in question here."""
    monkeypatch.setattr(ppo, "log_distributions", lambda shape, table, rollouts: jax.nn.log_softmax(table))
    monkeypatch.setattr(ppo, "values", lambda shape, table, rollouts: table * MASK)
    monkeypatch.setattr(grpo, "log_probabilities", lambda shape, table, rollouts: log_probs(table))
    with jax.enable_x64(True):
        yield


def log_probs(table):
    chosen = jnp.take_along_axis(jax.nn.log_softmax(jnp.asarray(table)), TOKENS[:, S:, None], axis=-1)[..., 0]
    return chosen * MASK


def differences(function, at, step=1e-6):
    """Central differences in every entry."""
    gradient = np.zeros_like(at)
    for place in np.ndindex(at.shape):
        aside = np.zeros_like(at)
        aside[place] = step
        gradient[place] = (function(at + aside) - function(at - aside)) / (2 * step)
    return gradient


def same(one, other, at):
    """Both functions have one gradient."""
    gradients = jax.jit(lambda x: (jax.grad(one)(x), jax.grad(other)(x)))(at)
    np.testing.assert_allclose(*gradients, atol=1e-12)


def ppo_loss(table, **changes):
    setting = ppo.Setting(TASK, SHAPE, SHAPE.with_role(Role.CRITIC), **changes)
    return ppo.policy_loss(setting, table, ppo.Batch(ROLLOUTS, jnp.array(ADVANTAGES), None))


def grpo_loss(table, **changes):
    reference = jnp.array(np.roll(OLD, 1, axis=0) * MASK)
    batch = grpo.Batch(ROLLOUTS, jnp.array(ADVANTAGES), reference)
    return grpo.loss(grpo.Setting(TASK, SHAPE, **changes), table, batch)


def critic_loss(table):
    setting = ppo.Setting(TASK, SHAPE, SHAPE.with_role(Role.CRITIC))
    return ppo.critic_loss(setting, table, ppo.Batch(ROLLOUTS, None, jnp.array(ADVANTAGES)))


@pytest.mark.parametrize(
    ("loss", "at"),
    [
        (lambda table: ppo_loss(table, entropy_coefficient=0.3), LOGITS),
        (lambda table: grpo_loss(table, kl_coefficient=0.2), LOGITS),
        (critic_loss, OLD),
        (lambda table: dpo.loss(jnp.asarray(table).ravel(), jnp.array(ADVANTAGES).ravel(), 0.7), OLD),
    ],
    ids=["ppo", "grpo", "critic", "dpo"],
)
def test_gradients_are_finite_differences(loss, at):
    compiled = jax.jit(loss)
    np.testing.assert_allclose(jax.jit(jax.grad(loss))(at), differences(compiled, at), atol=1e-8)


def test_ppo_loss_is_the_sum_over_tokens_written_out():
    total, entropies, tokens = 0.0, 0.0, 0
    share = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=-1, keepdims=True)
    chosen = np.log(np.take_along_axis(share, TOKENS[:, S:, None], axis=-1)[..., 0])
    for n, t in np.argwhere(MASK):
        ratio, advantage = np.exp(chosen[n, t] - OLD[n, t]), ADVANTAGES[n, t]
        total += min(ratio * advantage, min(max(ratio, 0.8), 1.2) * advantage)
        entropies -= sum(p * np.log(p) for p in share[n, t])
        tokens += 1
    assert tokens == 9
    plain, with_bonus = jax.jit(lambda table: (ppo_loss(table), ppo_loss(table, entropy_coefficient=0.5)))(LOGITS)
    assert float(plain) == pytest.approx(-total / tokens)
    assert float(with_bonus) == pytest.approx(-(total + 0.5 * entropies) / tokens)


def test_critic_loss_by_hand():
    batch = ppo.Batch(ROLLOUTS, None, jnp.full((ROWS, T), 1.0))
    setting = ppo.Setting(TASK, SHAPE, SHAPE.with_role(Role.CRITIC))
    assert float(ppo.critic_loss(setting, jnp.full((ROWS, T), 3.0), batch)) == pytest.approx(4.0)


def test_grpo_without_penalty_is_ppo_without_bonus():
    assert float(grpo_loss(LOGITS, kl_coefficient=0.0)) == pytest.approx(float(ppo_loss(LOGITS)))


def test_grpo_penalty_is_the_mean_estimate_times_beta():
    reference = np.roll(OLD, 1, axis=0) * MASK
    away = (reference - np.asarray(log_probs(LOGITS)))[MASK]
    penalty = np.mean(np.exp(away) - away - 1)
    with_penalty, without = (float(grpo_loss(LOGITS, kl_coefficient=beta)) for beta in (0.2, 0.0))
    assert with_penalty - without == pytest.approx(0.2 * penalty)


def test_without_clipping_the_gradient_is_that_of_the_weighted_sum():
    def weighted(table):
        return -jnp.sum(jnp.exp(log_probs(table) - OLD) * ADVANTAGES) / MASK.sum()

    same(lambda table: ppo_loss(table, clip_range=1e9), weighted, LOGITS)


def test_at_the_sampling_policy_the_gradient_is_reinforce():
    def reinforce(table):
        return -jnp.sum(log_probs(table) * ADVANTAGES) / MASK.sum()

    def on_policy(table):
        batch = ppo.Batch(ROLLOUTS._replace(log_probs=log_probs(LOGITS)), jnp.array(ADVANTAGES), None)
        return ppo.policy_loss(ppo.Setting(TASK, SHAPE, SHAPE.with_role(Role.CRITIC)), table, batch)

    same(on_policy, reinforce, LOGITS)


@pytest.mark.parametrize(
    ("ratio", "advantage", "moves"), [(1.5, 1, False), (0.5, 1, True), (1.5, -1, True), (0.5, -1, False)]
)
def test_clipping_stops_only_what_would_gain(ratio, advantage, moves):
    slope = jax.grad(lambda r: ppo.clipped(r, float(advantage), 0.2))(ratio)
    assert (float(slope) != 0) is moves


# --- the KL estimate -------------------------------------------------------------------------------------------------


@given(st.floats(-80, 80, width=32))
def test_kl_estimate_is_never_negative_and_never_overflows(difference):
    found = kl_estimate(jnp.float32(difference), jnp.float32(0))
    assert np.isfinite(found)
    assert found >= 0


@pytest.mark.parametrize("far", [1e3, 1e30])
def test_kl_estimate_and_its_gradient_stay_finite_far_away(far):
    value, slope = jax.value_and_grad(kl_estimate, argnums=1)(jnp.float32(far), jnp.float32(0))
    assert np.isfinite(value)
    assert np.isfinite(slope)
    assert float(value) == pytest.approx(np.expm1(LARGEST) - LARGEST)


@settings(max_examples=30)
@given(st.floats(1e-3, 0.1), st.sampled_from([-1, 1]))
def test_kl_estimate_keeps_the_digits_of_small_differences(size, sign):
    difference = np.float32(sign * size)
    exact = np.expm1(float(difference)) - float(difference)
    assert float(kl_estimate(jnp.float32(difference), jnp.float32(0))) == pytest.approx(exact, rel=1e-3)


def test_kl_estimate_is_right_on_average():
    policy, reference = jax.nn.log_softmax(LOGITS[0, 0]), jax.nn.log_softmax(LOGITS[1, 1])
    kl = jnp.sum(jnp.exp(policy) * (policy - reference))
    assert float(jnp.sum(jnp.exp(policy) * kl_estimate(reference, policy))) == pytest.approx(float(kl))


def test_gradient_of_the_kl_estimate_is_that_of_the_other_divergence():
    """As a loss on samples, k3 pulls like KL(pi_ref || pi_theta), not like the KL(pi_theta || pi_ref) it estimates."""
    reference, at = jax.nn.log_softmax(LOGITS[1, 1]), LOGITS[0, 0]
    share = jax.nn.softmax(at)  # of the samples; not differentiated

    def of_samples(logits):
        return jnp.sum(share * kl_estimate(reference, jax.nn.log_softmax(logits)))

    def other(logits):
        return jnp.sum(jnp.exp(reference) * (reference - jax.nn.log_softmax(logits)))

    same(of_samples, other, at)


# --- DPO -------------------------------------------------------------------------------------------------------------


def test_dpo_loss_by_hand():
    # h = (1 - 0.5) - (2 - 3) = 1.5 for one pair, -1 for the other; beta = 2
    policy, reference = jnp.array([1.0, 0.0, 2.0, 1.0]), jnp.array([0.5, 0.0, 3.0, 0.0])
    np.testing.assert_allclose(dpo.log_ratio_difference(policy, reference), [1.5, -1.0])
    expected = (np.log1p(np.exp(-3.0)) + np.log1p(np.exp(2.0))) / 2
    assert float(dpo.loss(policy, reference, 2.0)) == pytest.approx(expected)


def test_dpo_starts_at_log_two_whatever_beta():
    for beta in (0.01, 1.0, 50.0):
        assert float(dpo.loss(jnp.array(OLD[0, :2]), jnp.array(OLD[0, :2]), beta)) == pytest.approx(np.log(2))


def test_dpo_only_feels_differences():
    policy = jnp.array([1.0, 0.0, 2.0, 1.0])
    assert float(dpo.loss(policy + 7, policy - 3, 0.5)) == pytest.approx(np.log(2))


@given(st.floats(-1e4, 1e4))
def test_dpo_loss_does_not_overflow(far):
    value, slope = jax.value_and_grad(dpo.loss)(jnp.array([far, 0.0]), jnp.zeros(2), 1.0)
    assert np.isfinite(value)
    assert np.isfinite(slope).all()
    assert float(value) >= 0
