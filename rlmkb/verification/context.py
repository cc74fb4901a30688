"""Attention of a sequence that is spread over devices: keys and values round a ring, or heads in place of positions.

Both run inside `jax.shard_map` over a mesh axis named ``context``; a rank has n consecutive positions.
"""

import jax
import jax.numpy as jnp
from jax import lax, named_scope

HIDDEN_FROM_VIEW = -1e30  # masked scores: finite, for a block that is masked throughout is met on the ring


def attend(query: jax.Array, key: jax.Array, value: jax.Array) -> jax.Array:
    """Causal attention of whole sequences, [B, n, h, k] each; masked scores are computed and thrown away."""
    with named_scope("scores"):
        scores = jnp.einsum("bnhk,bchk->bhnc", query, key) * query.shape[-1] ** -0.5
    with named_scope("softmax"):
        position = jnp.arange(query.shape[1])
        share = jax.nn.softmax(jnp.where(position <= position[:, None], scores, -jnp.inf))
    with named_scope("mix"):
        return jnp.einsum("bhnc,bchk->bnhk", share, value)


def ulysses(query: jax.Array, key: jax.Array, value: jax.Array) -> jax.Array:
    """Attention after an all-to-all: a rank gives positions of all heads for all positions of some heads."""
    heads = [_exchange(array, split=2, join=1) for array in (query, key, value)]
    return _exchange(attend(*heads), split=1, join=2)


def _exchange(array: jax.Array, split: int, join: int) -> jax.Array:
    return lax.all_to_all(array, "context", split_axis=split, concat_axis=join, tiled=True)


@jax.custom_vjp
def ring(query: jax.Array, key: jax.Array, value: jax.Array) -> jax.Array:
    """Attention block by block, while keys and values travel round the ring of ranks.

    Every rank meets every block, masked or not. The backward pass sends keys and values round again, and with them
    the gradients that they collect; shares are computed again from the scores, as in flash attention.
    """
    return _ring_forward(query, key, value)[0]


def _ring_forward(query, key, value):
    own, steps = (key, value), lax.axis_size("context")
    top, total, mixed = HIDDEN_FROM_VIEW, 0.0, 0.0
    for step in range(steps):
        scores = _block_scores(query, key, step)
        highest = jnp.maximum(top, scores.max(-1))  # [B, h, n]
        weight, shrink = jnp.exp(scores - highest[..., None]), jnp.exp(top - highest)
        total = total * shrink + weight.sum(-1)
        mixed = mixed * shrink[..., None] + jnp.einsum("bhnc,bchk->bhnk", weight, value)
        top = highest
        if step < steps - 1:
            key, value = _hop(key, value)
    mixed = (mixed / total[..., None]).transpose(0, 2, 1, 3)  # [B, n, h, k]
    return mixed, (query, *own, mixed, top + jnp.log(total))


def _ring_backward(saved, gradient):
    # else a compiler finds keys, values and scores in the forward pass, and keeps all that came round
    (query, key, value, mixed, normaliser), gradient = lax.optimization_barrier((saved, gradient))
    steps = lax.axis_size("context")
    centre = jnp.einsum("bnhk,bnhk->bhn", gradient, mixed)
    of_query, home, travelling = 0.0, None, None
    for step in range(steps):
        share = jnp.exp(_block_scores(query, key, step) - normaliser[..., None])
        of_share = jnp.einsum("bnhk,bchk->bhnc", gradient, value)
        of_scores = share * (of_share - centre[..., None]) * query.shape[-1] ** -0.5
        of_query += jnp.einsum("bhnc,bchk->bnhk", of_scores, key)
        block = jnp.einsum("bhnc,bnhk->bchk", of_scores, query), jnp.einsum("bhnc,bnhk->bchk", share, gradient)
        if step < steps - 1:
            key, value = _hop(key, value)
        if step == 0:
            home = block  # these stay; gradients of another rank's block set out from its second stop
        else:
            travelling = _hop(*(block if step == 1 else _sum(travelling, block)))
    if steps > 1:  # the last hop has brought them home
        home = _sum(home, travelling)
    return (of_query, *home)


ring.defvjp(_ring_forward, _ring_backward)


def _block_scores(query: jax.Array, key: jax.Array, step: int) -> jax.Array:
    """Scores [B, h, n, n] against the block that has come `step` ranks far."""
    n, here = query.shape[1], lax.axis_index("context")
    came_from = (here - step) % lax.axis_size("context")
    rows, columns = here * n + jnp.arange(n), came_from * n + jnp.arange(n)
    scores = jnp.einsum("bnhk,bchk->bhnc", query, key) * query.shape[-1] ** -0.5
    return jnp.where(columns <= rows[:, None], scores, HIDDEN_FROM_VIEW)


def _sum(some, others) -> list[jax.Array]:
    return [one + other for one, other in zip(some, others, strict=True)]


def _hop(*arrays: jax.Array) -> list[jax.Array]:
    ranks = lax.axis_size("context")
    return [lax.ppermute(array, "context", [(i, (i + 1) % ranks) for i in range(ranks)]) for array in arrays]
