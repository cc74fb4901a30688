"""Expert loads: bounds against simulation, and the laws of skew, tokens and groups."""

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from rlmkb.errors import InputError
from rlmkb.theory import imbalance
from rlmkb.theory.imbalance import dealt, dirichlet, expected_bound, limit, ranks_reached, sample, zipf
from rlmkb.theory.partition import STRATEGIES, Part

FAIR = zipf(32, 0.0)


@st.composite
def routings(draw):
    ranks = draw(st.sampled_from([1, 2, 4, 8]))
    experts = ranks * draw(st.integers(1, 6))
    group = draw(st.sampled_from([1, 16, 64]))
    return {
        "tokens": 64 * draw(st.integers(1, 16)), "active": draw(st.integers(1, min(experts, 6))), "ranks": ranks,
        "group": group, "alike": draw(st.sampled_from([0.0, 0.05, 0.5])) if group > 1 else 0.0,
    }, experts  # fmt: skip


@given(routings(), st.floats(0, 3), st.integers(0, 10**6))
@settings(max_examples=30)
def test_no_batch_is_below_the_mean_or_above_the_ceiling(routing, skew, seed):
    routing, experts = routing
    drawn = sample(zipf(experts, skew), **routing, seed=seed, draws=5)
    assert drawn.shape == (5,)
    ceiling = min(routing["ranks"], experts / routing["active"])
    assert (drawn >= 1 - 1e-12).all()
    assert (drawn <= ceiling * (1 + 1e-12)).all()


@pytest.mark.slow
@given(routings(), st.integers(0, 10**6))
@settings(max_examples=30)
def test_a_fair_router_keeps_the_bound_on_average(routing, seed):
    routing, experts = routing
    drawn = sample(zipf(experts, 0.0), **routing, seed=seed, draws=30)
    bound = expected_bound(experts=experts, **routing)
    assert drawn.mean() - 3 * drawn.std() / 30**0.5 <= bound * (1 + 1e-12)
    assert 1 <= bound <= max(1.0, min(routing["ranks"], experts / routing["active"]))


@pytest.mark.parametrize("router", [zipf(32, 2.0), dirichlet(32, 1.0, seed=3)])
def test_one_rank_is_its_own_mean(router):
    assert (sample(router, tokens=64, active=4, ranks=1, seed=0, draws=4) == 1).all()
    assert limit(router, ranks=1) == 1
    assert expected_bound(tokens=64, experts=32, active=4, ranks=1) == 1


def test_choosing_every_expert_is_balanced():
    assert (sample(zipf(8, 1.0), tokens=32, active=8, ranks=4, seed=0, draws=4) == 1).all()
    assert expected_bound(tokens=32, experts=8, active=8, ranks=4) == 1


def test_many_tokens_of_a_fair_router_are_balanced_and_many_of_a_skewed_one_are_not():
    means = [sample(FAIR, tokens=n, active=1, ranks=8, seed=0).mean() for n in (100, 10_000, 1_000_000)]
    assert means == sorted(means, reverse=True)
    assert means[-1] < 1.01
    skewed = sample(zipf(32, 1.0), tokens=1_000_000, active=1, ranks=8, seed=0).mean()
    assert skewed == pytest.approx(limit(zipf(32, 1.0), ranks=8), rel=0.01)


def test_the_zipf_limit_is_a_ratio_of_harmonic_numbers():
    printed = 8 * sum(1 / i for i in range(1, 5)) / sum(1 / i for i in range(1, 33))
    assert limit(zipf(32, 1.0), ranks=8) == pytest.approx(printed)


@given(st.floats(0, 3), st.floats(0, 3))
def test_more_skew_is_never_more_balanced(one, other):
    low, high = sorted((one, other))
    assert limit(zipf(32, low), 8) <= limit(zipf(32, high), 8) * (1 + 1e-12)


@given(st.floats(0, 3), st.sampled_from([1, 2, 4, 8, 16]))
def test_dealing_experts_out_never_hurts_and_changes_no_probability(skew, ranks):
    router = zipf(32, skew)
    assert sorted(dealt(router, ranks)) == sorted(router)
    assert limit(dealt(router, ranks), ranks) <= limit(router, ranks) * (1 + 1e-12)


def test_the_variance_of_a_load_with_and_without_groups():
    """One expert a token: the design effect is exact."""
    tokens, ranks, draws = 4096, 8, 4000
    for group, alike in ((1, 0.0), (512, 0.1)):
        random = np.random.default_rng(0)
        each = imbalance._preferences(random, zipf(ranks, 0.0), tokens // group, alike, draws)
        size = group if alike else tokens
        loads = np.array([imbalance._loads(random, rows, size, 1, ranks)[0] for rows in each])
        at = {imbalance.n: tokens, imbalance.g: group, imbalance.rho: alike, imbalance.E: ranks, imbalance.E_a: 1,
              imbalance.P_e: ranks}  # fmt: skip
        assert loads.mean() == pytest.approx(float(imbalance.MEAN.subs(at)), rel=0.02)
        assert loads.var() == pytest.approx(float(imbalance.VARIANCE.subs(at)), rel=0.1)


def test_effective_tokens_are_bounded_by_the_number_of_groups():
    count, size = imbalance.n / imbalance.g, imbalance.g
    effective = imbalance.EFFECTIVE_TOKENS
    assert effective.subs(imbalance.rho, 0) == imbalance.n
    assert sympy.simplify(effective.subs(imbalance.rho, 1) - count) == 0
    per_group = sympy.limit(effective / count, size, sympy.oo)
    assert sympy.simplify(per_group - 1 / imbalance.rho) == 0


def test_longer_rollouts_of_the_same_prompts_do_not_balance_but_more_prompts_do():
    def mean(prompts, each):
        return sample(FAIR, tokens=prompts * each, active=1, ranks=8, seed=1, draws=40, group=each, alike=0.3).mean()

    assert mean(16, 1024) == pytest.approx(mean(16, 256), rel=0.1)
    assert mean(64, 256) - 1 < 0.7 * (mean(16, 256) - 1)


def test_ranks_reached_by_counting():
    random = np.random.default_rng(0)
    chosen = np.array([random.choice(32, 4, replace=False) // 4 for _ in range(4000)])
    counted = np.mean([len(set(row)) for row in chosen])
    assert ranks_reached(32, 4, 8) == pytest.approx(counted, rel=0.01)
    assert ranks_reached(32, 1, 8) == ranks_reached(32, 32, 1) == 1


def test_seeds_repeat_and_differ():
    draw = lambda seed: sample(FAIR, tokens=256, active=2, ranks=8, seed=seed, draws=3)  # noqa: E731
    assert (draw(1) == draw(1)).all()
    assert (draw(1) != draw(2)).any()


def test_only_the_experts_of_the_busiest_rank_have_more_work():
    strategy = STRATEGIES["5d"]
    busy = imbalance.busiest_rank_work(strategy, sympy.Rational(3, 2))
    for term in strategy.rank_work:
        assert busy[term.name] / term.expr == (sympy.Rational(3, 2) if term.name == Part.EXPERTS else 1)
    assert imbalance.busiest_rank_work(strategy, 1) == strategy.rank_work


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"active": 0}, "active is 0"),
        ({"active": 33}, "active is 33 but there are 32 experts"),
        ({"ranks": 5}, "ranks is 5 but there are 32 experts"),
        ({"group": 60}, "group is 60 but tokens is 256"),
        ({"alike": 1.0}, "alike is 1.0"),
    ],
)
def test_what_cannot_be_is_refused(change, told):
    with pytest.raises(InputError, match=told):
        sample(FAIR, **{"tokens": 256, "active": 2, "ranks": 8, "seed": 0} | change)
