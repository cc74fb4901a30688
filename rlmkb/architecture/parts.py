"""From fields of a `config.json` and a family's conventions to the parts of a decoder."""

from typing import TYPE_CHECKING, Any

from rlmkb.architecture.fields import Fields
from rlmkb.architecture.layers import (
    Attention,
    Experts,
    FeedForward,
    GatedDeltaNet,
    Indexer,
    LatentAttention,
    Layer,
    Mamba2,
)

if TYPE_CHECKING:
    from rlmkb.architecture.families import Family

_SOFTMAX = {"full_attention": False, "sliding_attention": False, "chunked_attention": False}


def rule(fields: Fields, convention: Any, field: str | None = None) -> bool:
    """What a convention says: a constant, or the value of the field that it names.

    A field that contradicts a constant is refused: the code would not obey it.
    """
    if isinstance(convention, tuple):
        return fields.flag(*convention)
    if field:
        fields.only(field, convention)
    return convention


# ---- whole stacks ----------------------------------------------------------------------------------------


def stacked(fields: Fields, family: "Family", d: int) -> tuple[Layer, ...]:
    """The usual decoder: a mixer and a feed-forward part in every layer."""
    count = _layer_count(fields)
    mixers = family.mixer(fields, family, d, count)
    parts = feed_forwards(fields, family, d, count)
    norms = family.norms(fields) if callable(family.norms) else family.norms
    return tuple(Layer(mixer, part, norms) for mixer, part in zip(mixers, parts, strict=True))


def patterned(fields: Fields, family: "Family", d: int) -> tuple[Layer, ...]:
    """Nemotron-H: every layer is one block, named by a letter or a word."""
    words = fields.raw("layers_block_type")
    count = _layer_count(fields, len(words) if isinstance(words, list) else None)
    kinds = {"mamba": "M", "linear_attention": "M", "attention": "*", "full_attention": "*", "mlp": "-", "moe": "E"}
    spelt = "".join(fields.items("layers_block_type", count, kinds, ""))
    letters = fields.raw("hybrid_override_pattern", spelt)
    if (
        not isinstance(letters, str)
        or set(letters) - set("M*-E")
        or len(letters) != count
        or spelt not in ("", letters)
    ):
        raise fields.error("hybrid_override_pattern", f"a letter M, *, - or E for each of {count} layers")
    build = {
        "M": lambda: (mamba(fields), None),
        "*": lambda: (attention(fields, family, d), None),
        "-": lambda: (None, dense(fields, family, d)),
        "E": lambda: (None, experts(fields, family, d)),
    }
    for name in _PATTERN_SIZES:  # a file may size a kind of block that does not occur
        fields.raw(name)
    blocks = {letter: build[letter]() for letter in set(letters)}
    return tuple(Layer(*blocks[letter], family.norms) for letter in letters)


_PATTERN_SIZES = (
    *("attention_bias", "head_dim", "num_key_value_heads"),
    *("intermediate_size", "mlp_bias"),
    *("mamba_num_heads", "mamba_head_dim", "n_groups", "ssm_state_size", "conv_kernel", "use_conv_bias"),
    *("num_experts", "num_experts_per_tok", "moe_intermediate_size", "moe_latent_size"),
    *("moe_shared_expert_intermediate_size",),
)


def searched(fields: Fields, family: "Family", d: int) -> tuple[Layer, ...]:
    """Nemotron NAS: each layer says how many queries share a key, and how wide its feed-forward part is."""
    count = _layer_count(fields)
    blocks = fields.raw("block_configs")
    if not isinstance(blocks, list) or len(blocks) != count or not all(isinstance(block, dict) for block in blocks):
        raise fields.error("block_configs", f"a list with one object for each of {count} layers")
    heads = fields.size("num_attention_heads")
    head_dim = _head_dim(fields, family, d, heads)
    qkv_bias, output_bias = rule(fields, family.qkv_bias), rule(fields, family.output_bias)
    bias = rule(fields, family.mlp_bias)
    layers = []
    for block in blocks:
        group = _block_size(fields, block, "attention", "n_heads_in_group")
        factor = _block_size(fields, block, "ffn", "ffn_mult")
        if group and heads % group:
            raise fields.error("block_configs", f"n_heads_in_group that divides {heads}")
        mixer = Attention(heads, heads // group, head_dim, qkv_bias, output_bias) if group else None
        # widths are rounded up to a multiple of 256
        part = FeedForward(-(-int(2 * factor * d / 3) // 256) * 256, True, bias) if factor else None
        layers.append(Layer(mixer, part, norms=(mixer is not None) + (part is not None)))
    return tuple(layers)


def _block_size(fields: Fields, block: dict, part: str, name: str) -> int | float | None:
    """The one size of a part of a searched layer; None if the search removed the part."""
    given = block.get(part, {})
    if not isinstance(given, dict) or set(block) - {"attention", "ffn"}:
        raise fields.error("block_configs", "objects with attention and ffn, which are objects too")
    settings = {key: value for key, value in given.items() if value is not None and value is not False}
    size, removed = settings.pop(name, None), settings.pop("no_op", None)
    if settings:
        raise fields.error("block_configs", f"{part} with {name} or no_op, without {', '.join(settings)}")
    if removed is True:
        return None
    whole = part == "attention"
    if isinstance(size, bool) or not isinstance(size, int if whole else int | float) or not 0 < size <= 1000:
        raise fields.error("block_configs", f"{name} as a {'whole ' if whole else ''}number above 0 in every {part}")
    return size


def _layer_count(fields: Fields, default: int | None = None) -> int:
    return fields.size("num_hidden_layers", *(() if default is None else (default,)), most=10_000)


# ---- mixers ----------------------------------------------------------------------------------------------


def grouped(fields: Fields, family: "Family", d: int, count: int) -> list[Attention]:
    """Softmax attention in every layer; windows and chunks change no weight."""
    fields.items("layer_types", count, _SOFTMAX, False)
    fields.items("attn_type_list", count, {1: False}, False)
    return [attention(fields, family, d)] * count


def attention(fields: Fields, family: "Family", d: int) -> Attention:
    """One softmax attention of any number of key and value heads."""
    heads = fields.size("num_attention_heads")
    if callable(family.kv_heads):
        kv_heads = family.kv_heads(fields, heads)
    else:
        kv_heads = fields.size("num_key_value_heads", family.kv_heads or heads)
    if heads % kv_heads:
        raise fields.error("num_key_value_heads", f"a divisor of num_attention_heads ({heads})")
    kind = family.qk_norm
    if isinstance(kind, tuple):
        kind = kind[0] if fields.flag(*kind[1:]) else "none"
    return Attention(
        heads=heads,
        kv_heads=kv_heads,
        head_dim=_head_dim(fields, family, d, heads),
        qkv_bias=rule(fields, family.qkv_bias, "attention_bias"),
        output_bias=rule(fields, family.output_bias),
        qk_norm=kind,
        output_gate=family.output_gate,
        sinks=family.sinks,
    )


def _head_dim(fields: Fields, family: "Family", d: int, heads: int) -> int:
    head_dim = fields.size("head_dim", family.head_dim)
    if head_dim is None and d % heads:
        raise fields.error("num_attention_heads", f"a divisor of {fields.stored('hidden_size')} ({d})")
    return head_dim or d // heads


def latent(fields: Fields, family: "Family", d: int, count: int) -> list[LatentAttention]:
    """Multi-head latent attention in every layer."""
    fields.items("layer_types", count, _SOFTMAX, False)
    return [_latent(fields, family, None)] * count


def indexed_latent(fields: Fields, family: "Family", d: int, count: int) -> list[LatentAttention]:
    """The same with an indexer, in the layers that have one of their own."""
    kinds = {"indexed_attention": True, "deepseek_sparse_attention": True}
    fields.items("layer_types", count, kinds, True)
    fields.size("index_topk", 1)
    indexer = Indexer(fields.size("index_n_heads"), fields.size("index_head_dim"))
    own = fields.items("indexer_types", count, {"full": True, "shared": False}, True)
    _indexer_sharing(fields)
    return [_latent(fields, family, indexer if has else None) for has in own]


def _indexer_sharing(fields: Fields) -> None:
    """Older files say which layers share an indexer by a rule instead of a list."""
    rules = ("index_topk_freq", "index_topk_pattern", "index_skip_topk_offset", "index_share_for_mtp_iteration")
    given = [name for name in rules if fields.raw(name) is not None]
    if fields.raw("indexer_types") is None and given and fields.raw("index_topk_freq", 1) != 1:
        raise fields.error(given[0], "indexer_types in its place, with full or shared for each layer")


def _latent(fields: Fields, family: "Family", indexer: Indexer | None) -> LatentAttention:
    return LatentAttention(
        heads=fields.size("num_attention_heads"),
        q_rank=fields.size("q_lora_rank", 0, least=0),
        kv_rank=fields.size("kv_lora_rank"),
        nope_dim=fields.size("qk_nope_head_dim"),
        rope_dim=fields.size("qk_rope_head_dim"),
        value_dim=fields.size("v_head_dim"),
        bias=rule(fields, family.qkv_bias),
        indexer=indexer,
    )


def delta_hybrid(fields: Fields, family: "Family", d: int, count: int) -> list[Attention | GatedDeltaNet]:
    """Gated DeltaNet, with softmax attention in every n-th layer or where `layer_types` says so."""
    interval = fields.size("full_attention_interval", 4)
    linear = fields.items("layer_types", count, {"linear_attention": True, "full_attention": False}, None)
    kinds = [(number + 1) % interval != 0 if kind is None else kind for number, kind in enumerate(linear)]
    keys, values = fields.size("linear_num_key_heads"), fields.size("linear_num_value_heads")
    if values % keys:
        raise fields.error("linear_num_value_heads", f"a multiple of linear_num_key_heads ({keys})")
    net = GatedDeltaNet(
        key_heads=keys,
        key_dim=fields.size("linear_key_head_dim"),
        value_heads=values,
        value_dim=fields.size("linear_value_head_dim"),
        convolution=fields.size("linear_conv_kernel_dim"),
    )
    fields.only("attn_output_gate", True)
    full = attention(fields, family, d)
    return [net if kind else full for kind in kinds]


def mamba(fields: Fields) -> Mamba2:
    """A Mamba-2 block as the fields describe it."""
    return Mamba2(
        heads=fields.size("mamba_num_heads"),
        head_dim=fields.size("mamba_head_dim"),
        groups=fields.size("n_groups"),
        state=fields.size("ssm_state_size"),
        convolution=fields.size("conv_kernel"),
        convolution_bias=fields.flag("use_conv_bias", True),
    )


# ---- feed-forward parts ----------------------------------------------------------------------------------


def feed_forwards(fields: Fields, family: "Family", d: int, count: int) -> list[FeedForward | Experts]:
    """The feed-forward part of every layer: dense, or experts where the family routes."""
    if family.mixture is None:
        return [dense(fields, family, d)] * count
    routed = family.mixture.routed(fields, count)
    mixture = experts(fields, family, d)
    name = "dense_width" if "dense_width" in family.names else "intermediate_size"
    narrow = None if all(routed) else dense(fields, family, d, name)
    fields.raw(name)
    return [mixture if has_experts else narrow for has_experts in routed]


def dense(fields: Fields, family: "Family", d: int, name: str = "intermediate_size") -> FeedForward:
    """A dense feed-forward part; its width is the field `name`, or a multiple of `d` in families that fix it."""
    width = fields.size(name, family.wide * d) if family.wide else fields.size(name)
    return FeedForward(width, family.gated, rule(fields, family.mlp_bias, "mlp_bias"))


def experts(fields: Fields, family: "Family", d: int) -> Experts:
    """A mixture of experts as the fields describe it."""
    mixture = family.mixture
    count = fields.size("num_experts", most=10**6)
    active = fields.size("num_experts_per_tok", most=10**6)
    if active > count:
        raise fields.error("num_experts_per_tok", f"at most num_experts ({count})")
    bias = rule(fields, family.mlp_bias, "mlp_bias")
    return Experts(
        count=count,
        active=active,
        expert=FeedForward(fields.size(mixture.width), family.gated, bias),
        shared=_shared(fields, family, bias),
        shared_gate=mixture.shared_gate,
        router_bias=mixture.router_bias,
        latent=fields.size("moe_latent_size", None),
    )


def _shared(fields: Fields, family: "Family", bias: bool) -> FeedForward | None:
    mixture = family.mixture
    if mixture.shared_width is None:
        return None
    count = 1 if mixture.shared_count is None else fields.size(mixture.shared_count, 0, least=0)
    width = fields.size(mixture.shared_width, 0, least=0)
    return FeedForward(count * width, family.gated, bias) if count * width else None


# ---- which layers have experts ---------------------------------------------------------------------------


def every_layer(fields: Fields, count: int) -> list[bool]:
    """Every layer has experts."""
    return [True] * count


def after_the_first(fields: Fields, count: int) -> list[bool]:
    """DeepSeek: the first layers are dense."""
    first = fields.size("first_k_dense_replace", 0, least=0)
    fields.only("moe_layer_freq", 1, [0] * first + [1] * (count - first))
    kinds = fields.items("mlp_layer_types", count, {"dense": False, "sparse": True}, None)
    return [number >= first if kind is None else kind for number, kind in enumerate(kinds)]


def sparse_step(fields: Fields, count: int) -> list[bool]:
    """Qwen: every n-th layer, but for those listed as dense."""
    step = fields.size("decoder_sparse_step", 1)
    only_dense = fields.raw("mlp_only_layers", [])
    if not isinstance(only_dense, list) or not all(type(layer) is int for layer in only_dense):
        raise fields.error("mlp_only_layers", "a list of layer numbers")
    return [number not in only_dense and (number + 1) % step == 0 for number in range(count)]


def interleaved(fields: Fields, count: int) -> list[bool]:
    """Llama 4: every n-th layer, or those listed."""
    step = fields.size("interleave_moe_layer_step", 1)
    listed = fields.raw("moe_layers", list(range(step - 1, count, step)))
    if not isinstance(listed, list) or not all(type(layer) is int and 0 <= layer < count for layer in listed):
        raise fields.error("moe_layers", f"a list of layer numbers below {count}")
    return [number in listed for number in range(count)]


# ---- conventions that depend on several fields -----------------------------------------------------------


def falcon_kv_heads(fields: Fields, heads: int) -> int:
    """Falcon has as many key heads as the field says only in the newer layout; before, one or as many as heads."""
    if fields.flag("new_decoder_architecture", False):
        fields.raw("multi_query")
        return fields.size("num_key_value_heads", heads)
    kv_heads = 1 if fields.flag("multi_query", True) else heads
    fields.only("num_key_value_heads", kv_heads, heads)
    return kv_heads


def falcon_norms(fields: Fields) -> int:
    """Falcon has one norm or two where attention and feed-forward run side by side, else two."""
    newer, parallel = fields.flag("new_decoder_architecture", False), fields.flag("parallel_attn", True)
    return fields.size("num_ln_in_parallel_attn", 2 if newer else 1, most=2) if parallel else 2


def bigcode_kv_heads(fields: Fields, heads: int) -> int:
    """GPTBigCode has one key head, or as many as query heads."""
    kv_heads = 1 if fields.flag("multi_query", True) else heads
    fields.only("num_key_value_heads", kv_heads)
    return kv_heads


def stablelm_norms(fields: Fields) -> int:
    """StableLM has one norm where attention and feed-forward run side by side, else two."""
    return 1 if fields.flag("use_parallel_residual", False) else 2


def opt_model_norms(fields: Fields) -> int:
    """OPT has a final norm only where norms come first, and projections where tables are narrower."""
    fields.only("word_embed_proj_dim", fields.size("hidden_size"))
    removed = fields.flag("_remove_final_layer_norm", False)
    return int(fields.flag("do_layer_norm_before", True) and not removed)
