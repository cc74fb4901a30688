"""Small tasks whose answers a program can check: the prompt is digits, the answer digits and an end token."""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp

from rlmkb.errors import InputError

RULES = {"sort": lambda digits: jnp.sort(digits, axis=1), "reverse": lambda digits: digits[:, ::-1]}


@dataclass(frozen=True)
class Task:
    """Sort or reverse a few digits.

    Parameters
    ----------
    rule : str
        ``"sort"`` or ``"reverse"``.
    length : int
        Digits in a prompt, S; an answer has one token more, the end.
    digits : int
        Kinds of digits; the end token comes after them, so the vocabulary has one word more.

    Examples
    --------
    >>> task = Task("reverse", length=3, digits=6)
    >>> task.answers(jnp.array([[4, 0, 2]])).tolist()
    [[2, 0, 4, 6]]
    """

    rule: str = "sort"
    length: int = 3
    digits: int = 6

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise InputError(f"rule of a task is {self.rule!r}; allowed: {', '.join(RULES)}")
        for name, least in (("length", 1), ("digits", 2)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise InputError(f"{name} of a task is {value!r}; give an integer of at least {least}")

    @property
    def vocabulary(self) -> int:
        """Words: the digits and the end token."""
        return self.digits + 1

    @property
    def end(self) -> int:
        """The token that ends a response; it also fills the places after the end."""
        return self.digits

    @property
    def response_length(self) -> int:
        """Most tokens of a response, T: the answer with its end token fits exactly."""
        return self.length + 1

    def prompts(self, key: jax.Array, count: int) -> jax.Array:
        """Random prompts [count, S]."""
        return jax.random.randint(key, (count, self.length), 0, self.digits)

    def answers(self, prompts: jax.Array) -> jax.Array:
        """The right responses [B, T]."""
        return jnp.pad(RULES[self.rule](prompts), ((0, 0), (0, 1)), constant_values=self.end)

    def right(self, tokens: jax.Array, mask: jax.Array) -> jax.Array:
        """Which positions [n, T] of the responses hold the right token; those after the end do not."""
        return (tokens[:, self.length :] == self.answers(tokens[:, : self.length])) & mask

    @partial(jax.jit, static_argnums=0)
    def score(self, tokens: jax.Array, mask: jax.Array) -> jax.Array:
        """Reward [n] between 0 and 1: the share of positions that are right.

        Parameters
        ----------
        tokens : int array [n, S + T]
            Prompts and responses.
        mask : bool array [n, T]
            The response up to its end token.

        Examples
        --------
        A response that ends too early loses the positions it does not have.

        >>> task = Task("sort", length=2, digits=4)
        >>> tokens = jnp.array([[3, 1, 1, 3, 4], [3, 1, 1, 4, 4]])
        >>> mask = jnp.array([[True, True, True], [True, True, False]])
        >>> [round(share, 2) for share in task.score(tokens, mask).tolist()]
        [1.0, 0.33]
        """
        return jnp.mean(self.right(tokens, mask), axis=1)

    @partial(jax.jit, static_argnums=0)
    def solved(self, tokens: jax.Array, mask: jax.Array) -> jax.Array:
        """Whether each response is right in every position, as 0 or 1."""
        return jnp.mean(jnp.all(self.right(tokens, mask), axis=1, keepdims=True), axis=1)
