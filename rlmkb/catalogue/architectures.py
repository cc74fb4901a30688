"""What `data/architectures/*.yml` may say: the shape of one decoder, its published counts and sources.

Only facts that a person read somewhere are stored. Counts that follow from the shape are computed by
`rlmkb.architecture`.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rlmkb.catalogue.loading import Entry, Facts, InOrder, Many, Size, Text

Layers = Annotated[int, Field(ge=1, le=10_000)]
Count = Annotated[int, Field(ge=0, le=10**15)]


class Norm(Facts):
    """Normalisation: `rms` has a weight per channel, `layer` a weight and a bias."""

    kind: Literal["rms", "layer"]
    """rms has a weight per channel, layer a weight and a bias."""
    per_layer: Annotated[int, Field(ge=0, le=8)]
    """How many of them a layer has."""


class GroupedAttention(Facts):
    """Softmax attention with `kv_heads` key and value heads (as many as `heads`: multi-head attention).

    `rotary_dim` says how many numbers of a head are rotated by position, if not all.
    """

    kind: Literal["grouped"]
    heads: Size
    """Query heads."""
    kv_heads: Size
    """Key and value heads."""
    head_dim: Size
    """Numbers of a head."""
    rotary_dim: Size | None = None
    """How many of them are rotated by position, if not all."""
    qkv_bias: bool = False
    """Whether queries, keys and values have a bias."""
    output_bias: bool = False
    """Whether the output projection has a bias."""
    qk_norm: Literal["none", "head", "full"] = "none"
    """Normalisation of queries and keys: per head, or over the whole projection."""
    output_gate: bool = False
    """Whether the output is gated."""
    sinks: bool = False
    """Whether each head has a sink."""
    window: Text | None = None
    """The sliding window and the layers that have it."""

    @model_validator(mode="after")
    def _heads_divide(self) -> Self:
        if self.heads % self.kv_heads:
            raise ValueError(f"kv_heads that divide heads ({self.heads}), not {self.kv_heads}")
        return self


class LatentAttention(Facts):
    """Multi-head latent attention: keys and values are rebuilt from `kv_rank` numbers a token."""

    kind: Literal["latent"]
    heads: Size
    """Heads."""
    q_rank: Count  # 0: queries are not compressed
    """Rank of the queries; 0 if they are not compressed."""
    kv_rank: Size
    """Numbers that are cached for keys and values of a token."""
    nope_dim: Size
    """Numbers of a head without position."""
    rope_dim: Size
    """Numbers of a head with position."""
    value_dim: Size
    """Numbers of a value head."""


class GatedDeltaNet(Facts):
    """Linear attention with the gated delta rule, on all but every `full_attention_every`-th layer."""

    key_heads: Size
    """Key heads."""
    key_dim: Size
    """Numbers of a key head."""
    value_heads: Size
    """Value heads."""
    value_dim: Size
    """Numbers of a value head."""
    convolution: Size
    """Width of the convolution."""
    full_attention_every: Size
    """Every how many layers the attention is full."""


class Mamba2(Facts):
    """Selective state space block."""

    heads: Size
    """Heads."""
    head_dim: Size
    """Numbers of a head."""
    groups: Size
    """Groups."""
    state: Size
    """Size of the state."""
    convolution: Size
    """Width of the convolution."""


class FeedForward(Facts):
    """Dense feed-forward block: `gated` has three matrices, `plain` two. No width where no layer is dense."""

    kind: Literal["gated", "plain"]
    """gated has three matrices, plain two."""
    width: Size | None = None
    """The inner width; none where no layer is dense."""
    bias: bool = False
    """Whether it has biases."""


class Experts(Facts):
    """Mixture of experts, on every `every`-th layer after the first `first_dense_layers`.

    `width` is that of one expert. `router_bias` is a trained `parameter`, or a `buffer` that balances the
    load and gets no gradient. `latent` is the width that experts see, where the model projects to it.
    """

    count: Size
    """Experts of a layer."""
    active: Size
    """Experts that a token uses."""
    width: Size
    """Inner width of one expert."""
    latent: Size | None = None
    """The width that experts see, where the model projects to it."""
    shared_count: Count = 0
    """Experts that every token uses."""
    shared_width: Size | None = None
    """Inner width of one of them."""
    shared_gate: bool = False
    """Whether they are gated."""
    router_bias: Literal["none", "parameter", "buffer"] = "none"
    """A trained bias of the router, or a buffer that balances the load and gets no gradient."""
    first_dense_layers: Count = 0
    """How many layers at the start have no experts."""
    every: Size = 1
    """Every how many layers after them have experts."""

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
    """How many layers are alike."""
    kv_heads: Count
    """Key and value heads; 0 for no attention."""
    width: Count
    """Feed-forward width; 0 for none."""

    @property
    def parts(self) -> int:
        """How many of attention and feed-forward are there."""
        return bool(self.kv_heads) + bool(self.width)


class Published(Facts):
    """Counts by the authors. `exact` is the number of values in the published checkpoint."""

    size: Text
    """The size as the authors name it."""
    parameters: Size
    """Their number of parameters."""
    active: Size
    """Their number for one token."""
    exact: Size | None = None
    """The number of values in the published checkpoint."""


class Architecture(Entry):
    """One decoder; see the classes above for its parts.

    `pattern` gives one letter a block: M Mamba-2, * attention, - feed-forward, E experts; `blocks` lists the
    layers of a searched architecture. `checkpoint_extra` counts values that the checkpoint holds beside the
    decoder (a vision tower, a prediction layer, rotary buffers), as `explanation` says.
    """

    family: Text
    """The family of models."""
    hugging_face: Text | None = None
    """Its repository on the Hub."""
    license: Text
    """The licence of the weights."""
    max_context: Size
    """The longest sequence, in tokens."""
    layers: Layers
    """Decoder layers; in a pattern, blocks."""
    d_model: Size
    """The width."""
    vocab_size: Size
    """Rows of the embedding table, padding included."""
    tied_embeddings: bool
    """Whether the output head shares the table."""
    learned_positions: Count = 0
    """Learned position embeddings."""
    norm: Norm
    """Normalisation."""
    attention: Annotated[GroupedAttention | LatentAttention, Field(discriminator="kind")]
    """The attention of its full-attention layers."""
    gated_delta_net: GatedDeltaNet | None = None
    """Linear attention, where it has some."""
    mamba2: Mamba2 | None = None
    """State space blocks, where it has some."""
    feed_forward: FeedForward
    """The dense feed-forward block."""
    experts: Experts | None = None
    """Mixture of experts, where it has one."""
    pattern: Annotated[str, Field(pattern=r"^[M*E-]+$")] | None = None
    """One letter a block: M Mamba-2, * attention, - feed-forward, E experts."""
    blocks: InOrder[Block] | None = None
    """The layers of a searched architecture."""
    published: Published
    """Counts by the authors."""
    checkpoint_extra: Size | None = None
    """Values that the checkpoint holds beside the decoder."""
    source: Many[Text]
    """Where the shape was read."""
    published_source: Many[Text]
    """Where the published counts were read."""
    explanation: Text | None = None
    """What checkpoint_extra is."""
    notes: Text | None = None
    """Doubts."""

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
