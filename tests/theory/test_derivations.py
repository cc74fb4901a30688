"""Every derivation holds, reaches the formula that the project uses, and a wrong step is caught."""

import math
from dataclasses import replace

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from rlmkb.notation import Role, Stage, symbol
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.algorithms import DPO
from rlmkb.theory.derivations import (
    DERIVATIONS,
    Derivation,
    Induction,
    Relation,
    Step,
    decode_closed_form,
    difference,
    generation_closed_form,
    generation_ratio,
)
from rlmkb.theory.derivations.depth import backward_lengths
from rlmkb.theory.derivations.disagreements import DISAGREEMENTS
from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.formula import Quantity
from rlmkb.theory.iteration import TABLE_IV, stage_cost
from rlmkb.theory.transformer import layer_chain, transformer

CASE = {
    "L": 32, "d": 4096, "d_ff": 14336, "h": 32, "V": 128256, "B": 512, "K": 8, "S": 1024, "T": 8192, "B_pairs": 512,
    "P_t": 8,
}  # fmt: skip
SMALL = {"L": 2, "d": 8, "d_ff": 24, "h": 2, "V": 40}


@pytest.mark.parametrize("id", DERIVATIONS)
def test_every_step_holds_and_the_formula_is_reached(id):
    derivation = DERIVATIONS[id]
    assert derivation.broken == ()
    assert derivation.reaches_result


def test_all_parts_of_the_appendix_are_there():
    sources = " ".join(derivation.source for derivation in DERIVATIONS.values())
    assert all(f"B-A{number}" in sources for number in range(1, 6))
    assert all(f"B-B{number}" in sources for number in (1, 2))


@pytest.mark.parametrize("id", ["forward_reward", "decode", "depth_generation", "parameters", "critic_gap"])
def test_an_added_term_is_caught_in_every_line(id):
    derivation = DERIVATIONS[id]
    for place, step in enumerate(derivation.steps):
        steps = list(derivation.steps)
        steps[place] = replace(step, expr=step.expr + symbol("E"), relation=Relation.EQUAL)
        assert not replace(derivation, steps=tuple(steps)).holds, f"line {place + 1}"


def test_the_printed_sum_of_decode_attention_is_caught():
    honest = DERIVATIONS["decode"]
    printed = DISAGREEMENTS["decode_attention"].other
    steps = (replace(honest.steps[0], expr=printed), *honest.steps[1:])
    wrong = replace(honest, steps=steps)
    assert wrong.broken == (steps[1],)


def test_a_bound_in_the_wrong_direction_is_caught():
    d, m, S = symbol("d"), symbol("m"), symbol("S")
    steps = (Step("More.", d * m), Step("Less.", d * S, Relation.BOUND))
    assert Derivation("x", "x", "x", "x", steps, d * S).broken == (steps[1],)


def test_a_wrong_result_is_caught():
    derivation = replace(DERIVATIONS["kv_cache"], result=blocks.cache_memory().explicit / 2)
    assert not derivation.broken
    assert not derivation.holds


def test_only_named_lines_leave_something_out():
    left_out = {
        id: [line.step.relation for line in derivation.lines if line.error != 0]
        for id, derivation in DERIVATIONS.items()
    }
    assert {id for id, relations in left_out.items() if relations} == {
        "forward", "forward_reward", "forward_critic", "forward_actor_critic", "prefill", "generation_bound",
        "depth_backward", "depth_generation_coarse", "activations", "inference_buffer", "ppo_passes", "dpo_work",
    }  # fmt: skip


def test_the_induction_proves_the_closed_form_and_refutes_a_wrong_one():
    assert Induction(blocks.decode().expr, decode_closed_form()).holds
    wrong_base = Induction(blocks.decode().expr, decode_closed_form() + 1)
    wrong_growth = Induction(blocks.decode().expr, decode_closed_form() * 2)
    assert wrong_base.base == 1
    assert not wrong_base.holds
    assert not wrong_growth.holds


@given(S=st.integers(1, 40), T=st.integers(1, 40))
def test_closed_forms_equal_a_plain_loop(S, T):
    L, d, d_ff, V = (SMALL[name] for name in ("L", "d", "d_ff", "V"))
    weights = 2 * L * (4 * d * d + 2 * d * d_ff)
    decode = sum(weights + 4 * L * (S + t) * d + 2 * V * d for t in range(1, T))
    prefill = S * weights + 2 * L * S * S * d + 2 * V * d
    at = {**SMALL, "S": S, "T": T}
    assert evaluate(decode_closed_form(), at) == decode
    assert evaluate(generation_closed_form(), at) == prefill + decode
    steps = sum(
        L * (4 * math.log2(d) + math.log2(d_ff) + math.log2(n) - math.log2(SMALL["h"])) + math.log2(d)
        for n in [S, *range(S + 1, S + T)]
    )
    assert evaluate(DERIVATIONS["depth_generation"].steps[-1].expr, at) == pytest.approx(steps, rel=1e-12)


@given(S=st.integers(1, 10**4), T=st.integers(1, 10**4))
def test_both_coarse_forms_of_generation_are_upper_bounds(S, T):
    at = {**SMALL, "S": S, "T": T}
    assert evaluate(generation_ratio(), at) < 1
    (error,) = DERIVATIONS["depth_generation_coarse"].relative_errors(at).values() or (0,)
    assert error >= -1e-12


def test_the_coarse_form_is_reached_in_the_limit():
    ratio = generation_ratio()
    assert sympy.limit(ratio, symbol("T"), sympy.oo) == 1
    assert sympy.limit(ratio, symbol("S"), sympy.oo) == 1
    assert evaluate(ratio, CASE) == pytest.approx(0.9923, abs=1e-4)


def test_gradients_sum_over_the_lengths_of_the_forward_pass():
    policy = transformer(Role.POLICY)
    forward = sorted(str(link.length / link.divisor) for link in layer_chain(policy, symbol("m")))
    assert sorted(map(str, backward_lengths(policy).values())) == forward


@pytest.mark.parametrize("id", DISAGREEMENTS)
def test_every_disagreement_stands(id):
    assert DISAGREEMENTS[id].stands


@pytest.mark.parametrize(
    ("id", "size"),
    [
        ("decode_attention", -0.0863), ("decode_steps", 0.0001), ("prefill_logits", 0.0869), ("softmax", -31 / 32),
        ("sharded_depth", -0.1401), ("gradient_batch", -0.0007), ("training_depth", -0.4972),
        ("head_gradient", 0.0011), ("critic_gap", -0.25), ("dpo_forward", -0.2), ("dpo_pair", -0.5),
        ("dpo_depth", -0.6644), ("optimiser_state", -0.0039),
    ],
)  # fmt: skip
def test_size_of_each_disagreement_for_llama_3_1_8b_shapes(id, size):
    assert DISAGREEMENTS[id].size(CASE) == pytest.approx(size, abs=1e-4)


def test_our_readings_are_what_the_tables_use():
    ours = {id: entry.ours for id, entry in DISAGREEMENTS.items()}
    assert difference(ours["decode_attention"], blocks.decode().explicit) == 0
    assert difference(ours["prefill_logits"], blocks.prefill().explicit) == 0
    table_iv = sum(stage_cost(DPO, stage, Quantity.WORK, TABLE_IV).explicit for stage in Stage)
    assert difference(ours["dpo_forward"], table_iv) == 0


def test_gradient_batch_is_log_k_steps():
    entry = DISAGREEMENTS["gradient_batch"]
    assert evaluate(entry.ours, CASE) - evaluate(entry.other, CASE) == pytest.approx(math.log2(CASE["K"]))
