"""Where the forward FLOPs of a real decoder go, and from which length on attention over pairs is the larger part."""

from fractions import Fraction

from rlmkb.architecture.decoder import Decoder, forward_flops
from rlmkb.errors import InputError

#: The classes of `forward_flops` in the four groups that a reader compares.
GROUPS = {
    "projections": ("attention", "linear_attention", "recurrence"),
    "feed-forward": ("feed_forward", "router", "experts", "expert_projections", "shared_experts"),
    "attention over pairs": ("attention_pairs",),
    "head": ("lm_head",),
}


def work_shares(decoder: Decoder, length: int, *, causal: bool = True) -> dict[str, float]:
    """Shares of a forward pass's FLOPs by group; they add up to 1.

    Parameters
    ----------
    decoder : Decoder
    length : int
        Tokens in the sequence.
    causal : bool
        As in `forward_flops`; False also gives the shares of a decode step at that context.

    Examples
    --------
    >>> from rlmkb.architecture.layers import Attention, FeedForward, Layer
    >>> layer = Layer(Attention(heads=1, kv_heads=1, head_dim=4), FeedForward(width=16, gated=False))
    >>> work_shares(Decoder(4, 8, True, (layer,)), length=8)  # 128, 256, 64 and 64 of 512
    {'projections': 0.25, 'feed-forward': 0.5, 'attention over pairs': 0.125, 'head': 0.125}
    """
    terms = forward_flops(decoder, length, causal=causal)
    total = sum(terms.values())
    return {group: sum(terms.get(name, 0) for name in names) / total for group, names in GROUPS.items()}


def crossover_length(decoder: Decoder, *, causal: bool = True) -> float:
    """Length at which attention over pairs costs as much as the weight matrices of all layers, in tokens.

    Parameters
    ----------
    decoder : Decoder
    causal : bool
        True for whole sequences, of whose score matrix half counts; False for a decode step.

    Raises
    ------
    InputError
        If no layer attends over pairs.

    Examples
    --------
    >>> from rlmkb.architecture.layers import Attention, FeedForward, Layer
    >>> layer = Layer(Attention(heads=1, kv_heads=1, head_dim=4), FeedForward(width=16, gated=False))
    >>> crossover_length(Decoder(4, 10, True, (layer,)))  # 384 FLOPs of matrices, 8 for each token of length
    48.0
    """
    terms = forward_flops(decoder, 2, causal=causal)
    pairs = terms.get("attention_pairs", 0)
    if not pairs:
        raise InputError("no layer of this decoder attends over pairs of tokens; its cost does not grow with length")
    matrices = sum(terms.get(name, 0) for group in ("projections", "feed-forward") for name in GROUPS[group])
    return float(Fraction(2 * matrices, pairs))
