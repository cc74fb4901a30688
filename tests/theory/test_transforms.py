"""ZeRO, checkpointing and micro-batches: the laws, and the numbers of the paper and its sources."""

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from rlmkb.errors import InputError
from rlmkb.notation import symbol
from rlmkb.theory.derivations import difference
from rlmkb.theory.partition import STATE, STRATEGIES, Part, d, d_ff
from rlmkb.theory.schedules import P_p, n, v
from rlmkb.theory.transforms import P_z, Recompute, Transformed, Zero, kappa, zero_states

P = sympy.Symbol("P", positive=True)
strategies = st.sampled_from(list(STRATEGIES.values()))
degrees = st.integers(1, 4096)


def test_zero_stages_as_the_paper_prints_them():
    printed = (4 * P, P + P + 2 * P / P_z, P + 3 * P / P_z, 4 * P / P_z)
    assert [sympy.expand(P * zero_states(stage)) for stage in Zero] == [sympy.expand(cell) for cell in printed]


@given(degrees)
def test_a_higher_stage_never_keeps_more(shards):
    kept = [zero_states(stage, shards) for stage in Zero]
    assert kept == sorted(kept, reverse=True)
    assert (len(set(kept)) == 1) == (shards == 1)
    assert kept[-1] == sympy.Rational(4, shards)


@given(degrees, st.sampled_from(list(Zero)))
def test_more_shards_never_keep_more(shards, stage):
    assert zero_states(stage, shards + 1) <= zero_states(stage, shards)


def test_an_unknown_stage_is_refused():
    with pytest.raises(InputError, match=r"ZeRO stage is 4; give 0 \(none\), 1 \(optimizer\)"):
        zero_states(4)


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("recompute", 7), ("zero", 7), ("zero", "two"), ("micro_batches", 0), ("micro_batches", 1.5), ("live", 0),
        ("kept", 3), ("kept", 0), ("kept", -0.5), ("kept", float("nan")), ("shards", 0), ("shards", "8"),
        ("shards", None), ("micro_batches", float("inf")), ("live", 1j),
    ],
)  # fmt: skip
def test_impossible_choices_are_refused_by_name(name, bad):
    with pytest.raises(InputError, match=f"^{name} is .*; give "):
        Transformed(STRATEGIES["data"], **{name: bad})


def test_a_choice_may_be_given_by_its_number():
    by_number, by_name = (Transformed(STRATEGIES["data"], *how) for how in ((3, 8, 2), (Zero.PARAMETERS, 8,
                                                                                       Recompute.FULL)))  # fmt: skip
    assert by_number == by_name
    assert by_number.gathered == by_name.gathered != 0
    assert by_number.rank_depth == by_name.rank_depth != Transformed(STRATEGIES["data"]).rank_depth


@given(strategies)
def test_nothing_chosen_changes_nothing(strategy):
    plain = Transformed(strategy)
    for quantity in ("rank_work", "rank_memory", "rank_depth"):
        assert difference(getattr(plain, quantity).total, getattr(strategy, quantity).total) == 0
    assert Transformed(strategy, zero=Zero.PARAMETERS, shards=1).rank_memory == plain.rank_memory


@given(strategies, st.integers(1, 64))
def test_micro_batches_divide_activations_and_leave_work(strategy, pieces):
    cut = Transformed(strategy, micro_batches=pieces)
    assert cut.rank_work == Transformed(strategy).rank_work
    for term in strategy.rank_memory:
        share = 1 if Part(term.name) in STATE else pieces
        assert cut.rank_memory[term.name] * share == term.expr
    assert difference(cut.rank_depth["layers"], pieces * strategy.rank_depth["layers"]) == 0


@given(strategies)
def test_full_recomputation_is_a_forward_pass_more(strategy):
    again = Transformed(strategy, recompute=Recompute.FULL)
    assert sympy.simplify(again.rank_work.total / strategy.rank_work.total) == sympy.Rational(4, 3)
    assert again.rank_memory[Part.ACTIVATIONS] == kappa * strategy.rank_memory[Part.ACTIVATIONS]
    assert difference(2 * again.rank_depth["layers"], 3 * strategy.rank_depth["layers"]) == 0


@given(strategies)
def test_selective_recomputation_is_the_attention_of_a_forward_pass_more(strategy):
    again = Transformed(strategy, recompute=Recompute.SELECTIVE)
    for term in strategy.rank_work:
        more = again.rank_work[term.name] - term.expr
        assert more == (term.expr / 3 if term.name == Part.ATTENTION else 0)
    depths = [Transformed(strategy, recompute=how).rank_depth["layers"] for how in Recompute]
    at = dict.fromkeys(set().union(*(depth.free_symbols for depth in depths)), 64)
    none, selective, full = (float(depth.subs(at)) for depth in depths)
    assert none < selective <= full


def test_transforms_compose():
    both = Transformed(STRATEGIES["5d"], Zero.GRADIENTS, 4, Recompute.FULL, sympy.Rational(1, 10), 8, 2)
    for term in STRATEGIES["5d"].rank_memory:
        change = zero_states(2, 4) / 4 if Part(term.name) in STATE else sympy.Rational(1, 40)
        assert both.rank_memory[term.name] == term.expr * change


def test_a_schedule_says_how_many_micro_batches_are_live():
    gpipe = Transformed(STRATEGIES["pipeline"], micro_batches=n, live=n)
    assert gpipe.rank_memory == STRATEGIES["pipeline"].rank_memory  # table VII: all of the batch, on its layers
    assert {n, v, P_p} & gpipe.rank_memory.total.free_symbols == {symbol("P_p")}


def test_zero_3_holds_one_layer_at_a_time():
    plain, cut = (Transformed(STRATEGIES[row], zero=Zero.PARAMETERS) for row in ("data", "3d"))
    assert plain.gathered == 4 * d**2 + 2 * d * d_ff
    assert sympy.expand(cut.gathered - plain.gathered / symbol("P_t")) == 0
    assert Transformed(STRATEGIES["data"], zero=Zero.GRADIENTS).gathered == 0
