"""What the code of a `model_type` fixes without saying so in a `config.json`.

A configuration names sizes; whether projections have biases, how many norms a layer has, or whether tables
are tied by default is decided by the model's code in Hugging Face transformers. This table states those
conventions by family of code, never by name of a model. Where a file has a field for it, the field wins.

Source: modelling and configuration code of transformers 5.24; for `internlm2`, `kimi_k2` and `nemotron-nas`
the code that is published with the checkpoints.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from rlmkb.architecture import parts

Rule = bool | tuple[str, bool]  # always so, or: as this field says, with its default


@dataclass(frozen=True)
class Mixture:
    """How a family stores a mixture of experts.

    `width`, `shared_width` and `shared_count` name fields: the width of one expert, of one shared expert, and
    how many shared ones there are (None: one). `routed` tells which layers have experts.
    """

    width: str = "moe_intermediate_size"
    shared_width: str | None = None
    shared_count: str | None = None
    shared_gate: bool = False
    router_bias: Literal["none", "parameter", "buffer"] = "none"
    routed: Callable = parts.every_layer


@dataclass(frozen=True)
class Family:
    """Conventions of one `model_type`; the defaults are those of Llama.

    `kv_heads` and `head_dim` are what an absent field means (None: as many as heads; the width divided by the
    heads). `positions` is the number of rows that the table of learned positions has beyond the field.
    """

    layers: Callable = parts.stacked
    mixer: Callable = parts.grouped
    mixture: Mixture | None = None
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tied: bool = False
    gated: bool = True
    norms: int | Callable = 2
    norm_vectors: int = 1
    model_norms: int | Callable = 1
    positions: int | None = None
    kv_heads: int | Callable | None = None
    head_dim: int | None = None
    qkv_bias: Rule = False
    output_bias: Rule = False
    mlp_bias: Rule = False
    head_bias: Rule = False
    qk_norm: str | tuple[str, str, bool] = "none"  # or: this kind if this field (default) says so
    rotary: float | None = 1.0  # part of a head that is rotated, if no field says it; None: no angles
    output_gate: bool = False
    sinks: bool = False
    wide: int | None = None  # feed-forward width over model width, where no field says it
    off: Mapping[str, tuple] = field(default_factory=dict)  # fields that are understood with these values only
    unused: tuple[str, ...] = ()  # fields that this code does not turn into weights


_ATTENTION = ("attention_bias", False)
_ATTENTION_ON = ("attention_bias", True)
_MLP = ("mlp_bias", False)
_LLAMA = Family(qkv_bias=_ATTENTION, output_bias=_ATTENTION, mlp_bias=_MLP)
_PLAIN = Family()  # gated, RMSNorm, no bias anywhere
_BIASED = Family(
    gated=False, norm_vectors=2, tied=True, qkv_bias=True, output_bias=True, mlp_bias=True, rotary=None
)  # the GPT-2 line

_QWEN2 = Family(qkv_bias=True, kv_heads=32)
_QWEN3 = Family(qkv_bias=_ATTENTION, output_bias=_ATTENTION, qk_norm="head", kv_heads=32, head_dim=128)
_QWEN3_HYBRID = replace(_QWEN3, rotary=0.25, mixer=parts.delta_hybrid, output_gate=True, kv_heads=2, head_dim=256)
_QWEN3_5 = replace(
    _QWEN3_HYBRID,
    off={"mlp_only_layers": ([],), "output_gate_type": ("swish", "silu")},
    unused=("mtp_use_dedicated_embeddings",),
)
_QWEN_SHARED = Mixture(shared_width="shared_expert_intermediate_size", shared_gate=True)
_GEMMA = Family(qkv_bias=_ATTENTION, output_bias=_ATTENTION, tied=True, head_dim=256, kv_heads=16)
_GPT2 = replace(
    _BIASED,
    names={
        "hidden_size": ("n_embd", "hidden_size"),
        "num_hidden_layers": ("n_layer", "num_hidden_layers"),
        "num_attention_heads": ("n_head", "num_attention_heads"),
        "intermediate_size": ("n_inner",),
        "max_position_embeddings": ("n_positions", "max_position_embeddings"),
    },
    positions=0,
    wide=4,
)
_DEEPSEEK = Family(
    mixer=parts.latent,
    qkv_bias=_ATTENTION,
    mixture=Mixture(
        shared_width="moe_intermediate_size",
        shared_count="n_shared_experts",
        router_bias="buffer",
        routed=parts.after_the_first,
    ),
    unused=("num_key_value_heads", "head_dim", "qk_head_dim"),
)
_SHARED_LIKE_DEEPSEEK = _DEEPSEEK.mixture
_FULL_WIDTH_EXPERTS = Mixture(width="intermediate_size")

FAMILIES: Mapping[str, Family] = {
    "arcee": replace(_LLAMA, gated=False),
    "bloom": replace(
        _BIASED,
        names={
            "hidden_size": ("hidden_size", "n_embed"),
            "num_hidden_layers": ("n_layer", "num_hidden_layers"),
            "num_attention_heads": ("n_head", "num_attention_heads"),
        },
        model_norms=2,
        wide=4,
    ),
    "cohere": Family(
        tied=True, norms=1, qkv_bias=_ATTENTION, output_bias=_ATTENTION, qk_norm=("full", "use_qk_norm", False)
    ),
    "cohere2": Family(
        tied=True,
        norms=1,
        qkv_bias=_ATTENTION,
        output_bias=_ATTENTION,
        off={"use_embedding_sharing": (True,), "use_gated_activation": (True,), "use_parallel_block": (True,)},
    ),
    "deepseek_v2": replace(_DEEPSEEK, mixture=replace(_SHARED_LIKE_DEEPSEEK, router_bias="none"), mlp_bias=_MLP),
    "deepseek_v3": _DEEPSEEK,
    "deepseek_v32": replace(_DEEPSEEK, mixer=parts.indexed_latent),
    "dots1": replace(_QWEN3, mixture=_SHARED_LIKE_DEEPSEEK, head_dim=None),
    "ernie4_5": Family(
        tied=True,
        qkv_bias=("use_bias", False),
        output_bias=("use_bias", False),
        mlp_bias=("use_bias", False),
        kv_heads=2,
        head_dim=128,
    ),
    "exaone4": replace(_PLAIN, qk_norm="head"),
    "falcon": Family(
        names={
            "num_key_value_heads": ("num_kv_heads", "n_head_kv"),
            "intermediate_size": ("ffn_hidden_size",),
            "hidden_size": ("hidden_size", "n_embed"),
            "num_hidden_layers": ("num_hidden_layers", "n_layer"),
            "num_attention_heads": ("num_attention_heads", "n_head"),
        },
        tied=True,
        gated=False,
        norm_vectors=2,
        norms=parts.falcon_norms,
        kv_heads=parts.falcon_kv_heads,
        qkv_bias=("bias", False),
        output_bias=("bias", False),
        mlp_bias=("bias", False),
        wide=4,
    ),
    "gemma": _GEMMA,
    "gemma2": replace(_GEMMA, norms=4, kv_heads=4),
    "gemma3_text": replace(_GEMMA, norms=4, kv_heads=4, qk_norm="head"),
    "glm": Family(rotary=0.5, qkv_bias=_ATTENTION_ON, kv_heads=2, head_dim=128),
    "glm4": Family(rotary=0.5, qkv_bias=_ATTENTION_ON, norms=4, kv_heads=2, head_dim=128),
    "glm4_moe": Family(
        qkv_bias=_ATTENTION, qk_norm=("head", "use_qk_norm", False), kv_heads=8, mixture=_SHARED_LIKE_DEEPSEEK
    ),
    "glm_moe_dsa": replace(_DEEPSEEK, mixer=parts.indexed_latent),
    "gpt2": _GPT2,
    "gpt_bigcode": replace(_GPT2, kv_heads=parts.bigcode_kv_heads),
    "gpt_neox": Family(
        rotary=0.25, gated=False, norm_vectors=2, qkv_bias=_ATTENTION_ON, output_bias=_ATTENTION_ON, mlp_bias=True
    ),
    "gpt_oss": Family(
        qkv_bias=_ATTENTION_ON,
        output_bias=_ATTENTION_ON,
        mlp_bias=True,
        sinks=True,
        kv_heads=8,
        head_dim=64,
        mixture=replace(_FULL_WIDTH_EXPERTS, router_bias="parameter"),
        names={"num_experts_per_tok": ("num_experts_per_tok", "experts_per_token")},
    ),
    "gptj": replace(
        _GPT2,
        tied=False,
        norms=1,
        qkv_bias=False,
        output_bias=False,
        head_bias=True,
        positions=None,
        unused=("n_positions",),
    ),
    "granite": _LLAMA,
    "granitemoe": replace(_LLAMA, mlp_bias=False, mixture=_FULL_WIDTH_EXPERTS),
    "granitemoeshared": replace(
        _LLAMA,
        mlp_bias=False,
        mixture=replace(_FULL_WIDTH_EXPERTS, shared_width="shared_intermediate_size"),
    ),
    "hunyuan_v1_dense": replace(_LLAMA, mlp_bias=False, qk_norm="head"),
    "internlm2": Family(qkv_bias=("bias", True), output_bias=("bias", True)),
    "kimi_k2": _DEEPSEEK,
    "llama": _LLAMA,
    "llama4_text": replace(
        _LLAMA,
        mlp_bias=False,
        kv_heads=8,
        head_dim=128,
        mixture=Mixture(width="intermediate_size", shared_width="intermediate_size", routed=parts.interleaved),
        names={"dense_width": ("intermediate_size_mlp",)},
        unused=("use_qk_norm", "attention_chunk_size", "for_llm_compressor"),
    ),
    "minimax_m2": replace(
        _PLAIN,
        qk_norm="full",
        kv_heads=8,
        mixture=replace(_FULL_WIDTH_EXPERTS, router_bias="buffer"),
        off={
            "use_routing_bias": (True,),
            "use_qk_norm": (True,),
            "qk_norm_type": ("per_layer",),
            "shared_intermediate_size": (0,),
        },
        unused=("mtp_transformer_layers", "use_mtp"),
    ),
    "ministral": replace(_PLAIN, kv_heads=8),
    "ministral3": replace(_PLAIN, kv_heads=8, head_dim=128),
    "mistral": replace(_PLAIN, kv_heads=8),
    "mixtral": replace(_PLAIN, kv_heads=8, mixture=_FULL_WIDTH_EXPERTS),
    "nemotron": replace(_LLAMA, gated=False, norm_vectors=2, rotary=0.5),
    "nemotron-nas": replace(_LLAMA, layers=parts.searched, unused=("num_key_value_heads", "intermediate_size")),
    "nemotron_h": Family(
        layers=parts.patterned,
        rotary=None,
        gated=False,
        norms=1,
        kv_heads=8,
        head_dim=128,
        names={"head_dim": ("head_dim", "attention_head_dim")},
        mixture=Mixture(shared_width="moe_shared_expert_intermediate_size"),
        off={"use_bias": (False,), "mamba_proj_bias": (False,)},
        unused=("n_shared_experts", "mtp_hybrid_override_pattern", "mtp_layers_block_type"),
    ),
    "olmo": Family(norm_vectors=0, qkv_bias=_ATTENTION, output_bias=_ATTENTION),
    "olmo2": Family(qkv_bias=_ATTENTION, output_bias=_ATTENTION, qk_norm="full"),
    "olmo3": Family(qkv_bias=_ATTENTION, output_bias=_ATTENTION, qk_norm="full"),
    "olmoe": Family(qkv_bias=_ATTENTION, output_bias=_ATTENTION, qk_norm="full", mixture=_FULL_WIDTH_EXPERTS),
    "opt": replace(
        _BIASED,
        names={"intermediate_size": ("ffn_dim",)},
        qkv_bias=("enable_bias", True),
        output_bias=("enable_bias", True),
        mlp_bias=("enable_bias", True),
        positions=2,
        model_norms=parts.opt_model_norms,
        off={"layer_norm_elementwise_affine": (True,)},
    ),
    "phi": replace(
        _BIASED,
        rotary=0.5,
        tied=False,
        norms=1,
        head_bias=True,
        off={"qk_layernorm": (False,)},
    ),
    "phi3": _PLAIN,
    "phimoe": Family(
        norm_vectors=2,
        qkv_bias=_ATTENTION,
        output_bias=_ATTENTION,
        kv_heads=8,
        head_bias=("lm_head_bias", False),
        mixture=_FULL_WIDTH_EXPERTS,
    ),
    "qwen2": _QWEN2,
    "qwen2_moe": replace(
        _QWEN2, kv_heads=16, qkv_bias=("qkv_bias", True), mixture=replace(_QWEN_SHARED, routed=parts.sparse_step)
    ),
    "qwen3": _QWEN3,
    "qwen3_5_moe_text": replace(_QWEN3_5, mixture=_QWEN_SHARED),
    "qwen3_5_text": replace(_QWEN3_5, kv_heads=4),
    "qwen3_moe": replace(
        _QWEN3,
        kv_heads=4,
        head_dim=None,
        mixture=Mixture(routed=parts.sparse_step),
        off={"shared_expert_intermediate_size": (0,), "qkv_bias": (False,), "use_qk_norm": (True,)},
    ),
    "qwen3_next": replace(_QWEN3_HYBRID, mixture=replace(_QWEN_SHARED, routed=parts.sparse_step)),
    "seed_oss": replace(
        _LLAMA, qkv_bias=_ATTENTION_ON, output_bias=("attention_out_bias", False), kv_heads=8, head_dim=128
    ),
    "smollm3": replace(_LLAMA, tied=True, kv_heads=4),
    "stablelm": Family(
        rotary=0.25,
        norm_vectors=2,
        norms=parts.stablelm_norms,
        qkv_bias=("use_qkv_bias", False),
        qk_norm=("full", "qk_layernorm", False),
    ),
    "starcoder2": replace(
        _BIASED,
        rotary=1.0,
        kv_heads=2,
        qkv_bias=("use_bias", True),
        output_bias=("use_bias", True),
        mlp_bias=("use_bias", True),
        off={"mlp_type": ("default",), "norm_type": ("layer_norm",)},
    ),
}
