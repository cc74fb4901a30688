"""What a real decoder keeps for its backward pass, by how tensor and sequence parallelism can split it.

Counted as in Korthikanti et al. (2023): the inputs of norms and products, and both sides of the activation function.
Scores are not kept, as with flash attention; there is no dropout.
"""

from collections import Counter

from rlmkb.architecture.decoder import Decoder
from rlmkb.architecture.layers import Attention, FeedForward, Layer
from rlmkb.errors import InputError

#: As wide as the hidden state on every tensor-parallel rank; only sequence parallelism splits them.
TOKEN_WISE = ("inputs of norms", "inputs of products")


def kept_elements(decoder: Decoder) -> dict[str, int]:
    """Numbers kept per token, summed over the layers, by what they are.

    Parameters
    ----------
    decoder : Decoder
        With softmax attention and a dense feed-forward network in each layer.

    Raises
    ------
    InputError
        If a layer is of another kind.

    Examples
    --------
    A plain layer with d_ff = 4 d keeps 16 d:

    >>> layer = Layer(Attention(heads=1, kv_heads=1, head_dim=4), FeedForward(width=16, gated=False))
    >>> kept_elements(Decoder(4, 10, True, (layer,)))  # doctest: +NORMALIZE_WHITESPACE
    {'inputs of norms': 8, 'inputs of products': 8, 'queries, keys, values': 12, 'attended values': 4,
     'inside the feed-forward network': 32}
    """
    total: Counter[str] = Counter()
    for number, layer in enumerate(decoder.layers, start=1):
        total.update(_of_layer(decoder.d_model, layer, number))
    return dict(total)


def kept_on_rank(decoder: Decoder, tensor: int, *, sequence_parallel: bool) -> dict[str, float]:
    """The same on one of `tensor` tensor-parallel ranks.

    Parameters
    ----------
    decoder : Decoder
    tensor : int
        Degree, at most the number of key and value heads.
    sequence_parallel : bool
        Whether the token-wise parts are cut too.

    Examples
    --------
    >>> layer = Layer(Attention(heads=8, kv_heads=8, head_dim=4), FeedForward(width=128, gated=False))
    >>> decoder = Decoder(32, 10, True, (layer,))
    >>> [sum(kept_on_rank(decoder, 8, sequence_parallel=on).values()) / 32 for on in (False, True)]  # 4 + 12/8, 16/8
    [5.5, 2.0]
    """
    heads = min(layer.mixer.kv_heads for layer in decoder.layers if isinstance(layer.mixer, Attention))
    if not isinstance(tensor, int) or not 1 <= tensor <= heads:
        raise InputError(f"tensor is {tensor!r}; give an integer from 1 to {heads}, the key and value heads")
    return {
        name: count / tensor if sequence_parallel or name not in TOKEN_WISE else float(count)
        for name, count in kept_elements(decoder).items()
    }


def _of_layer(d: int, layer: Layer, number: int) -> dict[str, int]:
    mixer, network = layer.mixer, layer.feed_forward
    if not isinstance(mixer, Attention) or not isinstance(network, FeedForward):
        raise InputError(f"layer {number} is not attention with a dense feed-forward network; its activations vary")
    queries = mixer.heads * mixer.head_dim
    return {
        "inputs of norms": layer.norms * d,
        "inputs of products": 2 * d,
        "queries, keys, values": queries + 2 * mixer.kv_heads * mixer.head_dim,
        "attended values": queries,
        # a gate brings its own output, and its product with the other half
        "inside the feed-forward network": (3 if network.gated else 2) * network.width,
    }
