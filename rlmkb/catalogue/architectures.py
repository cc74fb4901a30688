"""What `data/architectures/*.yml` may say: the shape of one decoder, its published counts and sources.

Only facts that a person read somewhere are stored. Counts that follow from the shape are computed by
`rlmkb.architecture`.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rlmkb.catalogue.loading import Entry, Facts, Many, Size, Text

Layers = Annotated[int, Field(ge=1, le=10_000)]
Count = Annotated[int, Field(ge=0, le=10**15)]


class Norm(Facts):
    """Normalisation: `rms` has a weight per channel, `layer` a weight and a bias."""

    kind: Literal["rms", "layer"]
    per_layer: Annotated[int, Field(ge=0, le=8)]


class GroupedAttention(Facts):
    """Softmax attention with `kv_heads` key and value heads (as many as `heads`: multi-head attention).

    `rotary_dim` says how many numbers of a head are rotated by position, if not all.
    """

    kind: Literal["grouped"]
    heads: Size
    kv_heads: Size
    head_dim: Size
    rotary_dim: Size | None = None
    qkv_bias: bool = False
    output_bias: bool = False
    qk_norm: Literal["none", "head", "full"] = "none"
    output_gate: bool = False
    sinks: bool = False
    window: Text | None = None

    @model_validator(mode="after")
    def _heads_divide(self) -> Self:
        if self.heads % self.kv_heads:
            raise ValueError(f"kv_heads that divide heads ({self.heads}), not {self.kv_heads}")
        return self


class LatentAttention(Facts):
    """Multi-head latent attention: keys and values are rebuilt from `kv_rank` numbers a token."""

    kind: Literal["latent"]
    heads: Size
    q_rank: Count  # 0: queries are not compressed
    kv_rank: Size
    nope_dim: Size
    rope_dim: Size
    value_dim: Size


class GatedDeltaNet(Facts):
    """Linear attention with the gated delta rule, on all but every `full_attention_every`-th layer."""

    key_heads: Size
    key_dim: Size
    value_heads: Size
    value_dim: Size
    convolution: Size
    full_attention_every: Size


class Mamba2(Facts):
    """Selective state space block."""

    heads: Size
    head_dim: Size
    groups: Size
    state: Size
    convolution: Size


class FeedForward(Facts):
    """Dense feed-forward block: `gated` has three matrices, `plain` two. No width where no layer is dense."""

    kind: Literal["gated", "plain"]
    width: Size | None = None
    bias: bool = False


class Experts(Facts):
    """Mixture of experts, on every `every`-th layer after the first `first_dense_layers`.

    `width` is that of one expert. `router_bias` is a trained `parameter`, or a `buffer` that balances the
    load and gets no gradient. `latent` is the width that experts see, where the model projects to it.
    """

    count: Size
    active: Size
    width: Size
    latent: Size | None = None
    shared_count: Count = 0
    shared_width: Size | None = None
    shared_gate: bool = False
    router_bias: Literal["none", "parameter", "buffer"] = "none"
    first_dense_layers: Count = 0
    every: Size = 1

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.active > self.count:
            raise ValueError(f"at most as many active experts as there are ({self.count}), not {self.active}")
        if bool(self.shared_count) != (self.shared_width is not None):
            raise ValueError("shared_count and shared_width together, or neither")
        return self


class Block(Facts):
    """Equal layers of a searched architecture; 0 kv heads: no attention, 0 width: no feed-forward."""

    layers: Layers
    kv_heads: Count
    width: Count

    @property
    def parts(self) -> int:
        """How many of attention and feed-forward are there."""
        return bool(self.kv_heads) + bool(self.width)


class Published(Facts):
    """Counts by the authors. `exact` is the number of values in the published checkpoint."""

    size: Text
    parameters: Size
    active: Size
    exact: Size | None = None


class Architecture(Entry):
    """One decoder; see the classes above for its parts.

    `pattern` gives one letter a block: M Mamba-2, * attention, - feed-forward, E experts; `blocks` lists the
    layers of a searched architecture. `checkpoint_extra` counts values that the checkpoint holds beside the
    decoder (a vision tower, a prediction layer, rotary buffers), as `explanation` says.
    """

    family: Text
    hugging_face: Text | None = None
    license: Text
    max_context: Size
    layers: Layers
    d_model: Size
    vocab_size: Size
    tied_embeddings: bool
    learned_positions: Count = 0
    norm: Norm
    attention: Annotated[GroupedAttention | LatentAttention, Field(discriminator="kind")]
    gated_delta_net: GatedDeltaNet | None = None
    mamba2: Mamba2 | None = None
    feed_forward: FeedForward
    experts: Experts | None = None
    pattern: Annotated[str, Field(pattern=r"^[M*E-]+$")] | None = None
    blocks: Many[Block] | None = None
    published: Published
    checkpoint_extra: Size | None = None
    source: Many[Text]
    published_source: Many[Text]
    explanation: Text | None = None
    notes: Text | None = None

    @model_validator(mode="after")
    def _layers_agree(self) -> Self:
        if self.pattern and len(self.pattern) != self.layers:
            raise ValueError(f"a pattern with one letter for each of {self.layers} layers, not {len(self.pattern)}")
        if self.pattern and ("M" in self.pattern) != (self.mamba2 is not None):
            raise ValueError("mamba2 where the pattern has an M, and only there")
        if self.blocks and any(block.kv_heads and self.attention.heads % block.kv_heads for block in self.blocks):
            raise ValueError(f"blocks whose kv_heads divide attention.heads ({self.attention.heads})")
        if self.blocks and sum(block.layers for block in self.blocks) != self.layers:
            raise ValueError(f"blocks whose layers add up to {self.layers}")
        dense = self.blocks or (self.pattern and "-" not in self.pattern) or self.feed_forward.width
        if not dense and not (self.experts and self.experts.every == 1 and not self.experts.first_dense_layers):
            raise ValueError("feed_forward.width, as some layers are dense")
        return self


SCHEMA = Architecture
