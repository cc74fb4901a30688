"""One decode step of a real decoder: its FLOPs, the numbers that it reads, and the batch that its cache allows.

Weights are read once for the whole batch, each cache by its own sequence. What is written, and activations, are
left out. All functions broadcast NumPy arrays over `context` and `batch`.
"""

from fractions import Fraction

import numpy as np

from rlmkb.architecture.decoder import Decoder, cache_elements, forward_flops, parameters, state_elements
from rlmkb.architecture.layers import Attention, Experts, LatentAttention
from rlmkb.errors import InputError

BF16 = 2  # bytes


def decode_flops(decoder: Decoder, context, batch=1):
    """FLOPs of one decode step: one token for each sequence of the batch.

    Parameters
    ----------
    decoder : Decoder
    context : int or array
        Positions in each sequence's cache, the new token's among them.
    batch : int or array
        Sequences.

    Returns
    -------
    int or array
        In FLOP. Latent attention is counted as decoded: queries meet the latent itself, so that no keys and values
        are rebuilt.

    Examples
    --------
    >>> from rlmkb.architecture.layers import FeedForward, Layer
    >>> layer = Layer(Attention(heads=1, kv_heads=1, head_dim=4), FeedForward(width=16, gated=False))
    >>> decode_flops(Decoder(4, 10, True, (layer,)), context=8)  # 128 + 256 + 80, and 16 for each position
    592
    """
    context, batch = _numbers(context, batch)
    return batch * (_per_token(decoder) + _per_position(decoder) * context)


def weights_read(decoder: Decoder, batch=1):
    """Weights that one decode step reads, on average.

    A batch reads a dense matrix once. Of experts it reads those that some token is sent to; tokens are assumed to
    choose independently, all experts equally likely.

    Examples
    --------
    >>> from rlmkb.architecture.layers import FeedForward, Layer
    >>> moe = Experts(count=4, active=1, expert=FeedForward(width=16, gated=False))
    >>> decoder = Decoder(4, 10, True, (Layer(None, moe),))
    >>> weights_read(decoder), weights_read(decoder, batch=2)  # router 16, head 40, expert 128 (1.75 of them)
    (184.0, 280.0)
    """
    experts = _routed(decoder)
    dense = float(_matrices(decoder) - experts)
    if not experts:
        return dense + 0 * batch
    part = next(layer.feed_forward for layer in decoder.layers if isinstance(layer.feed_forward, Experts))
    return dense + experts * experts_read(part.count, part.active, batch) / part.active


def experts_read(count: int, active: int, tokens):
    """Experts of a layer that some token is sent to, on average; tokens choose independently, all equally likely.

    Parameters
    ----------
    count, active : int
        Experts of the layer, and those of one token.
    tokens : int or array
        Tokens that are decoded together.

    Examples
    --------
    >>> experts_read(4, 1, tokens=1), experts_read(4, 1, tokens=2)  # the second token misses the first's in 3 of 4
    (1.0, 1.75)
    """
    return (1 - (1 - active / count) ** tokens) * count


def cache_read(decoder: Decoder, context, batch=1):
    """Numbers of cache, and of recurrent state, that one decode step reads.

    Examples
    --------
    >>> from rlmkb.architecture.layers import FeedForward, Layer
    >>> layer = Layer(Attention(heads=4, kv_heads=2, head_dim=8), FeedForward(width=64, gated=True))
    >>> cache_read(Decoder(32, 100, False, (layer,)), context=10, batch=3)  # 3 x 10 x 2 x 2 x 8
    960
    """
    context, batch = _numbers(context, batch)
    return batch * (context * cache_elements(decoder) + state_elements(decoder))


def intensity(decoder: Decoder, context, batch=1, element_bytes: float = BF16):
    """Arithmetic intensity of one decode step, in FLOP per byte read.

    Parameters
    ----------
    decoder : Decoder
    context, batch : int or array
        As in `decode_flops`.
    element_bytes : float
        Bytes of a weight and of a number in the cache.

    Examples
    --------
    >>> from rlmkb.architecture.layers import FeedForward, Layer
    >>> layer = Layer(None, FeedForward(width=16, gated=False))
    >>> intensity(Decoder(4, 10, True, (layer,)), context=1, batch=7)  # no attention: one FLOP per byte and sequence
    7.0
    """
    read = weights_read(decoder, batch) + cache_read(decoder, context, batch)
    return decode_flops(decoder, context, batch) / (element_bytes * read)


def cache_bytes_per_token(decoder: Decoder, element_bytes: float = BF16) -> float:
    """Bytes that one token adds to the cache."""
    return cache_elements(decoder) * element_bytes


def tokens_as_large_as_weights(decoder: Decoder) -> float:
    """Cached tokens, over all sequences, that take as much memory as all weights.

    Raises
    ------
    InputError
        If the decoder keeps no cache.

    Examples
    --------
    >>> from rlmkb.architecture.layers import FeedForward, Layer
    >>> layer = Layer(Attention(heads=1, kv_heads=1, head_dim=4), FeedForward(width=16, gated=False), norms=0)
    >>> tokens_as_large_as_weights(Decoder(4, 10, True, (layer,), model_norms=0))  # (64 + 128 + 40) / 8
    29.0
    """
    kept = cache_elements(decoder)
    if not kept:
        raise InputError("this decoder keeps no cache that grows with length")
    return float(Fraction(sum(parameters(decoder).values()), kept))


def sequences_that_fit(decoder: Decoder, context: int, memory_bytes: float, element_bytes: float = BF16) -> int:
    """Sequences whose caches fit into memory beside all weights, and nothing else; 0 if the weights do not fit.

    Examples
    --------
    >>> from rlmkb.architecture.layers import FeedForward, Layer
    >>> layer = Layer(Attention(heads=1, kv_heads=1, head_dim=4), FeedForward(width=16, gated=False), norms=0)
    >>> decoder = Decoder(4, 10, True, (layer,), model_norms=0)
    >>> sequences_that_fit(decoder, context=10, memory_bytes=1000)  # (1000 - 464) / 160
    3
    """
    free = memory_bytes - element_bytes * sum(parameters(decoder).values())
    return max(0, int(free // (element_bytes * cache_read(decoder, context))))


def _numbers(*values):
    """Arrays as float64, since a product of counts soon exceeds 64-bit integers; Python's integers never do."""
    return [value if isinstance(value, int | float) else np.asarray(value, dtype=float) for value in values]


def _per_token(decoder: Decoder) -> int:
    """FLOPs of one token whatever its context."""
    return sum(flops for name, flops in forward_flops(decoder, 1).items() if name != "attention_pairs")


def _matrices(decoder: Decoder) -> int:
    """Weights that multiply one token: two FLOPs each."""
    return (_per_token(decoder) - forward_flops(decoder, 1).get("recurrence", 0)) // 2


def _routed(decoder: Decoder) -> int:
    return forward_flops(decoder, 1).get("experts", 0) // 2


def _per_position(decoder: Decoder) -> int:
    return sum(_pair(layer.mixer) for layer in decoder.layers if isinstance(layer.mixer, Attention | LatentAttention))


def _pair(mixer: Attention | LatentAttention) -> int:
    """FLOPs of one query token with one cached position."""
    if isinstance(mixer, LatentAttention):
        rebuilt = 2 * mixer.heads * (mixer.nope_dim + mixer.rope_dim + mixer.value_dim)
        absorbed = 2 * mixer.heads * (mixer.kv_rank + mixer.rope_dim + mixer.kv_rank)
        return mixer.flops_per_pair() - rebuilt + absorbed
    return mixer.flops_per_pair()
