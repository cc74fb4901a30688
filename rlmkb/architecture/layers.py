"""The kinds of layer a decoder is composed of, each with its own counts.

Every part answers the same questions for a model width `d`: how many weights multiply the token
(`matrices`), how many are only added to it or scale it (`vectors`: biases, norm weights), how many numbers
it keeps per cached token, and what a token costs beyond its matrices. All counts are exact integers.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Attention:
    """Softmax attention with `kv_heads` key and value heads (MHA, GQA, MQA).

    `qk_norm` is `head` (one norm over each head's numbers, shared by the heads) or `full` (one weight per
    number of the whole projection). `output_gate` doubles the query projection, `sinks` add one number a head.

    Examples
    --------
    >>> Attention(heads=2, kv_heads=1, head_dim=4).matrices(8)  # q 8x8, k 8x4, v 8x4, o 8x8
    192
    """

    heads: int
    kv_heads: int
    head_dim: int
    qkv_bias: bool = False
    output_bias: bool = False
    qk_norm: Literal["none", "head", "full"] = "none"
    output_gate: bool = False
    sinks: bool = False

    def matrices(self, d: int) -> int:
        """Weights that multiply a token of width `d`."""
        query = d * self.heads * self.head_dim * (2 if self.output_gate else 1)
        key_value = 2 * d * self.kv_heads * self.head_dim
        output = self.heads * self.head_dim * d
        return query + key_value + output

    def vectors(self, d: int) -> int:
        """Biases, and norms of queries and keys."""
        query, key = self.heads * self.head_dim, self.kv_heads * self.head_dim
        norms = {"none": 0, "head": 2 * self.head_dim, "full": query + key}[self.qk_norm]
        biases = self.qkv_bias * (query * (2 if self.output_gate else 1) + 2 * key) + self.output_bias * d
        return biases + norms + self.sinks * self.heads

    def cache_elements(self) -> int:
        """Numbers kept for each cached token: its key and value.

        Examples
        --------
        >>> Attention(heads=2, kv_heads=1, head_dim=4).cache_elements()
        8
        """
        return 2 * self.kv_heads * self.head_dim

    def flops_per_pair(self) -> int:
        """FLOPs of one query token with one key token: the score and the weighted value."""
        return 2 * self.heads * (self.head_dim + self.head_dim)


@dataclass(frozen=True, slots=True)
class Indexer:
    """Scores every key with a few small heads, so that attention may read only the best (sparse attention)."""

    heads: int
    head_dim: int

    def matrices(self, d: int, q_rank: int) -> int:
        """Weights that multiply a token: queries from the compressed ones, one key, and a weight for each head."""
        return q_rank * self.heads * self.head_dim + d * self.head_dim + d * self.heads

    def vectors(self) -> int:
        """The norm of the key: scale and shift."""
        return 2 * self.head_dim

    def flops_per_pair(self) -> int:
        """FLOPs of one query token with one key token: the scores of all heads, weighted and added up."""
        return 2 * self.heads * self.head_dim + 2 * self.heads


@dataclass(frozen=True, slots=True)
class LatentAttention:
    """Multi-head latent attention (MLA): keys and values come from `kv_rank` cached numbers a token.

    `q_rank` 0 means that queries are not compressed. `bias` puts one on the two down-projections and on the
    output. FLOPs are those of training and prefill, where keys and values are rebuilt for every token.
    """

    heads: int
    q_rank: int
    kv_rank: int
    nope_dim: int
    rope_dim: int
    value_dim: int
    bias: bool = False
    indexer: Indexer | None = None

    def matrices(self, d: int) -> int:
        """Weights that multiply a token of width `d`."""
        queries = self.heads * (self.nope_dim + self.rope_dim)
        query = d * self.q_rank + self.q_rank * queries if self.q_rank else d * queries
        key_value = d * (self.kv_rank + self.rope_dim)
        key_value += self.kv_rank * self.heads * (self.nope_dim + self.value_dim)
        output = self.heads * self.value_dim * d
        index = self.indexer.matrices(d, self.q_rank) if self.indexer else 0
        return query + key_value + output + index

    def vectors(self, d: int) -> int:
        """Weights that are added to a token or scale it."""
        biases = self.bias * (self.q_rank + self.kv_rank + self.rope_dim + d)
        return self.q_rank + self.kv_rank + biases + (self.indexer.vectors() if self.indexer else 0)

    def cache_elements(self) -> int:
        """Numbers kept for each cached token: the latent, the rotary part of the key, and the indexer's key."""
        return self.kv_rank + self.rope_dim + (self.indexer.head_dim if self.indexer else 0)

    def flops_per_pair(self) -> int:
        """FLOPs of one query token with one key token: the score, the weighted value, and the indexer's score."""
        attention = 2 * self.heads * (self.nope_dim + self.rope_dim + self.value_dim)
        return attention + (self.indexer.flops_per_pair() if self.indexer else 0)


@dataclass(frozen=True, slots=True)
class GatedDeltaNet:
    """Linear attention with the gated delta rule: a fixed state per sequence instead of a cache per token."""

    key_heads: int
    key_dim: int
    value_heads: int
    value_dim: int
    convolution: int

    def matrices(self, d: int) -> int:
        """Weights that multiply a token of width `d`."""
        keys, values = self.key_heads * self.key_dim, self.value_heads * self.value_dim
        projections = d * (2 * keys + 2 * values) + 2 * d * self.value_heads + values * d
        return projections + self.convolution * (2 * keys + values)

    def vectors(self, d: int) -> int:
        """Weights that are added to a token or scale it."""
        return 2 * self.value_heads + self.value_dim

    def state_elements(self) -> int:
        """Numbers of the state that a sequence keeps, however long it is."""
        return self.value_heads * self.key_dim * self.value_dim

    def recurrence_flops(self) -> int:
        """Per token and state element: read with the key, correct, read with the query, 2 FLOPs each."""
        return 6 * self.state_elements()


@dataclass(frozen=True, slots=True)
class Mamba2:
    """Selective state space block: a fixed state per sequence instead of a cache per token."""

    heads: int
    head_dim: int
    groups: int
    state: int
    convolution: int
    convolution_bias: bool = True

    @property
    def _inner(self) -> int:
        return self.heads * self.head_dim

    @property
    def _channels(self) -> int:
        return self._inner + 2 * self.groups * self.state

    def matrices(self, d: int) -> int:
        """Weights that multiply a token of width `d`."""
        projections = d * (self._inner + self._channels + self.heads) + self._inner * d
        return projections + self._channels * self.convolution

    def vectors(self, d: int) -> int:
        """Weights that are added to a token or scale it."""
        return self.convolution_bias * self._channels + 3 * self.heads + self._inner

    def state_elements(self) -> int:
        """Numbers of the state that a sequence keeps, however long it is."""
        return self._inner * self.state

    def recurrence_flops(self) -> int:
        """Per token and state element: add the input, read the output, 2 FLOPs each."""
        return 4 * self.state_elements()


@dataclass(frozen=True, slots=True)
class FeedForward:
    """Two matrices (plain), or three (gated: the first projection is doubled by its gate).

    Examples
    --------
    >>> FeedForward(width=32, gated=True).matrices(8)
    768
    """

    width: int
    gated: bool
    bias: bool = False

    def matrices(self, d: int) -> int:
        """Weights that multiply a token of width `d`."""
        return (3 if self.gated else 2) * d * self.width

    def vectors(self, d: int) -> int:
        """Weights that are added to a token or scale it."""
        return self.bias * ((2 if self.gated else 1) * self.width + d)


@dataclass(frozen=True, slots=True)
class Experts:
    """Mixture of experts: a router picks `active` of `count` experts; shared experts see every token.

    `latent` is the width that routed experts see where the model projects to it and back. `router_bias` is a
    trained `parameter`, or a `buffer` that balances the load and is no trainable weight.
    """

    count: int
    active: int
    expert: FeedForward
    shared: FeedForward | None = None
    shared_gate: bool = False
    router_bias: Literal["none", "parameter", "buffer"] = "none"
    latent: int | None = None

    def router(self, d: int) -> int:
        """Weights of the router: one row for each expert."""
        return d * self.count

    def expert_matrices(self, d: int) -> int:
        """Weights of one routed expert that multiply the token."""
        return self.expert.matrices(self.latent or d)

    def expert_vectors(self, d: int) -> int:
        """Biases of one routed expert."""
        return self.expert.vectors(self.latent or d)

    def latent_matrices(self, d: int) -> int:
        """Weights of the projections to the width of the routed experts and back."""
        return 2 * d * self.latent if self.latent else 0

    def shared_matrices(self, d: int) -> int:
        """Weights of the shared expert and of its gate that multiply the token."""
        return (self.shared.matrices(d) if self.shared else 0) + self.shared_gate * d

    def shared_vectors(self, d: int) -> int:
        """Biases of the shared expert."""
        return self.shared.vectors(d) if self.shared else 0

    def active_width(self) -> int:
        """Feed-forward width that one token passes through, routed and shared."""
        return self.active * self.expert.width + (self.shared.width if self.shared else 0)


@dataclass(frozen=True, slots=True)
class Layer:
    """One decoder layer: a token mixer, a feed-forward part (either may be absent) and `norms` norms."""

    mixer: Attention | LatentAttention | GatedDeltaNet | Mamba2 | None
    feed_forward: FeedForward | Experts | None
    norms: int = 2
