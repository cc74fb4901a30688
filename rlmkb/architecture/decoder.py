"""A decoder as a composition of layers, and its counts as sums of named terms.

Each quantity is one function that returns a term's value by name; the quantity is the sum of the values.
Conventions: a multiply-add is two FLOPs; logits of every token; the router counts; looking up an embedding,
norms, softmax, biases and activations are free.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from operator import index

from rlmkb.architecture.layers import Attention, Experts, FeedForward, LatentAttention, Layer
from rlmkb.errors import InputError

Terms = dict[str, int]


@dataclass(frozen=True, slots=True)
class Decoder:
    """The shape of a decoder-only transformer or hybrid.

    Attributes
    ----------
    d_model, vocab_size : int
        Width, and rows of the embedding table (padding included).
    tied_embeddings : bool
        Whether the output head shares the embedding table.
    layers : tuple of Layer
        From the first to the last.
    norm_vectors : int
        Numbers per channel in a norm: 1 for RMSNorm, 2 for LayerNorm (weight and bias), 0 without weights.
    model_norms : int
        Norms outside the layers: the final one, and one after the embedding where there is one.
    learned_positions : int
        Rows of the table of learned positions.
    rotary_dim : int
        Numbers of a head that are rotated by position, where the angles are computed for each token.
    head_bias : bool
        Whether the output head adds a bias.
    checkpoint_extra : int
        Values that the published checkpoint holds beside the decoder.
    remarks : tuple of str
        What a reader of the counts must know about this model.
    """

    d_model: int
    vocab_size: int
    tied_embeddings: bool
    layers: tuple[Layer, ...]
    norm_vectors: int = 1
    model_norms: int = 1
    learned_positions: int = 0
    rotary_dim: int = 0
    head_bias: bool = False
    checkpoint_extra: int = 0
    remarks: tuple[str, ...] = ()


def parameters(decoder: Decoder) -> Terms:
    """Trainable weights by class; tied tables count once, as `input_embedding`.

    Examples
    --------
    A layer with one 4-wide head, a plain 16-wide FFN and two RMSNorms; ten words, tied:

    >>> layer = Layer(Attention(heads=1, kv_heads=1, head_dim=4), FeedForward(width=16, gated=False))
    >>> parameters(Decoder(4, 10, True, (layer,)))
    {'input_embedding': 40, 'attention': 64, 'feed_forward': 128, 'norms': 12}
    """
    return _model_parameters(decoder, lambda experts: experts.count)


def active_parameters(decoder: Decoder) -> Terms:
    """Weights that one token uses, by class: all but the idle routed experts, both tables included.

    Examples
    --------
    >>> moe = Experts(count=8, active=2, expert=FeedForward(width=16, gated=False))
    >>> decoder = Decoder(4, 10, True, (Layer(None, moe, norms=0),))
    >>> parameters(decoder)["experts"], active_parameters(decoder)["experts"]
    (1024, 256)
    """
    return _model_parameters(decoder, lambda experts: experts.active)


def router_buffers(decoder: Decoder) -> int:
    """Router biases that balance the load: stored in a checkpoint, but no trainable weights."""
    routers = (layer.feed_forward for layer in decoder.layers if isinstance(layer.feed_forward, Experts))
    return sum(experts.count for experts in routers if experts.router_bias == "buffer")


def checkpoint_values(decoder: Decoder) -> int:
    """Values in the published checkpoint: weights, router buffers and what else is named."""
    return sum(parameters(decoder).values()) + router_buffers(decoder) + decoder.checkpoint_extra


def cache_elements(decoder: Decoder) -> int:
    """Numbers kept in the KV cache for each token, summed over the layers.

    Windows are not used to shorten the cache.

    Examples
    --------
    >>> layer = Layer(Attention(heads=4, kv_heads=2, head_dim=8), FeedForward(width=64, gated=True))
    >>> cache_elements(Decoder(32, 100, False, (layer,) * 3))  # 3 layers x 2 x 2 heads x 8
    96
    """
    return sum(layer.mixer.cache_elements() for layer in decoder.layers if _attends(layer))


def state_elements(decoder: Decoder) -> int:
    """Numbers kept per sequence, whatever its length, by recurrent layers (convolution tails left out)."""
    return sum(layer.mixer.state_elements() for layer in decoder.layers if _recurs(layer))


def forward_flops(decoder: Decoder, length: int, *, causal: bool = True) -> Terms:
    """Forward FLOPs per token, averaged over a sequence, by class.

    Parameters
    ----------
    decoder : Decoder
    length : int
        Tokens in the sequence.
    causal : bool
        Count half of the two length x length products of attention; else the full square. Windows and
        sparse selection save nothing in this count.

    Raises
    ------
    InputError
        If `length` is not an integer of at least 1.

    Examples
    --------
    Twice the 4x4 projections, twice the FFN matrices, half of 2 x 2 x 8 x 4 for scores and values, the head:

    >>> layer = Layer(Attention(heads=1, kv_heads=1, head_dim=4), FeedForward(width=16, gated=False))
    >>> forward_flops(Decoder(4, 10, True, (layer,)), length=8)
    {'attention': 128, 'attention_pairs': 64, 'feed_forward': 256, 'lm_head': 80}
    """
    pairs = _length(length)

    def of_layer(layer: Layer) -> Terms:
        terms = {name: 2 * count for name, count in _layer_matrices(decoder, layer, _active).items()}
        if _attends(layer):
            # a product over pairs costs an even number of FLOPs, so that its half is whole
            terms["attention_pairs"] = pairs * layer.mixer.flops_per_pair() // (2 if causal else 1)
        elif _recurs(layer):
            terms["recurrence"] = layer.mixer.recurrence_flops()
        return terms

    return _named(_sum(decoder, of_layer) | {"lm_head": 2 * decoder.vocab_size * decoder.d_model})


def rotary_angle_flops(decoder: Decoder) -> int:
    """FLOPs per token of the rotary angles: position times frequency, once for the model.

    They belong to no layer and vanish beside everything else, so `forward_flops` leaves them out. The counter
    that the described counts are held against sees them as a matrix product in dense models, and not in mixtures
    of experts; `describe` adds them so that both agree to the last FLOP.

    Examples
    --------
    >>> layer = Layer(Attention(heads=1, kv_heads=1, head_dim=4), FeedForward(width=16, gated=False))
    >>> rotary_angle_flops(Decoder(4, 10, True, (layer,), rotary_dim=4))  # two frequencies
    4
    """
    mixture = any(isinstance(layer.feed_forward, Experts) for layer in decoder.layers)
    return 0 if mixture else 2 * -(-decoder.rotary_dim // 2)


# ---- the sums --------------------------------------------------------------------------------------------

_ORDER = (
    "input_embedding",
    "learned_positions",
    "attention",
    "attention_pairs",
    "linear_attention",
    "recurrence",
    "feed_forward",
    "router",
    "experts",
    "expert_projections",
    "shared_experts",
    "norms",
    "lm_head",
)


def _model_parameters(decoder: Decoder, experts: Callable[[Experts], int]) -> Terms:
    d, table = decoder.d_model, decoder.vocab_size * decoder.d_model
    norm = decoder.norm_vectors * d

    def of_layer(layer: Layer) -> Terms:
        matrices = _layer_matrices(decoder, layer, experts)
        vectors = _layer_vectors(decoder, layer, experts)
        return {name: matrices.get(name, 0) + vectors.get(name, 0) for name in matrices | vectors}

    terms = Counter(_sum(decoder, of_layer))
    terms["norms"] += decoder.model_norms * norm
    terms["input_embedding"] = table
    terms["learned_positions"] = decoder.learned_positions * d
    terms["lm_head"] = (0 if decoder.tied_embeddings else table) + decoder.head_bias * decoder.vocab_size
    return _named(terms)


def _layer_matrices(decoder: Decoder, layer: Layer, experts: Callable[[Experts], int]) -> Terms:
    """Weights that multiply a token, by class."""
    d, mixer, part = decoder.d_model, layer.mixer, layer.feed_forward
    terms = {} if mixer is None else {_mixer_name(layer): mixer.matrices(d)}
    match part:
        case FeedForward():
            terms["feed_forward"] = part.matrices(d)
        case Experts():
            terms["router"] = part.router(d)
            terms["experts"] = experts(part) * part.expert_matrices(d)
            terms["expert_projections"] = part.latent_matrices(d)
            terms["shared_experts"] = part.shared_matrices(d)
    return terms


def _layer_vectors(decoder: Decoder, layer: Layer, experts: Callable[[Experts], int]) -> Terms:
    """Weights that are added to a token or scale it, by class."""
    d, mixer, part = decoder.d_model, layer.mixer, layer.feed_forward
    terms = {} if mixer is None else {_mixer_name(layer): mixer.vectors(d)}
    match part:
        case FeedForward():
            terms["feed_forward"] = part.vectors(d)
        case Experts():
            terms["router"] = part.count if part.router_bias == "parameter" else 0
            terms["experts"] = experts(part) * part.expert_vectors(d)
            terms["shared_experts"] = part.shared_vectors(d)
    return terms | {"norms": layer.norms * decoder.norm_vectors * d}


def _sum(decoder: Decoder, of_layer: Callable[[Layer], Terms]) -> Terms:
    """Terms summed over the layers; equal layers are evaluated once."""
    total: Counter[str] = Counter()
    for layer, times in Counter(decoder.layers).items():
        for name, value in of_layer(layer).items():
            total[name] += times * value
    return total


def _named(terms: Terms) -> Terms:
    return {name: terms[name] for name in _ORDER if terms.get(name)}


def _active(experts: Experts) -> int:
    return experts.active


def _attends(layer: Layer) -> bool:
    return isinstance(layer.mixer, Attention | LatentAttention)


def _recurs(layer: Layer) -> bool:
    return layer.mixer is not None and not _attends(layer)


def _mixer_name(layer: Layer) -> str:
    return "attention" if _attends(layer) else "linear_attention"


def _length(length: int) -> int:
    try:
        tokens = 0 if isinstance(length, bool) else index(length)
    except TypeError:
        tokens = 0
    if not 1 <= tokens <= 10**12:
        raise InputError(f"length is {length!r}; allowed: a whole number of tokens from 1 to 10^12")
    return tokens
