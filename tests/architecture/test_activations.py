"""What a layer keeps, against the published count and the theory's."""

import pytest

from rlmkb.architecture import canonical, load
from rlmkb.architecture.activations import TOKEN_WISE, kept_elements, kept_on_rank
from rlmkb.errors import InputError
from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.partition import DENSE, Strategy
from rlmkb.theory.sequence import MEGATRON_TENSOR, SEQUENCE_TENSOR, kept, rank_activations

GPT = load("gpt-3-175b")  # the canonical layer, d_ff = 4 d


def test_the_canonical_layer_keeps_what_the_theory_says_and_korthikanti_published():
    per_layer = sum(kept_elements(GPT).values()) / len(GPT.layers)
    at = {**canonical(GPT), "m": 1, "B": 1}
    assert per_layer == sum(evaluate(entry.per_token, at) for entry in kept(DENSE)) == 16 * GPT.d_model
    masks = 2 * 1  # two dropout masks of a byte
    assert 2 * per_layer / GPT.d_model + masks == 34
    token_wise = sum(kept_elements(GPT)[name] for name in TOKEN_WISE) / len(GPT.layers) / GPT.d_model
    assert 2 * token_wise + masks == 10


def test_a_gated_layer_with_grouped_queries_by_hand():
    llama = load("llama-3.1-8b")  # width 4096, keys and values 1024 wide, 14,336 inner numbers, each kept three times
    assert sum(kept_elements(llama).values()) == 32 * (4 * 4096 + 4096 + 2 * 1024 + 4096 + 3 * 14_336)


@pytest.mark.parametrize("tensor", [1, 2, 8])
def test_a_rank_keeps_what_the_theory_says(tensor):
    at = {**canonical(GPT), "m": 1, "B": 1, "P_t": tensor}
    for axis, on in ((MEGATRON_TENSOR, False), (SEQUENCE_TENSOR, True)):
        theory = evaluate(rank_activations(Strategy("tensor", DENSE, (axis,))).total, at)
        assert sum(kept_on_rank(GPT, tensor, sequence_parallel=on).values()) == pytest.approx(theory)


@pytest.mark.parametrize("name", ["llama-3.1-8b", "qwen2.5-7b", "llama-3.1-405b"])
def test_sequence_parallelism_divides_all_and_tensor_parallelism_leaves_the_token_wise_part(name):
    model = load(name)
    degree = min(4, model.layers[0].mixer.kv_heads)
    whole, alone, both = (
        kept_elements(model), kept_on_rank(model, degree, sequence_parallel=False),
        kept_on_rank(model, degree, sequence_parallel=True),
    )  # fmt: skip
    assert {name: size * degree for name, size in both.items()} == whole
    assert all((alone[name] == whole[name]) == (name in TOKEN_WISE) for name in whole)


def test_other_layers_and_impossible_degrees_are_refused():
    with pytest.raises(InputError, match="layer 1 is not attention with a dense"):
        kept_elements(load("mixtral-8x7b-v0.1"))
    with pytest.raises(InputError, match="from 1 to 8, the key and value heads"):
        kept_on_rank(load("llama-3.1-8b"), 16, sequence_parallel=True)
