"""Algorithm 2 of the paper: PPO. Comments give the paper's line numbers.

Shapes: n rollouts, at most T response tokens. What lies after the end of a response is zero.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from rlmkb.algorithms import updates
from rlmkb.algorithms.invocations import Invoked, invoke
from rlmkb.algorithms.rewards import Reward
from rlmkb.algorithms.rollout import Rollouts, generate, log_distributions, log_probabilities, of_tokens, values
from rlmkb.algorithms.tasks import Task
from rlmkb.algorithms.updates import Trained, minibatches, token_mean
from rlmkb.errors import InputError
from rlmkb.notation import Role, Stage
from rlmkb.theory.algorithms import Call
from rlmkb.verification.transformer import Shape

VALUES = Invoked(Role.CRITIC, Stage.ASSESSMENT, Call.FORWARD)
REFERENCE = Invoked(Role.REFERENCE, Stage.ASSESSMENT, Call.FORWARD)
OWN = Invoked(Role.POLICY, Stage.ASSESSMENT, Call.FORWARD)
TRAIN_POLICY = Invoked(Role.POLICY, Stage.TRAINING, Call.TRAIN)
TRAIN_CRITIC = Invoked(Role.CRITIC, Stage.TRAINING, Call.TRAIN)


@dataclass(frozen=True)
class Setting:
    """What PPO is run with.

    Parameters
    ----------
    task : Task
    policy, critic : Shape
    prompts, candidates : int
        B and K.
    discount, smoothing : float
        gamma and lambda of generalised advantage estimation.
    kl_coefficient, clip_range, entropy_coefficient : float
        beta, epsilon and c_H.
    epochs, minibatches : int
        Passes over the rollouts, and parts of each pass.
    policy_rate, critic_rate : float
        Learning rates.
    decoupled : bool
        Take the current policy, not the one that sampled, as centre of the clipping; see `proximal`.
    """

    task: Task
    policy: Shape
    critic: Shape
    prompts: int = 16
    candidates: int = 8
    discount: float = 1.0
    smoothing: float = 0.95
    kl_coefficient: float = 0.01
    clip_range: float = 0.2
    entropy_coefficient: float = 0.0
    epochs: int = 1
    minibatches: int = 2
    policy_rate: float = 2e-3
    critic_rate: float = 2e-3
    decoupled: bool = False

    def __post_init__(self) -> None:
        rules = dict.fromkeys(("prompts", "candidates", "epochs", "minibatches"), updates.COUNT)
        rules |= dict.fromkeys(("discount", "smoothing"), updates.SHARE)
        rules |= dict.fromkeys(("kl_coefficient", "entropy_coefficient"), updates.NOT_NEGATIVE)
        rules |= dict.fromkeys(("clip_range", "policy_rate", "critic_rate"), updates.POSITIVE)
        updates.check(self, rules)
        if self.prompts * self.candidates % self.minibatches:
            raise InputError(
                f"minibatches is {self.minibatches}, which does not divide the "
                f"{self.prompts * self.candidates} rollouts of an iteration; give a divisor"
            )


class Models(NamedTuple):
    """The models between two iterations; the reference and the reward stay as they are."""

    policy: Trained
    critic: Trained
    reference: dict
    reward: Reward


class Batch(NamedTuple):
    """Rollouts with what assessment adds: advantages [n, T] and returns [n, T]."""

    rollouts: Rollouts
    advantages: jax.Array
    returns: jax.Array


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
    rollouts = generate(setting.policy, setting.task, sampler, prompts, setting.candidates, sampling)  # lines 3-4
    batch = assess(setting, models, rollouts)
    return train(setting, models, batch, shuffling), batch


def assess(setting: Setting, models: Models, rollouts: Rollouts) -> Batch:
    """Rewards, values and reference log-probabilities, then advantages. The three models do not wait for each other."""
    scores = models.reward.scores(rollouts)  # lines 6 and 13: all rollouts side by side
    value = invoke(VALUES, partial(values, setting.critic), models.critic.parameters, rollouts)  # line 19
    reference = invoke(REFERENCE, partial(log_probabilities, setting.policy), models.reference, rollouts)  # line 26
    rewards = shaped_rewards(rollouts, reference, scores, setting.kl_coefficient)
    advantages, returns = advantages_and_returns(rewards, value, setting.discount, setting.smoothing)
    if setting.decoupled:
        rollouts, advantages = proximal(setting, models, rollouts, advantages)
    return Batch(rollouts, advantages, returns)  # line 35


@jax.jit
def shaped_rewards(rollouts: Rollouts, reference: jax.Array, scores: jax.Array, kl_coefficient: float) -> jax.Array:
    """Rewards per token [n, T]: the KL penalty on each, and the score on the last one."""
    following = jnp.pad(rollouts.mask[:, 1:], ((0, 0), (0, 1)))
    last = rollouts.mask & ~following  # the unit vector e_|y|
    return -kl_coefficient * (rollouts.log_probs - reference) + scores[:, None] * last  # line 27


@jax.jit
def advantages_and_returns(rewards: jax.Array, value: jax.Array, discount: float, smoothing: float):
    """Generalised advantage estimates and discounted returns, both [n, T], from the last token to the first.

    Rewards and values are zero after the end; so are, without further care, the terminal value and advantage.
    """

    def step(later, now):
        (later_advantage, later_value), (reward, value) = later, now
        residual = reward + discount * later_value - value  # line 30
        advantage = residual + discount * smoothing * later_advantage  # line 31
        return (advantage, value), advantage

    terminal = jnp.zeros_like(value[:, 0]), jnp.zeros_like(value[:, 0])  # lines 20 and 28
    _, advantages = lax.scan(step, terminal, (rewards.T, value.T), reverse=True)  # lines 29 and 33
    return advantages.T, value + advantages.T  # line 32


def train(setting: Setting, models: Models, batch: Batch, key: jax.Array) -> Models:
    """Epochs of minibatch updates; policy and critic are updated side by side, minibatches one after the other."""
    policy, critic = models.policy, models.critic
    for shuffle in jax.random.split(key, setting.epochs):  # line 38
        for part in minibatches(batch, setting.minibatches, shuffle):  # lines 39-40
            policy = invoke(TRAIN_POLICY, partial(update_policy, setting), policy, part)
            critic = invoke(TRAIN_CRITIC, partial(update_critic, setting), critic, part)
    return models._replace(policy=policy, critic=critic)


@partial(jax.jit, static_argnums=0)
def update_policy(setting: Setting, policy: Trained, batch: Batch) -> Trained:
    """One step down the policy loss."""
    gradients = jax.grad(partial(policy_loss, setting))(policy.parameters, batch)
    return updates.descended(policy, gradients, setting.policy_rate)  # line 70


@partial(jax.jit, static_argnums=0)
def update_critic(setting: Setting, critic: Trained, batch: Batch) -> Trained:
    """One step down the critic loss."""
    gradients = jax.grad(partial(critic_loss, setting))(critic.parameters, batch)
    return updates.descended(critic, gradients, setting.critic_rate)  # line 78


def policy_loss(setting: Setting, parameters: dict, batch: Batch) -> jax.Array:
    """Clipped loss with an entropy bonus."""
    rollouts, advantages, _ = batch  # line 41: all rollouts side by side
    distributions = log_distributions(setting.policy, parameters, rollouts)
    log_probs = of_tokens(distributions, rollouts)  # line 48
    ratios = jnp.exp(log_probs - rollouts.log_probs)  # line 49
    surrogate = clipped(ratios, advantages, setting.clip_range)
    loss = -token_mean(surrogate, rollouts.mask)  # lines 57 and 64-65
    entropy = -jnp.sum(jnp.exp(distributions) * distributions, axis=-1)
    entropy_loss = -token_mean(entropy, rollouts.mask)  # line 67
    return loss + setting.entropy_coefficient * entropy_loss  # line 68


def clipped(ratios: jax.Array, advantages: jax.Array, clip_range: float) -> jax.Array:
    """The smaller of the plain and the clipped product: no gain from moving further than the clip range.

    Examples
    --------
    A ratio of 1.5 earns no more than 1.2 where the advantage is positive; where it is negative, nothing is spared.

    >>> [round(value, 3) for value in clipped(jnp.array([1.5, 1.5]), jnp.array([1.0, -1.0]), 0.2).tolist()]
    [1.2, -1.5]
    """
    return jnp.minimum(ratios * advantages, jnp.clip(ratios, 1 - clip_range, 1 + clip_range) * advantages)


def critic_loss(setting: Setting, parameters: dict, batch: Batch) -> jax.Array:
    """Squared error of the values against the returns."""
    value = values(setting.critic, parameters, batch.rollouts)  # line 55
    return token_mean((value - batch.returns) ** 2, batch.rollouts.mask)  # line 76


def proximal(setting, models, rollouts: Rollouts, advantages: jax.Array) -> tuple[Rollouts, jax.Array]:
    """Not in algorithm 2: stale rollouts, with the current policy in place of the one that sampled.

    The ratio to the policy that sampled corrects the expectation, as a weight on the advantage; clipping stays
    centred on the current policy (decoupled PPO, section IV-E). It costs a forward pass of the policy.
    """
    current = invoke(OWN, partial(log_probabilities, setting.policy), models.policy.parameters, rollouts)
    weights = jnp.exp(current - rollouts.log_probs)
    return rollouts._replace(log_probs=current), weights * advantages
