"""The paper's canonical Transformer as a real program: short enough to read, complete enough to train.

Multi-head attention with four d x d projections, a feed-forward network with two, no biases, pre-norm blocks,
one embedding that the vocabulary head shares (the paper counts V d once). Norms, softmax and position codes
are there as in a real model although the cost model leaves them out.

Shapes in comments: B sequences, n tokens fed now, C cache slots, width d, h heads of k = d/h, V words.
"""

from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax, named_scope

from rlmkb.errors import InputError
from rlmkb.notation import Role

#: What each role of the pipeline reads off the last hidden states.
HEADS = {
    Role.POLICY: ("logits",),
    Role.REFERENCE: ("logits",),
    Role.REWARD: ("score",),
    Role.CRITIC: ("values",),
    Role.ACTOR_CRITIC: ("logits", "values"),
    Role.COST_MODEL: ("score",),
    Role.COST_CRITIC: ("values",),
}


@dataclass(frozen=True)
class Shape:
    """Sizes and role of one canonical Transformer.

    Parameters
    ----------
    L, d, d_ff, h, V : int
        Layers, hidden width, feed-forward width, heads, vocabulary; h divides d.
    role : Role
        It decides the head alone; a verifier is no Transformer.

    Examples
    --------
    >>> Shape(d=256, h=4).head_width
    64
    """

    L: int = 2
    d: int = 256
    d_ff: int = 1024
    h: int = 4
    V: int = 512
    role: Role = Role.POLICY

    def __post_init__(self) -> None:
        for name in ("L", "d", "d_ff", "h", "V"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InputError(f"{name} is {value!r}; sizes are integers of at least 1")
        if self.d % self.h:
            raise InputError(f"h = {self.h} does not divide d = {self.d}; every head is d/h wide")
        if self.role not in HEADS:
            raise InputError(f"role {str(self.role)!r} is no Transformer; allowed: {', '.join(HEADS)}")
        object.__setattr__(self, "role", Role(self.role))

    @property
    def head_width(self) -> int:
        """Width of one attention head, d/h."""
        return self.d // self.h

    def with_role(self, role: Role) -> "Shape":
        """The same sizes under another head."""
        return replace(self, role=role)


def parameter_shapes(shape: Shape) -> dict:
    """The parameters as shapes only: what tracing needs, and nothing is allocated."""
    d, d_ff = shape.d, shape.d_ff
    sizes = {
        "embedding": (shape.V, d),
        "blocks": [
            {
                "attention_norm": (d,),
                "query": (d, d),
                "key": (d, d),
                "value": (d, d),
                "output": (d, d),
                "ffn_norm": (d,),
                "up": (d, d_ff),
                "down": (d_ff, d),
            }
            for _ in range(shape.L)
        ],
        "final_norm": (d,),
    }
    if HEADS[shape.role] != ("logits",):
        sizes["scalar_head"] = (d,)
    return jax.tree.map(
        lambda size: jax.ShapeDtypeStruct(size, jnp.float32),
        sizes,
        is_leaf=lambda node: isinstance(node, tuple),
    )


def initialise(shape: Shape, seed: int = 0) -> dict:
    """Random parameters: norms at one, weights with variance 1/(inputs of the product)."""
    leaves, structure = jax.tree.flatten(parameter_shapes(shape))
    keys = jax.random.split(jax.random.key(seed), len(leaves))
    draw = [
        jax.random.normal(key, leaf.shape) * leaf.shape[0] ** -0.5 if leaf.ndim == 2 else jnp.ones(leaf.shape)
        for key, leaf in zip(keys, leaves, strict=True)
    ]
    return jax.tree.unflatten(structure, draw)


def embed(parameters: dict, tokens: jax.Array, positions: jax.Array) -> jax.Array:
    """Rows of the embedding plus sine and cosine position codes; a look-up, hence no product."""
    d = parameters["embedding"].shape[1]
    with named_scope("embed"):
        channel = jnp.arange(d)
        angle = positions[:, None] * 10_000.0 ** (-(channel // 2) * 2 / d)  # [n, d]
        code = jnp.where(channel % 2, jnp.cos(angle), jnp.sin(angle))
        return parameters["embedding"][tokens] + code  # [B, n, d]


def norm(scale: jax.Array, x: jax.Array) -> jax.Array:
    """Root-mean-square norm over the hidden width."""
    with named_scope("norm"):
        return x * lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def attention(shape: Shape, weights: dict, x: jax.Array, positions: jax.Array, cache=None):
    """Multi-head attention of n tokens over themselves, or over a cache of C slots that they first enter.

    The scores of masked pairs are computed and thrown away: dense attention, twice the causal work.
    """
    heads = (*x.shape[:2], shape.h, shape.head_width)
    with named_scope("query"):
        query = (x @ weights["query"]).reshape(heads)  # [B, n, h, k]
    with named_scope("key"):
        key = (x @ weights["key"]).reshape(heads)
    with named_scope("value"):
        value = (x @ weights["value"]).reshape(heads)
    if cache is not None:
        store = partial(lax.dynamic_update_slice_in_dim, start_index=positions[0], axis=1)
        key, value = store(cache[0], key), store(cache[1], value)  # [B, C, h, k]
    with named_scope("scores"):
        scores = jnp.einsum("bnhk,bchk->bhnc", query, key) * shape.head_width**-0.5
    with named_scope("softmax"):
        visible = jnp.arange(key.shape[1]) <= positions[:, None]  # [n, C]: itself and what came before
        share = jax.nn.softmax(jnp.where(visible, scores, -jnp.inf))
    with named_scope("mix"):
        mixed = jnp.einsum("bhnc,bchk->bnhk", share, value)
    with named_scope("output"):
        return mixed.reshape(x.shape) @ weights["output"], (key, value)


def feed_forward(weights: dict, x: jax.Array) -> jax.Array:
    """Two projections with a ReLU between them."""
    with named_scope("up"):
        wide = x @ weights["up"]  # [B, n, d_ff]
    with named_scope("activation"):
        wide = jax.nn.relu(wide)
    with named_scope("down"):
        return wide @ weights["down"]


def block(shape: Shape, weights: dict, x: jax.Array, positions: jax.Array, cache=None):
    """One decoder block: attention, then the feed-forward network, each added to the stream."""
    mixed, cache = attention(shape, weights, norm(weights["attention_norm"], x), positions, cache)
    with named_scope("stream"):
        x = x + mixed
    wide = feed_forward(weights, norm(weights["ffn_norm"], x))
    with named_scope("stream"):
        return x + wide, cache


def backbone(shape: Shape, parameters: dict, tokens, positions, caches=None, checkpoint: bool = False):
    """Embedding, L blocks, final norm; returns hidden states [B, n, d] and the L pairs of keys and values."""
    run = partial(block, shape)
    if checkpoint:  # keep the input of each block alone, and run the block again when its gradient is due
        run = jax.checkpoint(run)
    x = embed(parameters, tokens, positions)
    filled = []
    for weights, cache in zip(parameters["blocks"], caches or [None] * shape.L, strict=True):
        x, cache = run(weights, x, positions, cache)
        filled.append(cache)
    return norm(parameters["final_norm"], x), filled


def vocabulary_head(parameters: dict, x: jax.Array) -> jax.Array:
    """Logits [..., V] of hidden states [..., d], with the embedding's own weights."""
    with named_scope("head"):
        return jnp.einsum("...d,vd->...v", x, parameters["embedding"])


def scalar_head(parameters: dict, x: jax.Array) -> jax.Array:
    """One number [...] for each hidden state [..., d]."""
    with named_scope("head"):
        return x @ parameters["scalar_head"]


def forward(shape: Shape, parameters: dict, tokens: jax.Array, checkpoint: bool = False) -> dict:
    """What the role's heads say about whole sequences.

    Parameters
    ----------
    tokens : int array [B, m]
        Whole sequences; there is no padding.

    Returns
    -------
    dict
        `logits` [B, m, V] for policy and reference, `values` [B, m] for the critic, `score` [B] (last token
        alone) for the reward model; the shared actor-critic has both of the first two.
    """
    x, _ = backbone(shape, parameters, tokens, jnp.arange(tokens.shape[1]), checkpoint=checkpoint)
    heads = {
        "logits": lambda: vocabulary_head(parameters, x),
        "values": lambda: scalar_head(parameters, x),
        "score": lambda: scalar_head(parameters, x[:, -1]),
    }
    return {name: heads[name]() for name in HEADS[shape.role]}


def prefill(shape: Shape, parameters: dict, prompt: jax.Array):
    """Logits [B, V] after the last of S prompt tokens, and the cache: keys and values [B, S, h, k]."""
    x, caches = backbone(shape, parameters, prompt, jnp.arange(prompt.shape[1]))
    return vocabulary_head(parameters, x[:, -1]), caches


def decode_step(shape: Shape, parameters: dict, token: jax.Array, position: jax.Array, caches: list):
    """One token [B] at `position` goes through the model over a cache of C slots, its own among them.

    With C = S + t and position S + t - 1 this is the paper's decode step t: a context of S + t with itself.
    """
    x, caches = backbone(shape, parameters, token[:, None], jnp.reshape(position, (1,)), caches)
    return vocabulary_head(parameters, x[:, 0]), caches


def widen(caches: list, slots: int) -> list:
    """The caches with so many more empty slots."""
    return jax.tree.map(lambda kept: jnp.pad(kept, [(0, 0), (0, slots), (0, 0), (0, 0)]), caches)


def generate(shape: Shape, parameters: dict, prompt: jax.Array, T: int, static: bool = False):
    """T greedy tokens [B, T]: one prefill, then T - 1 decode steps (the last token is never fed back).

    The cache grows by a slot a step; with `static` it has all its S + T - 1 slots from the start, so that one
    compiled step of fixed shapes is repeated.
    """
    S = prompt.shape[1]
    logits, caches = prefill(shape, parameters, prompt)
    token = jnp.argmax(logits, axis=-1)

    def step(carry, position):
        token, caches = carry
        logits, caches = decode_step(shape, parameters, token, position, caches)
        token = jnp.argmax(logits, axis=-1)
        return (token, caches), token

    if static:
        _, rest = lax.scan(step, (token, widen(caches, T - 1)), jnp.arange(S, S + T - 1))
        return jnp.concatenate([token[:, None], rest.T], axis=1)
    answer = [token]
    for position in range(S, S + T - 1):
        (token, caches), _ = step((token, widen(caches, 1)), position)
        answer.append(token)
    return jnp.stack(answer, axis=1)


def loss(shape: Shape, parameters: dict, tokens: jax.Array, targets: dict, checkpoint: bool = False):
    """Cross entropy of the logits against target words, squared error of scalars; a shared model has both."""
    total = 0.0
    for name, output in forward(shape, parameters, tokens, checkpoint).items():
        with named_scope("loss"):
            if name == "logits":
                chosen = jnp.take_along_axis(output, targets[name][..., None], axis=-1)[..., 0]
                total += jnp.mean(jax.nn.logsumexp(output, axis=-1) - chosen)
            else:
                total += jnp.mean((output - targets[name]) ** 2)
    return total


def training_step(shape: Shape, parameters: dict, tokens: jax.Array, targets: dict, checkpoint: bool = False):
    """Loss and the gradient of every parameter: one forward and one backward pass."""
    return jax.value_and_grad(partial(loss, shape))(parameters, tokens, targets, checkpoint=checkpoint)


def adam(parameters: dict, gradients: dict, mean: dict, square: dict, step: jax.Array, rate: float = 1e-3):
    """One Adam update; parameters, gradients and two moments make the four elements kept per parameter."""
    with named_scope("adam"):
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradients)
        square = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, square, gradients)
        rate = rate * jnp.sqrt(1 - 0.999**step) / (1 - 0.9**step)
        moved = jax.tree.map(lambda p, m, s: p - rate * m / (jnp.sqrt(s) + 1e-8), parameters, mean, square)
    return moved, mean, square
