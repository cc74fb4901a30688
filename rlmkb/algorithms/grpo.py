"""Algorithm 3 of the paper: GRPO. Comments give the paper's line numbers.

Shapes: B prompts with K candidates each, n = B K rollouts, at most T response tokens.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from rlmkb.algorithms import updates
from rlmkb.algorithms.invocations import invoke
from rlmkb.algorithms.ppo import REFERENCE, TRAIN_POLICY, clipped, proximal
from rlmkb.algorithms.rewards import Reward
from rlmkb.algorithms.rollout import Rollouts, generate, log_probabilities
from rlmkb.algorithms.tasks import Task
from rlmkb.algorithms.updates import Trained, minibatches, token_mean
from rlmkb.errors import InputError
from rlmkb.verification.transformer import Shape

LARGEST = 40.0  # log-ratio; its exponential is 2e17, far from the largest number of single precision


@dataclass(frozen=True)
class Setting:
    """What GRPO is run with.

    Parameters
    ----------
    task : Task
    policy : Shape
    prompts, candidates : int
        B and K; a group of one has no spread, so K is at least 2.
    kl_coefficient, clip_range : float
        beta and epsilon.
    epochs, minibatches : int
        Passes over the rollouts, and parts of each pass.
    policy_rate : float
        Learning rate.
    decoupled : bool
        Take the current policy, not the one that sampled, as centre of the clipping; see `ppo.proximal`.
    """

    task: Task
    policy: Shape
    prompts: int = 16
    candidates: int = 8
    kl_coefficient: float = 0.01
    clip_range: float = 0.2
    epochs: int = 1
    minibatches: int = 2
    policy_rate: float = 2e-3
    decoupled: bool = False

    def __post_init__(self) -> None:
        rules = dict.fromkeys(("prompts", "candidates", "epochs", "minibatches"), updates.COUNT)
        rules["kl_coefficient"] = updates.NOT_NEGATIVE
        rules |= dict.fromkeys(("clip_range", "policy_rate"), updates.POSITIVE)
        updates.check(self, rules)
        if self.candidates < 2:
            raise InputError("candidates is 1; a group needs at least 2, or every advantage is 0")
        if self.prompts * self.candidates % self.minibatches:
            raise InputError(
                f"minibatches is {self.minibatches}, which does not divide the "
                f"{self.prompts * self.candidates} rollouts of an iteration; give a divisor"
            )


class Models(NamedTuple):
    """The models between two iterations; the reference and the reward stay as they are."""

    policy: Trained
    reference: dict
    reward: Reward


class Batch(NamedTuple):
    """Rollouts with what assessment adds: advantages and reference log-probabilities, both [n, T]."""

    rollouts: Rollouts
    advantages: jax.Array
    reference: jax.Array


def iteration(setting: Setting, models: Models, prompts: jax.Array, key: jax.Array, behaviour: dict | None = None):
    """One turn of the loop of line 1 over a batch of prompts [B, S].

    Parameters
    ----------
    behaviour : dict, optional
        Parameters that sample, if they are older than those that are trained.

    Returns
    -------
    Models, Batch
        The updated models, and what they were trained on.
    """
    sampling, shuffling = jax.random.split(key)  # one turn of line 1
    sampler = models.policy.parameters if behaviour is None else behaviour
    rollouts = generate(setting.policy, setting.task, sampler, prompts, setting.candidates, sampling)  # line 3
    batch = assess(setting, models, rollouts)
    return train(setting, models, batch, shuffling), batch


def assess(setting: Setting, models: Models, rollouts: Rollouts) -> Batch:
    """Rewards and reference log-probabilities side by side, then advantages within each group."""
    scores = models.reward.scores(rollouts)  # lines 5-6 and 13: all rollouts side by side
    reference = invoke(REFERENCE, partial(log_probabilities, setting.policy), models.reference, rollouts)  # line 19
    of_rollouts = group_advantages(scores.reshape(-1, setting.candidates)).reshape(-1, 1)
    advantages = jnp.where(rollouts.mask, of_rollouts, 0)  # the same for every token
    if setting.decoupled:
        rollouts, advantages = proximal(setting, models, rollouts, advantages)
    return Batch(rollouts, advantages, reference)  # lines 25 and 28


@jax.jit
def group_advantages(rewards: jax.Array) -> jax.Array:
    """Rewards [B, K] less their group's mean, over its standard deviation and 1e-8.

    Only differences matter, so the first reward is taken off: equal rewards then give exactly 0. Otherwise the
    rounding of a mean in single precision, divided by 1e-8, would pass for an advantage.

    Examples
    --------
    >>> group_advantages(jnp.array([[0.0, 0.0, 1.0, 1.0], [0.1, 0.1, 0.1, 0.1]])).round(3).tolist()
    [[-1.0, -1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]]
    """
    rewards = rewards - rewards[:, :1]
    mean = jnp.mean(rewards, axis=1, keepdims=True)  # line 21
    std = jnp.sqrt(jnp.mean((rewards - mean) ** 2, axis=1, keepdims=True))  # line 22
    return (rewards - mean) / (std + 1e-8)  # lines 23-24


def train(setting: Setting, models: Models, batch: Batch, key: jax.Array) -> Models:
    """Epochs of minibatch updates, one after the other."""
    policy = models.policy
    for shuffle in jax.random.split(key, setting.epochs):  # line 30
        for part in minibatches(batch, setting.minibatches, shuffle):  # lines 31-32
            policy = invoke(TRAIN_POLICY, partial(update, setting), policy, part)
    return models._replace(policy=policy)


@partial(jax.jit, static_argnums=0)
def update(setting: Setting, policy: Trained, batch: Batch) -> Trained:
    """One step down the loss."""
    gradients = jax.grad(partial(loss, setting))(policy.parameters, batch)
    return updates.descended(policy, gradients, setting.policy_rate)  # line 52


def loss(setting: Setting, parameters: dict, batch: Batch) -> jax.Array:
    """Clipped loss with a KL penalty to the reference."""
    rollouts, advantages, reference = batch  # line 33: all rollouts side by side
    log_probs = log_probabilities(setting.policy, parameters, rollouts)  # line 39
    ratios = jnp.exp(log_probs - rollouts.log_probs)  # line 40
    surrogate = clipped(ratios, advantages, setting.clip_range)
    penalty = setting.kl_coefficient * kl_estimate(reference, log_probs)
    return -token_mean(surrogate - penalty, rollouts.mask)  # lines 43 and 49-50


def kl_estimate(reference: jax.Array, log_probs: jax.Array) -> jax.Array:
    """The estimate k3 of KL(pi_theta || pi_ref) at sampled tokens: never negative, and right on average.

    `expm1` keeps the digits of small differences, which exp(x) - x - 1 loses.

    Examples
    --------
    With x = log 2, k3 is 2 - log 2 - 1.

    >>> round(float(kl_estimate(jnp.log(0.5), jnp.log(0.25))), 4)
    0.3069
    """
    difference = jnp.minimum(reference - log_probs, LARGEST)
    return jnp.expm1(difference) - difference  # line 41
