"""From an entry of `data/architectures/` to the decoder that it describes."""

from typing import TYPE_CHECKING

from rlmkb.architecture.decoder import Decoder
from rlmkb.architecture.layers import (
    Attention,
    Experts,
    FeedForward,
    GatedDeltaNet,
    LatentAttention,
    Layer,
    Mamba2,
)

if TYPE_CHECKING:
    from rlmkb.catalogue.architectures import Architecture


def from_entry(entry: "Architecture") -> Decoder:
    """The decoder that a catalogue entry describes.

    Examples
    --------
    >>> from rlmkb.catalogue import entry
    >>> decoder = from_entry(entry("architectures", "mixtral-8x7b-v0.1"))
    >>> len(decoder.layers), decoder.layers[0].feed_forward.count
    (32, 8)
    """
    return Decoder(
        d_model=entry.d_model,
        vocab_size=entry.vocab_size,
        tied_embeddings=entry.tied_embeddings,
        layers=_layers(entry),
        norm_vectors={"rms": 1, "layer": 2}[entry.norm.kind],
        learned_positions=entry.learned_positions,
        rotary_dim=_rotary_dim(entry),
        checkpoint_extra=entry.checkpoint_extra or 0,
        remarks=(f"checkpoint_total: {entry.explanation}",) if entry.checkpoint_extra else (),
    )


def _rotary_dim(entry: "Architecture") -> int:
    """Rotated numbers of a head: none with learned positions, and none in Nemotron-H's patterns."""
    attention = entry.attention
    if entry.learned_positions or entry.pattern or attention.kind == "latent":
        return 0
    return attention.rotary_dim or attention.head_dim


def _layers(entry: "Architecture") -> tuple[Layer, ...]:
    norms = entry.norm.per_layer
    if entry.blocks:
        # a part that the search removed took its norm along
        return tuple(
            Layer(_attention(entry, block.kv_heads), _dense(entry, block.width), norms // 2 * block.parts)
            for block in entry.blocks
            for _ in range(block.layers)
        )
    if entry.pattern:
        parts = {
            "M": lambda: (_mamba(entry), None),
            "*": lambda: (_attention(entry), None),
            "-": lambda: (None, _dense(entry, entry.feed_forward.width)),
            "E": lambda: (None, _experts(entry)),
        }
        return tuple(Layer(*parts[letter](), norms) for letter in entry.pattern)
    return tuple(Layer(_mixer(entry, number), _feed_forward(entry, number), norms) for number in range(entry.layers))


def _mixer(entry: "Architecture", number: int) -> Attention | LatentAttention | GatedDeltaNet:
    linear = entry.gated_delta_net
    if linear is None or (number + 1) % linear.full_attention_every == 0:
        return _attention(entry)
    return GatedDeltaNet(**linear.model_dump(exclude={"full_attention_every"}))


def _attention(entry: "Architecture", kv_heads: int | None = None) -> Attention | LatentAttention | None:
    fields = entry.attention.model_dump(exclude={"kind", "window", "rotary_dim"})
    if entry.attention.kind == "latent":
        return LatentAttention(**fields)
    if kv_heads is not None:
        fields["kv_heads"] = kv_heads
    return Attention(**fields) if fields["kv_heads"] else None


def _mamba(entry: "Architecture") -> Mamba2:
    return Mamba2(**entry.mamba2.model_dump())


def _feed_forward(entry: "Architecture", number: int) -> FeedForward | Experts:
    experts = entry.experts
    routed = experts and number >= experts.first_dense_layers and (number + 1) % experts.every == 0
    return _experts(entry) if routed else _dense(entry, entry.feed_forward.width)


def _dense(entry: "Architecture", width: int) -> FeedForward | None:
    part = entry.feed_forward
    return FeedForward(width, part.kind == "gated", part.bias) if width else None


def _experts(entry: "Architecture") -> Experts:
    experts = entry.experts
    return Experts(
        count=experts.count,
        active=experts.active,
        expert=_dense(entry, experts.width),
        # shared experts are counted without biases: no entry with biases has any
        shared=_dense(entry, experts.shared_count * experts.shared_width) if experts.shared_count else None,
        shared_gate=experts.shared_gate,
        router_bias=experts.router_bias,
        latent=experts.latent,
    )
