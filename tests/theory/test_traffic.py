"""What ranks send: the numbers of the sources, and the laws of collectives."""

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from rlmkb.errors import InputError
from rlmkb.notation import symbol
from rlmkb.theory.partition import (
    CONTEXT,
    DATA,
    DENSE,
    EXPERT_COUPLED,
    EXPERT_ISOLATED,
    MIXTURE,
    PIPELINE,
    STRATEGIES,
    TENSOR,
    B,
    E_a,
    L,
    Part,
    Strategy,
    V,
    d,
    d_ff,
    m,
)
from rlmkb.theory.traffic import (
    Collective,
    ContextMethod,
    Options,
    Phase,
    messages,
    sent,
    traffic_formula,
)
from rlmkb.theory.transforms import Recompute, Zero

P_d, P_t, P_p, P_c, P_e = (symbol(name) for name in ("P_d", "P_t", "P_p", "P_c", "P_e"))
WEIGHTS = L * (4 * d**2 + 2 * d * d_ff) + V * d  # the Psi of the ZeRO paper
AXES = [DATA, PIPELINE, TENSOR, CONTEXT, EXPERT_ISOLATED, EXPERT_COUPLED]
POINT = {"B": 64, "m": 96, "L": 8, "d": 48, "d_ff": 128, "h": 16, "V": 80, "E": 16, "E_a": 2, "d_e": 24}
CHOICES = st.builds(
    Options,
    backward=st.booleans(),
    zero=st.sampled_from(list(Zero)),
    recompute=st.sampled_from(list(Recompute)),
    micro_batches=st.integers(1, 8).map(sympy.Integer),
    sequence_parallel=st.booleans(),
    gather_again=st.booleans(),
    context_method=st.sampled_from(list(ContextMethod)),
    vocabulary=st.booleans(),
)


def volume(found):
    return sympy.factor(sympy.Add(*(message.volume for message in found)))


def equal(one, other):
    return sympy.factor(one - other) == 0


def one(axis, **options):
    step = MIXTURE if axis.name == "expert" else DENSE
    return messages(Strategy(axis.name, step, (axis,)), **options)


def of(phase, found):
    return [message for message in found if message.phase is phase]


@given(st.integers(1, 1000), st.integers(1, 64))
def test_an_all_reduce_is_a_reduce_scatter_and_an_all_gather(elements, ranks):
    parts = [sent(kind, sympy.Integer(elements), sympy.Integer(ranks)) for kind in Collective]
    all_reduce, all_gather, reduce_scatter = parts[:3]
    assert all_reduce == all_gather + reduce_scatter == sympy.Rational(2 * elements * (ranks - 1), ranks)


@pytest.mark.parametrize("axis", AXES, ids=lambda axis: axis.splits)
@given(CHOICES)
def test_a_single_rank_sends_nothing(axis, options):
    step = MIXTURE if axis.name == "expert" else DENSE
    assert volume(messages(Strategy("one", step, (axis.at(1),)), options)) == 0


def test_without_parallelism_nothing_is_sent():
    assert messages(STRATEGIES["none"], vocabulary=True) == ()


@given(CHOICES, st.sampled_from(["data", "pipeline", "tensor", "context", "expert", "3d", "5d"]))
def test_volumes_are_never_negative_and_a_model_that_is_only_applied_sends_less(options, row):
    degrees = dict.fromkeys(("P_d", "P_p", "P_t", "P_c", "P_e"), 4)
    whole = traffic_formula(STRATEGIES[row], options, backward=True).evaluate(POINT | degrees)
    forward = traffic_formula(STRATEGIES[row], options, backward=False).evaluate(POINT | degrees)
    assert 0 <= forward <= whole


@pytest.mark.parametrize(("zero", "times"), [(0, 2), (1, 2), (2, 2), (3, 3)])
def test_zero_volumes_are_those_of_its_paper(zero, times):
    """2 Psi for data parallelism and stages 1 and 2, 3 Psi for stage 3, up to (P - 1)/P."""
    found = messages(STRATEGIES["data"], zero=Zero(zero))
    assert equal(volume(found), times * WEIGHTS * (P_d - 1) / P_d)


def test_zero_2_and_3_pay_for_every_micro_batch():
    for zero, pieces in ((Zero.NONE, 1), (Zero.OPTIMIZER, 1), (Zero.GRADIENTS, 4), (Zero.PARAMETERS, 4)):
        found = messages(STRATEGIES["data"], zero=zero, micro_batches=sympy.Integer(4))
        assert max(message.count for message in found) == pieces


def test_shards_over_fewer_ranks_send_less_in_the_group_and_reduce_between_groups():
    whole, hybrid = (
        messages(STRATEGIES["data"], zero=Zero.PARAMETERS, shards=shards) for shards in (None, sympy.Integer(8))
    )
    assert [message.kind for message in hybrid if message not in whole][-1] is Collective.ALL_REDUCE
    assert equal(volume(hybrid).subs(P_d, 64), (3 * WEIGHTS + 2 * WEIGHTS / 8) * sympy.Rational(7, 8))


def test_tensor_parallelism_is_megatrons():
    """8 b s h (t - 1)/t elements per layer and device (Narayanan et al. 2021), from two and two all-reduces."""
    found = one(TENSOR)
    assert {message.kind for message in found} == {Collective.ALL_REDUCE}
    assert [sum(message.count for message in of(phase, found)) for phase in Phase] == [2 * L, 2 * L, 0]
    assert equal(volume(found), 8 * B * m * d * L * (P_t - 1) / P_t)


def test_sequence_parallelism_sends_the_same_unless_inputs_are_gathered_again():
    plain, split, again = one(TENSOR), one(TENSOR, sequence_parallel=True), one(TENSOR, sequence_parallel=True,
                                                                              gather_again=True)  # fmt: skip
    assert equal(volume(split), volume(plain))
    assert {message.kind for message in split} == {Collective.REDUCE_SCATTER, Collective.ALL_GATHER}
    assert equal(volume(again), sympy.Rational(5, 4) * volume(plain))


def test_the_ring_carries_keys_and_values_and_back_their_gradients_too():
    local = B * m * d / P_c
    forward, backward, update = (volume(of(phase, one(CONTEXT))) for phase in Phase)
    assert equal(forward, 2 * local * L * (P_c - 1))
    assert equal(backward, 2 * forward)
    assert equal(update, 2 * WEIGHTS * (P_c - 1) / P_c)


def test_ulysses_exchanges_four_arrays_each_way():
    found = one(CONTEXT, context_method=ContextMethod.ULYSSES)
    exchanges = [message for message in found if message.kind is Collective.ALL_TO_ALL]
    assert [message.count for message in exchanges] == [4 * L, 4 * L]
    assert equal(volume(exchanges), 8 * L * B * m * d / P_c * (P_c - 1) / P_c)


def test_ulysses_sends_less_than_the_ring_from_three_ranks_on():
    ring, ulysses = (volume(one(CONTEXT, context_method=how)[:2]) for how in ContextMethod)
    assert equal(ring, sympy.Rational(3, 4) * P_c * ulysses)


def test_a_pipeline_sends_a_hidden_state_over_each_border():
    found = one(PIPELINE)
    assert equal(volume(found), 2 * B * m * d * (P_p - 1) / P_p)
    interleaved = one(PIPELINE, chunks=sympy.Integer(3))
    assert equal(volume(interleaved), 2 * B * m * d * (3 * P_p - 1) / P_p)


def test_experts_take_two_exchanges_each_way_and_copies_for_each_choice():
    found = [message for message in one(EXPERT_COUPLED) if message.kind is Collective.ALL_TO_ALL]
    assert [message.count for message in found] == [L] * 4
    assert equal(volume(found), 4 * L * B * m * E_a * d / P_e * (P_e - 1) / P_e)


def test_isolated_experts_add_up_their_outputs():
    found = one(EXPERT_ISOLATED)
    assert {message.kind for message in found} == {Collective.ALL_REDUCE}
    assert equal(volume(found), 2 * 2 * L * B * m * d * (P_e - 1) / P_e)


def test_gradients_are_summed_over_all_ranks_that_share_weights_at_once():
    strategy = STRATEGIES["5d"]
    groups = {message.axis: message for message in of(Phase.UPDATE, messages(strategy))}
    assert set(groups) == {"data+context+expert", "data+context"}
    experts = strategy.rank_memory[Part.EXPERT_STATE] / 4
    assert equal(groups["data+context"].elements, experts)
    assert groups["data+context+expert"].ranks == P_d * P_c * P_e


@pytest.mark.parametrize("axis", [TENSOR, CONTEXT, EXPERT_ISOLATED, EXPERT_COUPLED], ids=lambda axis: axis.splits)
def test_full_recomputation_repeats_the_forward_messages_of_layers(axis):
    plain, again = one(axis), one(axis, recompute=Recompute.FULL)
    assert equal(volume(again), volume(plain) + volume(of(Phase.FORWARD, plain)))
    assert equal(volume(one(axis, recompute=Recompute.SELECTIVE)), volume(plain))


def test_the_vocabulary_adds_one_hidden_state_each_way_and_the_tied_gradient():
    more = [message for message in one(TENSOR, vocabulary=True) if message not in one(TENSOR)]
    tokens = B * m
    assert equal(volume(more), 2 * (2 * tokens * d + 3 * tokens) * (P_t - 1) / P_t)
    tied = one(PIPELINE, vocabulary=True)[-1]
    assert (tied.elements, tied.ranks.subs(P_p, 8), tied.ranks.subs(P_p, 1)) == (V * d, 2, 1)


def test_an_unknown_option_is_refused():
    with pytest.raises(InputError, match="no option of traffic is named speed; allowed: backward, zero"):
        messages(STRATEGIES["data"], speed=3)


@pytest.mark.parametrize(
    ("name", "bad"),
    [("zero", 5), ("recompute", 7), ("context_method", "star"), ("micro_batches", 0), ("chunks", 0), ("shards", 0.5)],
)
def test_impossible_options_are_refused_by_name(name, bad):
    with pytest.raises(InputError, match=f"^{name} is .*; give "):
        messages(STRATEGIES["3d"], **{name: bad})


def test_options_may_be_given_by_their_values():
    by_value = messages(STRATEGIES["5d"], zero=3, recompute=2, context_method="ulysses")
    assert by_value == messages(STRATEGIES["5d"], zero=Zero.PARAMETERS, recompute=Recompute.FULL,
                                context_method=ContextMethod.ULYSSES)  # fmt: skip
