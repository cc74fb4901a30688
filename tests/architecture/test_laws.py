"""Laws that hold for every decoder, tried on random ones."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from rlmkb.architecture import (
    Attention,
    Decoder,
    Experts,
    FeedForward,
    GatedDeltaNet,
    Indexer,
    LatentAttention,
    Layer,
    Mamba2,
    active_parameters,
    cache_elements,
    forward_flops,
    parameters,
    state_elements,
)

size = st.integers(1, 64)
attention = st.builds(
    lambda groups, **rest: Attention(heads=groups * rest["kv_heads"], **rest),
    groups=st.integers(1, 4),
    kv_heads=st.integers(1, 8),
    head_dim=size,
    qkv_bias=st.booleans(),
    output_bias=st.booleans(),
    qk_norm=st.sampled_from(["none", "head", "full"]),
    output_gate=st.booleans(),
    sinks=st.booleans(),
)
latent = st.builds(
    LatentAttention,
    heads=size,
    q_rank=size,
    kv_rank=size,
    nope_dim=size,
    rope_dim=size,
    value_dim=size,
    indexer=st.none() | st.builds(Indexer, size, size),
)
recurrent = st.builds(GatedDeltaNet, *[size] * 5) | st.builds(Mamba2, *[size] * 5)
dense = st.builds(FeedForward, size, st.booleans(), st.booleans())
experts = st.builds(
    lambda active, idle, **rest: Experts(count=active + idle, active=active, **rest),
    active=st.integers(1, 8),
    idle=st.integers(0, 8),
    expert=dense,
    shared=st.none() | dense,
    shared_gate=st.booleans(),
    router_bias=st.sampled_from(["none", "parameter", "buffer"]),
    latent=st.none() | size,
)
layer = st.builds(Layer, st.none() | attention | latent | recurrent, st.none() | dense | experts, st.integers(0, 4))
decoder = st.builds(
    Decoder,
    size,
    size,
    st.booleans(),
    st.lists(layer, min_size=1, max_size=4).map(tuple),
    norm_vectors=st.integers(0, 2),
    learned_positions=st.integers(0, 8),
)


def total(decoder):
    return sum(parameters(decoder).values())


@given(decoder)
def test_active_parameters_are_some_of_all(decoder):
    whole, active = parameters(decoder), active_parameters(decoder)
    assert whole.keys() == active.keys()
    assert all(0 < active[name] <= whole[name] for name in whole)


@given(decoder)
def test_layers_add_up(decoder):
    """A decoder is its layers one by one, and the same model without layers."""
    empty = total(replace(decoder, layers=()))
    assert total(decoder) == empty + sum(total(replace(decoder, layers=(one,))) - empty for one in decoder.layers)
    assert cache_elements(decoder) == sum(cache_elements(replace(decoder, layers=(one,))) for one in decoder.layers)
    assert state_elements(decoder) == sum(state_elements(replace(decoder, layers=(one,))) for one in decoder.layers)
    assert parameters(decoder) == parameters(replace(decoder, layers=decoder.layers[::-1]))


@given(decoder)
def test_an_output_head_of_its_own_is_one_more_table(decoder):
    tied, untied = (total(replace(decoder, tied_embeddings=tied)) for tied in (True, False))
    assert untied - tied == decoder.vocab_size * decoder.d_model


@given(decoder, st.sampled_from(["d_model", "vocab_size", "learned_positions"]), st.integers(1, 9))
def test_a_larger_model_has_more_of_everything(decoder, name, more):
    larger = replace(decoder, **{name: getattr(decoder, name) + more})
    assert total(larger) > total(decoder)
    assert sum(forward_flops(larger, 7).values()) >= sum(forward_flops(decoder, 7).values())


@given(attention, st.sampled_from(["head_dim", "kv_heads", "heads"]), size)
def test_wider_attention_costs_more(mixer, name, d):
    wider = replace(mixer, **{name: 2 * getattr(mixer, name)})
    assert wider.matrices(d) > mixer.matrices(d)
    assert wider.vectors(d) >= mixer.vectors(d)
    assert wider.flops_per_pair() >= mixer.flops_per_pair()


@given(attention, st.integers(1, 5))
def test_the_cache_grows_with_key_heads_only(mixer, times):
    more = replace(mixer, heads=times * mixer.heads, kv_heads=times * mixer.kv_heads)
    assert more.cache_elements() == times * mixer.cache_elements()
    assert replace(mixer, heads=times * mixer.heads).cache_elements() == mixer.cache_elements()


@given(decoder, st.integers(1, 10**6))
def test_causal_attention_is_half_of_the_square(decoder, length):
    half, full = (forward_flops(decoder, length, causal=causal) for causal in (True, False))
    pairs = half.pop("attention_pairs", 0)
    assert full.pop("attention_pairs", 0) == 2 * pairs
    assert half == full
    assert 2 * pairs == forward_flops(decoder, 2 * length).get("attention_pairs", 0)


@given(decoder)
def test_matrices_cost_two_flops_a_weight(decoder):
    """Without biases, norms, look-ups and pairs, work is twice the active weights."""
    bare = replace(
        decoder, norm_vectors=0, learned_positions=0, tied_embeddings=False, layers=tuple(map(_bare, decoder.layers))
    )
    weights = sum(active_parameters(bare).values()) - decoder.vocab_size * decoder.d_model
    flops = forward_flops(bare, 1)
    extra = flops.get("attention_pairs", 0) + flops.get("recurrence", 0)
    assert sum(flops.values()) - extra == 2 * (weights - sum(_vectors(one, decoder.d_model) for one in bare.layers))


def _bare(layer):
    """A layer without biases and norms where they can be left out."""
    mixer, part = layer.mixer, layer.feed_forward
    if isinstance(mixer, Attention):
        mixer = replace(mixer, qkv_bias=False, output_bias=False, qk_norm="none", sinks=False)
    if isinstance(part, FeedForward):
        part = replace(part, bias=False)
    if isinstance(part, Experts):
        shared = part.shared and replace(part.shared, bias=False)
        part = replace(part, expert=replace(part.expert, bias=False), shared=shared, router_bias="none")
    return Layer(mixer, part, 0)


def _vectors(layer, d):
    return 0 if layer.mixer is None else layer.mixer.vectors(d)
