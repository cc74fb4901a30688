"""What a layer keeps, and what sequence parallelism divides: the numbers of Korthikanti et al., and composition."""

import pytest
import sympy

from rlmkb.theory.partition import (
    CONTEXT,
    DATA,
    DENSE,
    MIXTURE,
    PIPELINE,
    STRATEGIES,
    TENSOR,
    B,
    E_a,
    L,
    Part,
    Strategy,
    d,
    d_e,
    d_ff,
    h,
    m,
)
from rlmkb.theory.sequence import MEGATRON_TENSOR, SEQUENCE_TENSOR, kept, rank_activations

t = TENSOR.degree
WIDE = {d_ff: 4 * d}


def per_token(axis, flash):
    whole = rank_activations(Strategy("x", DENSE, (axis,)), flash=flash).total.subs(WIDE)
    return sympy.expand(whole / (B * m * L))


@pytest.mark.parametrize(
    ("axis", "printed"),
    [
        # bytes per token, without the masks of dropout (2 d whole, h m + ... in attention): 34 - 2, 10 - 2, 5 - 3
        (MEGATRON_TENSOR, 8 * d + 24 * d / t + 2 * h * m / t),
        (SEQUENCE_TENSOR, (32 * d + 2 * h * m) / t),
    ],
    ids=["tensor", "tensor and sequence"],
)
def test_bytes_of_the_source(axis, printed):
    assert sympy.expand(2 * per_token(axis, flash=False) - printed) == 0


def test_flash_attention_keeps_no_shares():
    assert per_token(SEQUENCE_TENSOR, flash=False) - per_token(SEQUENCE_TENSOR, flash=True) == h * m / t


def test_sequence_parallelism_is_the_reading_of_the_papers_tensor_row():
    ours, paper = (Strategy("x", DENSE, (axis,)) for axis in (SEQUENCE_TENSOR, TENSOR))
    assert ours.rank_memory == paper.rank_memory
    alone = Strategy("x", DENSE, (MEGATRON_TENSOR,)).rank_memory
    assert alone[Part.ACTIVATIONS] == B * m * L * d
    assert alone[Part.FFN_STATE] == paper.rank_memory[Part.FFN_STATE]


def test_it_composes_with_every_other_axis():
    axes = (DATA, PIPELINE, CONTEXT)
    plain, split = (Strategy("x", DENSE, (*axes, tensor)) for tensor in (MEGATRON_TENSOR, SEQUENCE_TENSOR))
    others = DATA.degree * PIPELINE.degree * CONTEXT.degree
    for strategy, token_wise in ((plain, others), (split, others * t)):
        for entry, term in zip(kept(DENSE), rank_activations(strategy), strict=True):
            pieces = token_wise if entry.token_wise else others * t
            assert sympy.simplify(term.expr * pieces - B * m * L * entry.per_token) == 0
    assert rank_activations(STRATEGIES["none"]).total == sympy.expand(B * m * L * (8 * d + 2 * d_ff))


def test_experts_keep_an_input_and_a_hidden_layer_for_each_choice():
    whole = sympy.Add(*(entry.per_token for entry in kept(MIXTURE)))
    assert sympy.expand(whole - (7 * d + E_a * d + 2 * E_a * d_e)) == 0
