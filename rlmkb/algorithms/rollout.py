"""Algorithm 1 of the paper: rollouts and their log-probabilities, the part of generation that PPO and GRPO share.

Comments give the paper's line numbers. Shapes: B prompts of S tokens, K candidates each, n = B K rollouts,
responses of at most T tokens, V words.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from rlmkb.algorithms.invocations import Invoked, invoke
from rlmkb.algorithms.tasks import Task
from rlmkb.notation import Role, Stage
from rlmkb.theory.algorithms import Call
from rlmkb.verification import transformer
from rlmkb.verification.transformer import Shape

GENERATE = Invoked(Role.POLICY, Stage.GENERATION, Call.GENERATE)


class Rollouts(NamedTuple):
    """The set B_roll, one row per rollout; the K candidates of a prompt follow each other.

    Attributes
    ----------
    tokens : int array [n, S + T]
        Prompt and response; end tokens fill the places after the end.
    mask : bool array [n, T]
        True on the response, its end token included.
    log_probs : array [n, T]
        log pi_theta of each response token when it was sampled; 0 after the end.
    """

    tokens: jax.Array
    mask: jax.Array
    log_probs: jax.Array


def generate(shape: Shape, task: Task, parameters: dict, prompts: jax.Array, K: int, key: jax.Array) -> Rollouts:
    """Sample K responses to each of B prompts [B, S]."""
    every = jnp.repeat(prompts, K, axis=0)  # lines 1-3: all side by side
    return invoke(GENERATE, partial(sample, shape, task), parameters, key, every)


@partial(jax.jit, static_argnums=(0, 1))
def sample(shape: Shape, task: Task, parameters: dict, key: jax.Array, prompts: jax.Array) -> Rollouts:
    """One response to each prompt: one prefill, then a decode step per further token, over a cache that grows."""
    running = jnp.ones(len(prompts), bool)
    response, log_probs, mask = [], [], []  # line 4
    logits, cache = transformer.prefill(shape, parameters, prompts)
    for t, draw in enumerate(jax.random.split(key, task.response_length)):  # line 9
        token = jnp.where(running, jax.random.categorical(draw, logits), task.end)  # line 11
        log_prob = picked(jax.nn.log_softmax(logits), token)  # line 12
        response.append(token)  # line 13
        log_probs.append(jnp.where(running, log_prob, 0))
        mask.append(running)
        running &= token != task.end
        if t + 1 < task.response_length:  # the last token is never fed back
            position, cache = jnp.asarray(task.length + t), transformer.widen(cache, 1)
            logits, cache = transformer.decode_step(shape, parameters, token, position, cache)
    tokens = jnp.concatenate([prompts, jnp.stack(response, axis=1)], axis=1)
    return Rollouts(tokens, jnp.stack(mask, axis=1), jnp.stack(log_probs, axis=1))  # line 15


def log_distributions(shape: Shape, parameters: dict, rollouts: Rollouts) -> jax.Array:
    """log pi(. | x, y_<t) before every response token [n, T, V], by one teacher-forced forward pass."""
    logits = transformer.forward(shape, parameters, rollouts.tokens)["logits"]
    return jax.nn.log_softmax(logits[:, prompt_length(rollouts) - 1 : -1])


@partial(jax.jit, static_argnums=0)
def log_probabilities(shape: Shape, parameters: dict, rollouts: Rollouts) -> jax.Array:
    """log pi(y | x) of every response token [n, T]; 0 after the end, so that sums and ratios need no care."""
    return of_tokens(log_distributions(shape, parameters, rollouts), rollouts)


def of_tokens(distributions: jax.Array, rollouts: Rollouts) -> jax.Array:
    """The entries [n, T] of log-distributions [n, T, V] at the response's tokens; 0 after the end."""
    return jnp.where(rollouts.mask, picked(distributions, rollouts.tokens[:, prompt_length(rollouts) :]), 0)


@partial(jax.jit, static_argnums=0)
def values(shape: Shape, parameters: dict, rollouts: Rollouts) -> jax.Array:
    """V(x, y_<t) before every response token [n, T]; 0 after the end, which is the terminal value."""
    every = transformer.forward(shape, parameters, rollouts.tokens)["values"]
    return jnp.where(rollouts.mask, every[:, prompt_length(rollouts) - 1 : -1], 0)


def prompt_length(rollouts: Rollouts) -> int:
    """Tokens of the prompt, S."""
    return rollouts.tokens.shape[1] - rollouts.mask.shape[1]


def picked(table: jax.Array, tokens: jax.Array) -> jax.Array:
    """The entry of each row [..., V] that the token [...] names."""
    return jnp.take_along_axis(table, tokens[..., None], axis=-1)[..., 0]
