"""What the ranks of context parallelism exchange for a real decoder, whose keys may be fewer than its queries.

The same counts as `rlmkb.theory.traffic` gives for the canonical model; forward pass, causal attention, even shares.
"""

from collections import Counter

from rlmkb.architecture.decoder import Decoder, cache_elements
from rlmkb.architecture.layers import Attention
from rlmkb.errors import InputError


def ring_elements(decoder: Decoder, length: int, ranks: int) -> float:
    """Elements that one rank sends in a forward pass: the cache of its tokens, once per hop.

    Parameters
    ----------
    decoder : Decoder
    length : int
        Tokens of the whole sequence.
    ranks : int
        At least 1.

    Examples
    --------
    >>> from rlmkb.architecture.layers import FeedForward, Layer
    >>> layer = Layer(Attention(heads=4, kv_heads=2, head_dim=8), FeedForward(width=64, gated=True))
    >>> ring_elements(Decoder(32, 100, False, (layer,)), length=100, ranks=4)  # 3 hops of 25 x 32
    2400.0
    """
    return cache_elements(decoder) * length * (_whole("ranks", ranks) - 1) / ranks


def ulysses_elements(decoder: Decoder, length: int, ranks: int) -> float:
    """Elements that one rank sends in a forward pass: queries, keys and values out, and the outputs back.

    Parameters
    ----------
    decoder : Decoder
        With softmax attention in each layer.
    length : int
        Tokens of the whole sequence.
    ranks : int
        At most the query heads; beyond the key and value heads these are copied, one for each rank.

    Raises
    ------
    InputError
        For more ranks than heads, or a layer without softmax attention.

    Examples
    --------
    >>> from rlmkb.architecture.layers import FeedForward, Layer
    >>> layer = Layer(Attention(heads=4, kv_heads=2, head_dim=8), FeedForward(width=64, gated=True))
    >>> ulysses_elements(Decoder(32, 100, False, (layer,)), length=100, ranks=2)  # half of 50 x (64 + 32)
    2400.0
    """
    width = 0
    for mixer, layers in Counter(_attention(decoder)).items():
        if _whole("ranks", ranks) > mixer.heads:
            raise InputError(f"ranks is {ranks} but there are {mixer.heads} heads; give ranks of at most that")
        width += layers * mixer.head_dim * (2 * mixer.heads + 2 * max(mixer.kv_heads, ranks))
    return width * length / ranks * (ranks - 1) / ranks


def hidden_from(decoder: Decoder, flops_per_byte: float) -> float:
    """Tokens per rank from which on a hop of the ring takes no longer than the attention over the block before it.

    Parameters
    ----------
    decoder : Decoder
        With the same softmax attention in each layer.
    flops_per_byte : float
        FLOP/s of the device over bytes/s of its link, one way; elements are of two bytes.

    Examples
    --------
    As many keys as query heads: with n tokens on a rank a hop brings n x 2 x 2 x 8 bytes per head, and half of
    n x n pairs take 4 x 8 FLOPs each.

    >>> from rlmkb.architecture.layers import FeedForward, Layer
    >>> layer = Layer(Attention(heads=4, kv_heads=4, head_dim=8), FeedForward(width=64, gated=True))
    >>> hidden_from(Decoder(32, 100, False, (layer,)), flops_per_byte=100)
    200.0
    """
    mixers = set(_attention(decoder))
    if len(mixers) > 1:
        raise InputError("layers attend in different ways; ask for one of them")
    (mixer,) = mixers
    return flops_per_byte * 2 * mixer.cache_elements() / (mixer.flops_per_pair() / 2)


def _attention(decoder: Decoder) -> list[Attention]:
    mixers = [layer.mixer for layer in decoder.layers]
    for number, mixer in enumerate(mixers, start=1):
        if not isinstance(mixer, Attention):
            raise InputError(f"layer {number} has no softmax attention with heads to exchange")
    return mixers


def _whole(name: str, value: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(f"{name} is {value!r}; give an integer of at least 1")
    return value
