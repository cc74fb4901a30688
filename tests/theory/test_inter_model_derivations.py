"""Appendix B-D: every derivation holds and ends where it should, and a wrong line is caught."""

import math
import random
from dataclasses import replace

import pytest
import sympy

from rlmkb.notation import symbol
from rlmkb.theory.algorithms import PPO
from rlmkb.theory.configurations import CONFIGURATIONS
from rlmkb.theory.derivations import INTER_MODEL_DERIVATIONS, Relation, Step
from rlmkb.theory.derivations.inter_model_stages import D_A_MAX, D_G, D_T_MAX, M_G, SECTIONS, SHADOW
from rlmkb.theory.derivations.maxima import never_larger, same_largest, sums
from rlmkb.theory.evaluate import evaluate
from rlmkb.theory.functions import Maximum
from rlmkb.theory.residency import live_sets, peak

log = math.log2


@pytest.mark.parametrize("id", INTER_MODEL_DERIVATIONS)
def test_every_step_holds_and_the_form_is_reached(id):
    derivation = INTER_MODEL_DERIVATIONS[id]
    assert derivation.broken == ()
    assert derivation.reaches_result


def test_every_section_is_there_and_every_row_has_all_three_quantities():
    sources = {one.source for one in INTER_MODEL_DERIVATIONS.values()}
    assert sources == set(SECTIONS.values()) == {f"Appendix B-D{number}" for number in range(1, 9)}
    for row in CONFIGURATIONS:
        letters = {one.left[0] for one in INTER_MODEL_DERIVATIONS.values() if one.source == SECTIONS[row]}
        assert letters == set("WDM"), row


def test_only_named_lines_leave_something_out():
    inexact = {id: [line.step.relation for line in one.lines if line.error != 0]
               for id, one in INTER_MODEL_DERIVATIONS.items()}  # fmt: skip
    assert {id: len(found) for id, found in inexact.items() if found} == {
        "hybrid_memory": 1, "fusion_depth": 1, "fusion_stream": 1, "fusion_dominated": 1, "fusion_memory_printed": 2,
        "async_fused": 1, "async_memory": 2, "combined_depth_once": 1, "combined_ideal": 2,
    }  # fmt: skip
    assert {relation for found in inexact.values() for relation in found} == {Relation.APPROXIMATE}


# ---- the appendix, typed once more in plain Python ------------------------------------------------------------------


class Model:
    """One model's costs from its four dimensions; `outputs` is the width of its head."""

    def __init__(self, L, d, d_ff, h, V, outputs, P_t, shape):
        self.L, self.d, self.d_ff, self.h, self.V, self.P_t = L, d, d_ff, h, V, P_t
        self.B, self.K, self.S, self.T = shape
        self.m, self.outputs = self.S + self.T, outputs
        self.size = L * (4 * d * d + 2 * d * d_ff) + V * d + (0 if outputs == V else d)
        self.inf, self.act, self.kv = d, L * d, 2 * self.m * L * d

    @property
    def C_f(self):
        return 2 * self.L * (4 * self.d**2 + 2 * self.d * self.d_ff + self.m * self.d) + 2 * self.outputs * self.d

    @property
    def C_gen(self):
        weights = 4 * self.d**2 + 2 * self.d * self.d_ff
        prefill = 2 * self.L * self.S * (weights + self.S * self.d) + 2 * self.V * self.d
        return prefill + sum(
            2 * self.L * (weights + 2 * (self.S + t) * self.d) + 2 * self.V * self.d for t in range(1, self.T)
        )

    def D_f(self, length=None, P_t=1):
        chain = 4 * log(self.d) + log(self.d_ff) + log(length or self.m) - log(self.h) - 2 * log(P_t)
        return self.L * chain + log(self.d) - log(P_t)

    def D_gen(self, P_t=1):
        return self.D_f(self.S, P_t) + sum(self.D_f(self.S + t, P_t) for t in range(1, self.T))

    @property
    def D_tr(self):
        return 2 * self.D_f() + log(self.B * self.K * self.m)


def point(seed):
    draw = random.Random(seed)
    at = {"B": draw.randint(2, 9), "K": draw.randint(1, 4), "S": draw.randint(2, 50), "T": draw.randint(2, 20),
          "V": draw.randint(100, 900), "P_t": 2, "eta": draw.randint(0, 3)}  # fmt: skip
    for role in ("pi", "R", "V", "ac"):
        h = draw.choice([2, 4])
        at |= {f"L_{role}": draw.randint(1, 6), f"h_{role}": h, f"d_{role}": 8 * h * draw.randint(1, 4),
               f"d_ff_{role}": 16 * draw.randint(1, 20)}  # fmt: skip
    return at


def appendix(at):
    """The values of B-D1 to B-D8 as the appendix prints them."""
    shape = tuple(at[name] for name in ("B", "K", "S", "T"))
    V, P = at["V"], at["P_t"]

    def model(role, outputs):
        return Model(*(at[f"{name}_{role}"] for name in ("L", "d", "d_ff", "h")), V, outputs, P, shape)

    pi, ref, ac, critic = model("pi", V), model("pi", V), model("ac", V), model("V", 1)
    reward = model("R", 1 / (at["S"] + at["T"]))
    N = at["B"] * at["K"]
    n = N * pi.m
    scored = (ref, reward, critic)
    W_G, W_A = N * pi.C_gen, n * sum(x.C_f for x in scored)
    W_T = 3 * n * (pi.C_f + critic.C_f)
    D_G, D_A, D_A_max = pi.D_gen(), sum(x.D_f() for x in scored), max(x.D_f() for x in scored)
    D_T, D_T_max, G_TP = pi.D_tr + critic.D_tr, max(pi.D_tr, critic.D_tr), pi.D_gen(P)
    M_G = pi.size + N * pi.kv
    weights = sum(x.size for x in scored)
    M_A = weights + n * max(x.inf for x in scored)
    trained = [4 * x.size + n * x.act for x in (pi, critic)]
    head = 2 * ac.d
    C_ac = ac.C_f + head
    out = {
        "generation_work": W_G, "generation_depth": D_G, "generation_memory": M_G, "recomputed_work": W_A + n * pi.C_f,
        "assessment_work": W_A, "assessment_depth_sum": D_A, "assessment_depth_max": D_A_max, "assessment_memory": M_A,
        "training_work": W_T, "training_depth_sum": D_T, "training_depth_max": D_T_max,
        "training_memory_sum": sum(trained), "training_memory_max": max(trained),
        "baseline_depth": D_G + D_A + D_T, "baseline_memory": max(M_G, M_A, sum(trained)),
        "baseline_memory_resident": 4 * (pi.size + critic.size) + ref.size + reward.size
        + max(N * pi.kv, n * max(x.inf for x in scored), n * (pi.act + critic.act)),
        "ac_shared_work": N * ac.C_gen + n * (ref.C_f + reward.C_f + 4 * C_ac),
        "ac_shared_gap": n * (pi.C_f - 4 * critic.C_f + 8 * pi.d),
        "ac_shared_depth": ac.D_gen() + ref.D_f() + reward.D_f() + ac.D_f() + ac.D_tr,
        "ac_shared_memory": 4 * (ac.size + ac.d) + n * ac.act,
        "disaggregated_depth": D_G + D_A_max + D_T_max,
        "disaggregated_memory": max(M_G, *(x.size + n * x.inf for x in scored), *trained),
        "hybrid_generation": G_TP,
        "hybrid_depth": G_TP + sum(x.D_f(P_t=P) for x in scored) + D_T,
        "hybrid_memory": max(M_G, M_A, sum(trained)),
        "fusion_path": D_G + D_A_max + D_T_max, "fusion_depth": max(D_G, D_A_max) + D_T_max,
        "fusion_stream": max(D_G, D_A_max) + D_T_max, "fusion_dominated": D_G + D_T_max,
        "fusion_memory": M_G + weights + n * sum(x.inf for x in scored) + 3 * 2 * n,
        "fusion_memory_printed": max(M_G, weights),
        "async_staleness": max(D_G + D_A_max, D_T_max, (D_G + D_A_max + D_T_max) / (at["eta"] + 1)),
        "async_depth": max(D_G + D_A_max, D_T_max), "async_fused": max(D_G, D_A_max, D_T_max),
        "async_memory": max(M_G + pi.size, *(x.size for x in scored), *trained),
        "combined_depth": max(G_TP, D_A_max, D_T_max), "combined_depth_once": max(G_TP, D_A_max, D_T_max),
        "combined_ideal": max(G_TP, *(2 * x.D_f(P_t=P) + log(n) for x in (pi, critic))),
        "combined_memory": max(M_G + pi.size, *(x.size for x in scored), *trained),
    }  # fmt: skip
    rows = ("baseline", "disaggregated", "hybrid", "stage_fusion", "async", "combined")
    return out | {f"{row}_work": W_G + W_A + W_T for row in rows}


@pytest.mark.parametrize("seed", [1, 2])
def test_the_last_lines_are_the_appendix_at_random_points(seed):
    at = point(seed)
    found = appendix(at)
    assert set(found) == set(INTER_MODEL_DERIVATIONS)
    for id, value in found.items():
        assert INTER_MODEL_DERIVATIONS[id].value(at) == pytest.approx(value, rel=1e-12), id


# ---- wrong lines are found ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", ["assessment_memory", "baseline_depth", "disaggregated_depth", "ac_shared_work"])
def test_an_added_term_is_caught_in_every_line(id):
    one = INTER_MODEL_DERIVATIONS[id]
    for place, step in enumerate(one.steps):
        steps = list(one.steps)
        steps[place] = replace(step, expr=step.expr + symbol("N"), relation=Relation.EQUAL)
        assert not replace(one, steps=tuple(steps)).holds, f"line {place + 1}"


def broken(id, *exprs):
    """The derivation with lines that claim to be equal."""
    one = INTER_MODEL_DERIVATIONS[id]
    steps = (one.steps[0], *(Step("Claimed.", expr) for expr in exprs))
    return len(replace(one, steps=steps).broken)


def test_the_printed_fused_depth_is_no_identity():
    honest = INTER_MODEL_DERIVATIONS["fusion_depth"]
    assert broken("fusion_depth", honest.steps[1].expr) == 1


def test_half_a_path_may_not_be_dropped_and_a_mean_of_three_may():
    once, twice = (INTER_MODEL_DERIVATIONS[id] for id in ("combined_depth_once", "combined_depth"))
    assert broken("combined_depth_once", once.steps[1].expr) == 1
    assert broken("combined_depth", twice.steps[1].expr) == 0


def test_the_sum_of_two_largest_is_not_the_largest_sum_of_pairs():
    a, b, c, d = sympy.symbols("a b c d", positive=True)
    assert same_largest(Maximum(a + c, a + d, b + c, b + d), Maximum(a, b) + Maximum(c, d))
    assert not same_largest(Maximum(a + c, b + d), Maximum(a, b) + Maximum(c, d))
    assert not same_largest(Maximum(a, b, (a + b) / sympy.Rational(3, 2)), Maximum(a, b))
    assert sums(2 * Maximum(a, b) * Maximum(c, d)) == {2 * Maximum(a, b) * Maximum(c, d)}  # left as it is
    assert not never_larger(c, frozenset({a, b}))


def test_combined_is_not_the_smallest_peak():
    """B-D8 says so; a bound that is false is refused."""
    one = INTER_MODEL_DERIVATIONS["combined_memory"]
    smaller = Step("Smallest peak.", INTER_MODEL_DERIVATIONS["disaggregated_memory"].steps[-1].expr, Relation.BOUND)
    assert replace(one, steps=(one.steps[-1], smaller)).broken == (smaller,)
    larger = Step("A copy more.", M_G.handle + SHADOW.handle, Relation.BOUND)
    assert not replace(one, steps=(Step("The generation group.", M_G.handle), larger)).broken


def test_sharing_is_not_always_less_work():
    one = INTER_MODEL_DERIVATIONS["ac_shared_gap"]
    never = Step("Sharing never costs more.", sympy.S.Zero, Relation.BOUND)
    assert replace(one, steps=(*one.steps, never)).broken == (never,)


def test_the_stream_ends_at_the_path_for_one_part_and_at_the_maximum_for_many():
    one = INTER_MODEL_DERIVATIONS["fusion_stream"]
    start = one.steps[0].expr
    g, a, t = (sympy.Integer(value) for value in (7, 4, 3))
    at = {D_G.handle: g, D_A_MAX.handle: a, D_T_MAX.handle: t, symbol("K"): 1}
    values = [float(start.subs(at | {symbol("B"): parts})) for parts in (1, 4, 10**6)]
    assert values == pytest.approx([14, 11, 10], abs=1e-4)


def test_nothing_offloaded_needs_more():
    at = point(3)
    resident, offloaded = (evaluate(peak(live_sets(CONFIGURATIONS["baseline"], PPO, offload=offload)), at)
                           for offload in (False, True))  # fmt: skip
    assert resident > offloaded
