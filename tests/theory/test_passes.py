"""Passes over a batch: the same numbers as the building blocks that they are made of."""

import numpy as np
import pytest

from rlmkb.errors import InputError
from rlmkb.notation import Role
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory import passes
from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.transformer import Attention, forward_work, transformer

SHAPE = {"L": 3, "d": 64, "d_ff": 256, "h": 4, "V": 500}


def test_decode_steps_add_up_to_decode_and_chain_up_to_generation():
    S, T = 7, 12
    work, depth = passes.decode_step().at(SHAPE, m=np.arange(S + 1, S + T), B=1)
    assert work.sum() == blocks.decode().evaluate(SHAPE, S=S, T=T)
    first = passes.forward_pass().at(SHAPE, m=S, B=1)[1]
    assert first + depth.sum() == pytest.approx(blocks.depth_generation().evaluate(SHAPE, S=S, T=T))


@pytest.mark.parametrize("make", [passes.decode_step, passes.forward_pass, passes.training_pass])
def test_the_batch_multiplies_work_and_adds_at_most_a_logarithm_to_depth(make):
    one, eight = (make().at(SHAPE, m=100, B=B) for B in (1, 8))
    assert eight[0] == 8 * one[0]
    assert eight[1] - one[1] in (0, 3)


def test_training_is_three_forward_passes_in_work_and_two_in_depth():
    forward, training = (
        make(Role.CRITIC).at(SHAPE, m=100, B=2) for make in (passes.forward_pass, passes.training_pass)
    )
    assert training[0] == 3 * forward[0]
    assert training[1] == pytest.approx(2 * forward[1] + np.log2(200))


@pytest.mark.parametrize("attention", Attention)
def test_at_the_crossover_attention_is_half_of_the_layers(attention):
    length = evaluate(passes.crossover(attention), SHAPE)
    cost = forward_work(transformer(Role.POLICY), passes.m, attention)
    parts = {name: evaluate(cost[name], {**SHAPE, "m": length}) for name in ("projections", "ffn", "attention")}
    assert parts["attention"] == parts["projections"] + parts["ffn"]


def test_the_chain_of_all_layers_and_the_head_is_the_depth():
    rows = passes.chain({**SHAPE, "m": 100})
    whole = SHAPE["L"] * sum(row["depth"] for row in rows) + np.log2(SHAPE["d"])
    assert whole == pytest.approx(blocks.depth_forward(Role.POLICY).evaluate(SHAPE, m=100))


def test_the_terms_of_a_forward_pass_add_up_to_it():
    rows = passes.work_terms({**SHAPE, "m": 100}, Role.CRITIC)
    assert sum(row["flops"] for row in rows) == blocks.forward(Role.CRITIC).evaluate(SHAPE, m=100)
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    assert rows[0]["latex"] == "8 L_{V} d_{V}^{2}"


def test_a_missing_value_is_named():
    with pytest.raises(InputError, match="missing value for B"):
        passes.decode_step().at(SHAPE, m=5)
