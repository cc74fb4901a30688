"""Algorithm 4 of the paper: DPO. Comments give the paper's line numbers.

Shapes: n preference pairs, 2 n sequences for each model: the preferred responses first, then the others.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from rlmkb.algorithms import updates
from rlmkb.algorithms.invocations import invoke
from rlmkb.algorithms.ppo import OWN, REFERENCE, TRAIN_POLICY
from rlmkb.algorithms.rollout import Rollouts, log_probabilities
from rlmkb.algorithms.updates import Trained, minibatches
from rlmkb.verification.transformer import Shape


@dataclass(frozen=True)
class Setting:
    """What DPO is run with.

    Parameters
    ----------
    policy : Shape
    kl_coefficient : float
        beta: how dear it is to move away from the reference.
    epochs, minibatches : int
        Passes over the pairs, and parts of each pass.
    policy_rate : float
        Learning rate.
    """

    policy: Shape
    kl_coefficient: float = 0.1
    epochs: int = 1
    minibatches: int = 1
    policy_rate: float = 2e-3

    def __post_init__(self) -> None:
        rules = dict.fromkeys(("epochs", "minibatches"), updates.COUNT)
        rules |= dict.fromkeys(("kl_coefficient", "policy_rate"), updates.POSITIVE)
        updates.check(self, rules)


class Pairs(NamedTuple):
    """Preference pairs: both responses with their prompts, row by row."""

    preferred: Rollouts
    dispreferred: Rollouts


class Models(NamedTuple):
    """The policy in training, and the frozen reference."""

    policy: Trained
    reference: dict


def train(setting: Setting, models: Models, pairs: Pairs, key: jax.Array) -> Models:
    """Epochs of minibatch updates, one after the other."""
    for shuffle in jax.random.split(key, setting.epochs):  # line 2
        for part in minibatches(pairs, setting.minibatches, shuffle):  # lines 3-4
            models = step(setting, models, part)
    return models


def step(setting: Setting, models: Models, pairs: Pairs) -> Models:
    """One minibatch. Policy and reference do not wait for each other; the policy keeps its activations."""
    both = jax.tree.map(lambda *halves: jnp.concatenate(halves), *pairs)  # line 5: all pairs side by side
    keeping = partial(response_log_probs_and_backward, setting.policy)
    policy, backward = invoke(OWN, keeping, models.policy.parameters, both)  # lines 12-13
    reference = invoke(REFERENCE, partial(response_log_probs, setting.policy), models.reference, both)  # lines 19-20
    trained = invoke(TRAIN_POLICY, partial(update, setting), models.policy, backward, policy, reference)
    return models._replace(policy=trained)


@partial(jax.jit, static_argnums=0)
def response_log_probs(shape: Shape, parameters: dict, rollouts: Rollouts) -> jax.Array:
    """log pi(y | x) of whole responses [2 n]."""
    return jnp.sum(log_probabilities(shape, parameters, rollouts), axis=1)


@partial(jax.jit, static_argnums=0)
def response_log_probs_and_backward(shape: Shape, parameters: dict, rollouts: Rollouts):
    """The same, and the function that takes gradients back to the parameters."""
    return jax.vjp(lambda theta: response_log_probs(shape, theta, rollouts), parameters)


@partial(jax.jit, static_argnums=0)
def update(setting: Setting, policy: Trained, backward, log_probs: jax.Array, reference: jax.Array) -> Trained:
    """One step down the loss: its slope in each log-probability, then back through the kept activations."""
    slopes = jax.grad(loss)(log_probs, reference, setting.kl_coefficient)
    (gradients,) = backward(slopes)
    return updates.descended(policy, gradients, setting.policy_rate)  # line 30


def loss(log_probs: jax.Array, reference: jax.Array, kl_coefficient: float) -> jax.Array:
    """How surely the policy, measured by the reference, tells the preferred response from the other.

    Examples
    --------
    A policy that is its reference cannot tell: the loss is log 2.

    >>> pair = jnp.array([-1.0, -2.0])
    >>> round(float(loss(pair, pair, 0.1)), 4)
    0.6931
    """
    return -jnp.mean(jax.nn.log_sigmoid(kl_coefficient * log_ratio_difference(log_probs, reference)))  # line 28


def log_ratio_difference(log_probs: jax.Array, reference: jax.Array) -> jax.Array:
    """h [n]: how much more the policy has moved towards the preferred response than towards the other.

    Examples
    --------
    >>> float(log_ratio_difference(jnp.array([-1.0, -5.0]), jnp.array([-2.0, -3.0]))[0])  # (1) - (-2)
    3.0
    """
    preferred, dispreferred = jnp.split(log_probs - reference, 2)
    return preferred - dispreferred  # line 21
