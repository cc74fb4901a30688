"""What context-parallel ranks exchange: the theory's counts for canonical attention, less for grouped queries."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlmkb.architecture import canonical, load
from rlmkb.architecture.context_split import hidden_from, ring_elements, ulysses_elements
from rlmkb.errors import InputError
from rlmkb.theory.partition import STRATEGIES
from rlmkb.theory.traffic import ContextMethod, traffic_formula

MHA = load("llama-2-7b")  # as many key as query heads
CONTEXT = STRATEGIES["context"]


@given(st.sampled_from([1, 2, 4, 8, 16, 32]), st.integers(1, 2**14))
def test_canonical_attention_gives_the_counts_of_the_theory(ranks, blocks):
    length = blocks * 32
    at = {**canonical(MHA), "B": 1, "m": length, "P_c": ranks}
    for method, elements in ((ContextMethod.RING, ring_elements), (ContextMethod.ULYSSES, ulysses_elements)):
        theory = traffic_formula(CONTEXT, backward=False, context_method=method).evaluate(at)
        assert elements(MHA, length, ranks) == pytest.approx(theory)


def test_grouped_queries_shrink_the_ring_and_only_the_keys_of_the_exchange():
    grouped = load("llama-3.1-8b")
    mixer = replace(grouped.layers[0].mixer, kv_heads=grouped.layers[0].mixer.heads)
    plain = replace(grouped, layers=tuple(replace(layer, mixer=mixer) for layer in grouped.layers))
    assert ring_elements(plain, 4096, 8) == 4 * ring_elements(grouped, 4096, 8)
    assert ulysses_elements(plain, 4096, 8) / ulysses_elements(grouped, 4096, 8) == 4 / 2.5
    assert hidden_from(plain, 1000) == 4 * hidden_from(grouped, 1000)


def test_a_hidden_hop_takes_as_long_as_its_attention():
    model, tokens = load("llama-3.1-70b"), hidden_from(load("llama-3.1-70b"), 20_000)
    mixer = model.layers[0].mixer
    flops = mixer.flops_per_pair() * tokens**2 / 2
    assert flops / 20_000 == pytest.approx(2 * mixer.cache_elements() * tokens)


def test_beyond_the_key_heads_the_exchange_copies_them():
    model = load("llama-3.1-8b")
    few, many = ulysses_elements(model, 2**15, 8), ulysses_elements(model, 2**15, 16)
    assert many / few == pytest.approx((64 + 2 * 16) / (64 + 2 * 8) * (15 / 16**2) / (7 / 8**2))


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: ulysses_elements(MHA, 1024, 64), "ranks is 64 but there are 32 heads"),
        (lambda: ring_elements(MHA, 1024, 0), "ranks is 0"),
        (lambda: ulysses_elements(load("deepseek-v3"), 1024, 2), "layer 1 has no softmax attention with heads"),
    ],
)
def test_what_cannot_be_is_refused(ask, told):
    with pytest.raises(InputError, match=told):
        ask()
