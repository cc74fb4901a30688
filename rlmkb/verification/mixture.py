"""A feed-forward network of routed experts, on one device or spread over the ranks of a mesh axis named ``expert``."""

import math

import jax
import jax.numpy as jnp
from jax import lax, named_scope

from rlmkb.verification.layouts import Experts, Layout


def mixture(experts: Experts, layout: Layout, weights: dict, x: jax.Array) -> jax.Array:
    """Each token through its E_a best experts, weighted by the router.

    Coupled, a rank has its own tokens and sends each to the ranks of its experts (all-to-all), which send the results
    back. Isolated, every rank has all tokens, runs its own experts, and the parts are added up.

    Parameters
    ----------
    weights : dict
        ``router`` [d, E], ``up`` [own E, d, d_e], ``down`` [own E, d_e, d].
    x : array [B, n, d]
        This rank's tokens.
    """
    tokens = x.reshape(-1, x.shape[-1])
    share, slot, room = _route(experts, weights["router"], tokens)
    split, own = layout.cuts("expert"), experts.E // layout.expert
    if split and layout.isolated:
        tokens, share = (lax.pcast(array, ("expert",), to="varying") for array in (tokens, share))
        slot = slot - lax.axis_index("expert") * own * room
        slot = jnp.where((slot >= 0) & (slot < own * room), slot, own * room)
        filled = _fill(tokens, slot, own, room)
    else:
        filled = _fill(tokens, slot, experts.E, room)
        if split:
            filled = lax.all_to_all(filled, "expert", split_axis=0, concat_axis=1, tiled=True)
    with named_scope("up"):
        wide = jax.nn.relu(jnp.einsum("ecd,edf->ecf", filled, weights["up"]))
    with named_scope("down"):
        result = jnp.einsum("ecf,efd->ecd", wide, weights["down"])
    if split and not layout.isolated:
        result = lax.all_to_all(result, "expert", split_axis=1, concat_axis=0, tiled=True)
    found = result.reshape(-1, x.shape[-1]).at[slot].get(mode="fill", fill_value=0)  # [n, E_a, d]
    mixed = jnp.sum(found * share[..., None], axis=1)
    return (lax.psum(mixed, "expert") if split and layout.isolated else mixed).reshape(x.shape)


def _route(experts: Experts, router: jax.Array, tokens: jax.Array) -> tuple[jax.Array, jax.Array, int]:
    """Weight [n, E_a] and slot [n, E_a] of each choice, and the slots of an expert; behind the last one is no slot."""
    with named_scope("router"):
        share, chosen = lax.top_k(jax.nn.softmax(tokens @ router), experts.E_a)
    room = math.ceil(experts.capacity * chosen.size / experts.E)
    flat = chosen.reshape(-1)
    order = jnp.argsort(flat)
    first = jnp.searchsorted(flat[order], jnp.arange(experts.E))
    place = jnp.zeros_like(flat).at[order].set(jnp.arange(flat.size) - first[flat[order]])  # in its expert's queue
    slot = jnp.where(place < room, flat * room + place, experts.E * room)
    return share, slot.reshape(chosen.shape), room


def _fill(tokens: jax.Array, slot: jax.Array, experts: int, room: int) -> jax.Array:
    empty = jnp.zeros((experts * room, tokens.shape[-1]))
    return empty.at[slot].set(tokens[:, None], mode="drop").reshape(experts, room, -1)
