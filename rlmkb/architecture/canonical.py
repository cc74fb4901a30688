"""From a real shape to the paper's canonical Transformer, by published width."""

from rlmkb.architecture.decoder import Decoder
from rlmkb.architecture.layers import Attention, Experts, FeedForward, GatedDeltaNet, LatentAttention, Mamba2
from rlmkb.errors import InputError

_WORDS = {Mamba2: "a Mamba-2 block", GatedDeltaNet: "gated DeltaNet"}


def canonical(decoder: Decoder) -> dict[str, int]:
    """The sizes `L`, `d`, `d_ff`, `h` and `V` of the canonical model that stands for a real one.

    The canonical layer has multi-head attention over the full width and a feed-forward part of two matrices.
    `d_ff` is the published width; in a mixture of experts it is that of the active experts and the shared
    ones together. What the canonical model then misses is told by `canonical_notes`.

    Parameters
    ----------
    decoder : Decoder

    Returns
    -------
    dict of str to int

    Raises
    ------
    InputError
        If a layer has no softmax attention or no feed-forward part, or if widths or heads vary by layer.

    Examples
    --------
    >>> from rlmkb.architecture import load
    >>> canonical(load("mixtral-8x7b-v0.1"))  # two active experts of 14336
    {'L': 32, 'd': 4096, 'd_ff': 28672, 'h': 32, 'V': 32000}
    """
    for number, layer in enumerate(decoder.layers, start=1):
        if not isinstance(layer.mixer, Attention | LatentAttention):
            kind = _WORDS.get(type(layer.mixer), "no attention")
            raise InputError(f"no canonical model: layer {number} has {kind}; the paper's has attention in each")
        if layer.feed_forward is None:
            raise InputError(
                f"no canonical model: layer {number} has no feed-forward part; the paper's has one in each"
            )
    return {
        "L": len(decoder.layers),
        "d": decoder.d_model,
        "d_ff": _only("feed-forward width", _widths(decoder)),
        "h": _only("number of heads", {layer.mixer.heads for layer in decoder.layers}),
        "V": decoder.vocab_size,
    }


def canonical_notes(decoder: Decoder) -> tuple[str, ...]:
    """In what a decoder differs from the canonical model that `canonical` maps it to.

    Examples
    --------
    >>> from rlmkb.architecture import load
    >>> canonical_notes(load("llama-3.1-8b"))
    ('8 key and value heads, not 32', 'gated feed-forward: three matrices, not two', 'an output head of its own')
    """
    mixers = dict.fromkeys(layer.mixer for layer in decoder.layers)
    parts = dict.fromkeys(layer.feed_forward for layer in decoder.layers)
    dense = {part.width for part in parts if isinstance(part, FeedForward)}
    mixtures = [part for part in parts if isinstance(part, Experts)]
    notes = []
    for mixer in mixers:
        if isinstance(mixer, LatentAttention):
            notes.append("latent attention, not multi-head attention")
            continue
        if mixer.kv_heads != mixer.heads:
            notes.append(f"{mixer.kv_heads} key and value heads, not {mixer.heads}")
        if mixer.heads * mixer.head_dim != decoder.d_model:
            notes.append(f"attention {mixer.heads * mixer.head_dim} wide, not {decoder.d_model}")
    notes += [f"{part.count} experts in memory, {part.active} active" for part in mixtures]
    if mixtures and dense - {part.active_width() for part in mixtures}:
        notes.append(f"dense layers {max(dense)} wide, counted with the experts' width")
    blocks = [part.expert if isinstance(part, Experts) else part for part in parts]
    if any(block.gated for block in blocks):
        notes.append("gated feed-forward: three matrices, not two")
    if not decoder.tied_embeddings:
        notes.append("an output head of its own")
    return tuple(dict.fromkeys(notes))


def _widths(decoder: Decoder) -> set[int]:
    """Feed-forward widths that decide: those of the experts where there are any, else of the dense layers."""
    parts = {layer.feed_forward for layer in decoder.layers}
    routed = {part.active_width() for part in parts if isinstance(part, Experts)}
    return routed or {part.width for part in parts}


def _only(what: str, values: set[int]) -> int:
    if len(values) > 1:
        shown = ", ".join(map(str, sorted(values)[:4]))
        raise InputError(
            f"no canonical model: the {what} varies by layer ({shown} ...); the paper's is the same in all"
        )
    return values.pop()
