"""Traced programs against the theory: equal to the last FLOP, for every role and many shapes."""

import math
from dataclasses import replace

import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlmkb.errors import InputError
from rlmkb.notation import Role
from rlmkb.theory.evaluate import evaluate
from rlmkb.verification import comparison, programs, trace, transformer
from rlmkb.verification.comparison import compare
from rlmkb.verification.transformer import HEADS, Shape

EXAMPLE = Shape(L=2, d=256, d_ff=1024, h=4, V=1000)

roles = st.sampled_from(list(HEADS))
few = st.integers(1, 5)


@st.composite
def shapes(draw):
    h, width = draw(few), draw(st.integers(1, 9))
    return Shape(
        L=draw(st.integers(1, 3)), d=h * width, d_ff=draw(st.integers(1, 40)), h=h, V=draw(st.integers(2, 50)),
        role=draw(roles),
    )  # fmt: skip


def by_hand(shape, m):
    """FLOPs of one sequence of m tokens, attention dense, written out once more."""
    layer = 8 * shape.d**2 + 4 * shape.d * shape.d_ff + 4 * m * shape.d
    head = {"logits": 2 * m * shape.V * shape.d, "values": 2 * m * shape.d, "score": 2 * shape.d}
    return shape.L * m * layer + sum(head[name] for name in HEADS[shape.role])


@pytest.mark.parametrize("role", HEADS)
def test_the_worked_example(role):
    shape = EXAMPLE.with_role(role)
    counted = programs.forward(shape, 3, 128).count()
    assert counted.work == 3 * by_hand(shape, 128)
    assert counted.chain.product == (256**4 * 1024 * 128 // 4) ** 2 * 256
    assert counted.depth == 102


@given(shapes(), few, st.integers(1, 40))
@settings(max_examples=25, deadline=None)
def test_forward_is_exact_for_all_shapes(shape, B, m):
    counted = programs.forward(shape, B, m).count()
    values = comparison.at(shape, B=B, m=m)
    terms = {name: evaluate(expr, values) for name, expr in comparison.dense_forward_terms(shape.role).items()}
    traced = dict.fromkeys(terms, 0)
    for label, work in counted.work_by_label().items():
        traced[comparison.TERMS[label]] += work
    assert traced == terms
    assert counted.work == B * by_hand(shape, m)
    lengths = [*comparison.layer_lengths(shape, m) * shape.L, shape.d]
    assert counted.chain.product == math.prod(lengths)


@pytest.mark.slow
@given(shapes(), few, st.integers(1, 8), st.integers(2, 4))
@settings(max_examples=6, deadline=None)
def test_every_program_is_exact_for_all_shapes(shape, B, S, T):
    rows = compare(shape, B, S, T)
    for row in rows:
        if row.claim in comparison.LOOSE:
            continue
        assert row.traced == pytest.approx(row.formula, rel=1e-12, abs=1e-9), row
        if row.quantity != "depth":
            assert row.traced == row.formula, row
    assert {row.program for row in rows} >= {"forward", "backward", "training", "parameters"}
    assert ("generation" in {row.program for row in rows}) == ("logits" in HEADS[shape.role])


def test_the_chain_is_the_theorys_link_by_link():
    links = programs.forward(EXAMPLE, 1, 128).count().chain.links
    layer = comparison.layer_lengths(EXAMPLE, 128)
    assert [link.length for link in links] == [*layer, *layer, 256]
    assert [link.label for link in links[1:6]] == ["scores", "mix", "output", "up", "down"]


def test_the_model_of_a_billion_parameters_is_counted_without_allocating_it():
    shape = Shape(L=16, d=2048, d_ff=8192, h=32, V=128_256)
    counted = programs.forward(shape, 64, 8192).count()
    assert counted.work == 64 * by_hand(shape, 8192)
    assert programs.parameter_elements(shape)["norms"] == 33 * 2048


@pytest.mark.parametrize(("role", "back_through_head"), [("policy", math.log2(1000)), ("critic", 0)])
def test_depth_of_a_training_step_by_hand(role, back_through_head):
    # forward 102; back through the head, two layers of 47, and 384 tokens summed in place of the last log d
    counted = programs.training(EXAMPLE.with_role(role), 3, 128).count()
    assert counted.depth == pytest.approx(102 + back_through_head + 2 * 47 - 8 + math.log2(384))
    last = counted.chain.links[-1]
    assert (last.backward, last.length) == (True, 384)
    assert last.label in ("query", "key")  # their gradients end equally long chains


@pytest.mark.slow
def test_the_printed_training_depth_is_no_bound():
    def ratio(**sizes):
        rows = compare(Shape(**sizes), 8, 8, 8)
        return next(row.ratio for row in rows if row.claim == comparison.D_TR_PRINTED)

    assert ratio(L=1, d=64, d_ff=256, V=512) < 1 < ratio(L=1, d=64, d_ff=256, V=65536)


def test_with_frozen_embedding_and_heads_the_backward_pass_is_less_than_twice():
    B, m, d, V = 3, 128, EXAMPLE.d, EXAMPLE.V
    forward = programs.forward(EXAMPLE, B, m).count().work
    blocks_only = programs.block_training(EXAMPLE, B, m).count()
    first_input = 3 * 2 * d * d  # no gradient of the first block's input is needed
    assert blocks_only.backward_work == 2 * forward - B * m * (first_input + 2 * V * d)


def test_recomputation_skips_what_no_gradient_needs():
    B, m = 3, 128
    plain, checkpointed = (programs.training(EXAMPLE, B, m, checkpoint=on).count() for on in (False, True))
    again = by_hand(replace(EXAMPLE, role=Role.REWARD), m) - 2 * EXAMPLE.d  # the layers
    assert checkpointed.work - plain.work == B * (again - EXAMPLE.L * m * 2 * EXAMPLE.d * EXAMPLE.d_ff)
    assert checkpointed.depth == plain.depth  # a block can be run again before its gradient is due


def test_a_static_cache_costs_every_step_the_full_length():
    B, S, T = 2, 8, 5
    grown, static = (programs.generation(EXAMPLE, B, S, T, static=on).count() for on in (False, True))
    unused = sum(S + T - 1 - (S + t) for t in range(1, T))
    assert static.work - grown.work == B * EXAMPLE.L * 4 * EXAMPLE.d * unused
    assert static.depth > grown.depth


def test_causal_attention_token_by_token_is_half_and_the_diagonal():
    m = 16
    steps = [programs.decode_step(EXAMPLE, 1, context).count().work_by_label() for context in range(1, m + 1)]
    mixing = sum(step["scores"] + step["mix"] for step in steps)
    dense = programs.forward(EXAMPLE, 1, m).count().work_by_label()
    assert mixing / (dense["scores"] + dense["mix"]) == (m + 1) / (2 * m)


@pytest.mark.slow
@given(st.sampled_from([1, 2, 4, 8]), st.integers(1, 4), st.integers(1, 3), st.integers(2, 9))
@settings(max_examples=4, deadline=None)
def test_activations_kept_per_token_and_layer(h, width, B, m):
    shape = Shape(L=1, d=h * 2 * width, d_ff=3 * width + 1, h=h, V=8)
    kept = programs.saved_per_layer(shape, B, m)
    # hidden-wide: two stream, four norm, query key value mix; ReLU's output and sign; softmax twice; statistics
    assert sum(kept.values()) == pytest.approx(10 * shape.d + 2 * shape.d_ff + 2 * h * m + 2 * h + 4)
    assert programs.saved_per_layer(shape, B, m, checkpoint=True) == {"stream": shape.d}


def test_depth_of_a_forward_pass_with_its_reductions():
    # each layer adds two norms (log d) and a softmax (maximum and sum, log m each), the end one more norm
    counted = programs.forward(EXAMPLE, 1, 128).count()
    assert counted.full_chain.depth == 102 + 2 * (2 * 8 + 2 * 7) + 8 == 170


def test_adam_keeps_four_elements_per_parameter_and_multiplies_nothing():
    step = programs.optimizer_step(EXAMPLE)
    kept = sum(programs.parameter_elements(EXAMPLE).values())
    assert trace.elements(step.arguments[:4]) == 4 * kept
    assert step.count().work == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["forward", "training"])
def test_xla_counts_the_products_and_the_ignored_operations(name):
    program = getattr(programs, name)(Shape(L=1, d=64, d_ff=256, V=128), 2, 64)
    counted = program.count()
    ours = counted.work + sum(counted.ignored.values())
    assert counted.work < program.compiled_flops()
    assert program.compiled_flops() == pytest.approx(ours, rel=0.01)


@pytest.mark.slow
def test_xla_counts_the_body_of_a_loop_once():
    grown, static = (programs.generation(Shape(L=1, d=64, d_ff=256), 2, 8, 4, static=on) for on in (False, True))
    assert static.compiled_flops() < 0.9 * static.count().work < grown.compiled_flops()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "program"),
    [
        ("feed_forward", "forward"),
        ("vocabulary_head", "prefill"),
        ("widen", "generation"),
    ],
)
def test_a_program_with_a_part_missing_is_noticed(monkeypatch, broken, program):
    stubs = {
        "feed_forward": lambda weights, x: x,
        "vocabulary_head": lambda parameters, x: jnp.zeros((*x.shape[:-1], parameters["embedding"].shape[0])),
        "widen": lambda caches, slots: caches,
    }
    monkeypatch.setattr(transformer, broken, stubs[broken])
    rows = compare(Shape(L=1, d=8, d_ff=16, h=2, V=32), B=2, S=3, T=3)
    wrong = {row.program for row in rows if row.quantity == "work" and row.ratio != 1}
    assert program in wrong


def test_a_response_of_one_token_has_no_decode_step():
    with pytest.raises(InputError, match="T is 1"):
        compare(EXAMPLE, 1, 4, 1)
