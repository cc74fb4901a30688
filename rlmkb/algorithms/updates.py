"""Minibatches and optimiser steps, the same for all three algorithms."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from rlmkb.errors import InputError


class Trained(NamedTuple):
    """A model in training: its parameters and the moments of its optimiser."""

    parameters: dict
    moments: Any


def adam(learning_rate: float) -> optax.GradientTransformation:
    """Adam after the gradient is cut to norm 1; an epsilon that keeps steps small where gradients vanish."""
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adam(learning_rate, eps=1e-5))


def start(parameters: dict, learning_rate: float) -> Trained:
    """Training before its first step."""
    return Trained(parameters, adam(learning_rate).init(parameters))


def descended(trained: Trained, gradients: dict, learning_rate: float) -> Trained:
    """One optimiser step."""
    steps, moments = adam(learning_rate).update(gradients, trained.moments, trained.parameters)
    return Trained(optax.apply_updates(trained.parameters, steps), moments)


def minibatches(batch: tuple, count: int, key: jax.Array) -> Iterator[tuple]:
    """Shuffle the rows of a batch and deal them into so many parts of one size.

    Examples
    --------
    >>> parts = minibatches((jnp.arange(6),), 2, jax.random.key(0))
    >>> sorted(row for (part,) in parts for row in part.tolist())
    [0, 1, 2, 3, 4, 5]
    """
    rows = len(jax.tree.leaves(batch)[0])
    for part in jax.random.permutation(key, rows).reshape(count, -1):
        yield _rows(batch, part)


@jax.jit
def _rows(batch: tuple, part: jax.Array) -> tuple:
    return jax.tree.map(lambda array: array[part], batch)


def token_mean(array: jax.Array, mask: jax.Array) -> jax.Array:
    """Sum over the tokens of all responses, divided by their number Z.

    Every token weighs the same, whatever the length of its response. Devices that hold parts of the minibatch must
    add up both sums before they divide.

    Examples
    --------
    >>> float(token_mean(jnp.array([[1.0, 2.0], [6.0, 9.0]]), jnp.array([[True, True], [True, False]])))
    3.0
    """
    return jnp.sum(jnp.where(mask, array, 0)) / jnp.sum(mask)


def check(setting: object, rules: dict[str, tuple[Callable[[Any], bool], str]]) -> None:
    """Refuse a setting outside its range, by name.

    Raises
    ------
    InputError
        For the first value that breaks its rule.
    """
    for name, (allowed, words) in rules.items():
        value = getattr(setting, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not allowed(value):
            raise InputError(f"{name} is {value!r}; give {words}")


def _whole(value: float) -> bool:
    return isinstance(value, int) and value >= 1


COUNT = (_whole, "an integer of at least 1")
NOT_NEGATIVE = (lambda value: 0 <= value < float("inf"), "a number of at least 0")
POSITIVE = (lambda value: 0 < value < float("inf"), "a number above 0")
SHARE = (lambda value: 0 <= value <= 1, "a number from 0 to 1")
