"""The algorithms learn: from a stated start to a stated reward, in time, and the same again."""

import time

import jax
import numpy as np
import pytest

from rlmkb.algorithms import dpo, learning, staleness, updates
from rlmkb.algorithms.experiments import read, stored
from rlmkb.algorithms.rollout import log_probabilities
from rlmkb.verification import transformer

SECONDS = 60
REACHED = {"ppo": 0.95, "grpo": 0.95, "dpo": 0.9}


@pytest.mark.slow
@pytest.mark.parametrize("name", learning.LEARN)
def test_learns_and_repeats_the_stored_curve(name):
    started = time.process_time()
    curve = learning.LEARN[name](seed=0)
    assert time.process_time() - started < SECONDS
    last = curve.reward[-max(1, len(curve.reward) // 20) :]
    assert curve.reward[0] < 0.25
    assert curve.solved[0] < 0.05
    assert last.mean() > REACHED[name]
    rows = stored("learning").query("algorithm == @name and seed == 0")
    early = rows[rows["step"] < 100]  # later, the last digits of a processor may have grown visible
    assert len(early) > 5
    np.testing.assert_allclose(curve.reward[early["step"]], early["reward"], atol=5e-4)


@pytest.mark.slow
def test_a_shorter_run_is_the_start_of_a_longer_one():
    short, longer = (learning.learn_grpo(iterations=count, seed=1) for count in (3, 6))
    assert np.array_equal(short.reward, longer.reward[:3])
    assert not np.array_equal(learning.learn_grpo(iterations=3, seed=2).reward, short.reward)


@pytest.mark.slow
def test_a_step_of_dpo_goes_down_the_gradient_of_its_loss():
    """Forward and backward in two invocations give what one derivative of the whole loss gives."""
    with jax.enable_x64(True):
        setting = dpo.Setting(learning.POLICY)
        policy = transformer.initialise(setting.policy, 0)
        reference = transformer.initialise(setting.policy, 1)
        pairs = learning.preference_pairs(learning.TASK, 8, jax.random.key(0))
        both = jax.tree.map(lambda *halves: jax.numpy.concatenate(halves), *pairs)

        @jax.jit
        def whole(parameters):
            sums = [log_probabilities(setting.policy, model, both).sum(axis=1) for model in (parameters, reference)]
            return dpo.loss(*sums, setting.kl_coefficient)

        start = updates.start(policy, setting.policy_rate)
        expected = updates.descended(start, jax.grad(whole)(policy), setting.policy_rate)
        found = dpo.step(setting, dpo.Models(start, reference), pairs).policy
        for one, other in zip(jax.tree.leaves(found.parameters), jax.tree.leaves(expected.parameters), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-10)


@pytest.mark.slow
def test_fresh_samples_are_not_stale():
    fresh, old = (list(staleness.run("grpo", "coupled", steps, seed=0, iterations=4, every=2)) for steps in (0, 1))
    assert [row["iteration"] for row in fresh] == [2, 4]
    for row in fresh:
        assert row["effective_sample_size"] == pytest.approx(1)
        assert max(row["ratio_variance"], row["token_kl"], abs(row["advantage_shift"])) < 1e-12
    assert all(row["token_kl"] > 1e-4 and row["effective_sample_size"] < 1 for row in old)


@pytest.mark.slow
def test_the_stored_drift_is_what_its_command_computes():
    rows = stored("staleness").query("algorithm == 'grpo' and objective == 'coupled' and staleness == 4 and seed == 1")
    again = list(staleness.run("grpo", "coupled", 4, seed=1, iterations=40, every=20))
    for name in staleness.MEASURES:
        np.testing.assert_allclose([row[name] for row in again], rows[name].iloc[:2], rtol=1e-3, atol=1e-9)


# --- stored results --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["learning", "staleness"])
def test_a_stored_result_names_its_command_and_seeds(name):
    document = read(name)
    assert document["command"].startswith(f"python -m rlmkb.algorithms.{name}")
    assert document["seeds"] == [0, 1, 2]
    assert not stored(name).isna().any(axis=None)


def test_every_seed_has_learned():
    rows = stored("learning")
    for (name, _), curve in rows.groupby(["algorithm", "seed"]):
        assert curve["reward"].iloc[0] < 0.25
        assert curve["reward"].tail(4).mean() > REACHED[name] - 0.06


def test_the_settings_stored_are_those_of_the_code():
    learned, aged = read("learning")["settings"], read("staleness")["settings"]
    assert learned == {name: repr(getattr(learning, name.upper())) for name in learning.LEARN}
    assert aged == {name: repr(setting) for name, (_, setting, _) in staleness.ALGORITHMS.items()}


def test_staleness_has_all_its_runs_and_measures():
    rows = stored("staleness")
    runs = rows.groupby(["algorithm", "objective", "staleness", "seed"])
    assert len(runs) == 2 * 2 * 4 * 3
    assert runs["iteration"].max().eq(400).all()
    assert list(rows.columns[5:]) == list(staleness.MEASURES)


def test_drift_grows_with_staleness():
    drift = ["token_kl", "effective_sample_size"]
    mean = stored("staleness").groupby(["algorithm", "objective", "staleness"])[drift].mean()
    for algorithm in staleness.ALGORITHMS:
        for objective in staleness.OBJECTIVES:
            by_age = mean.loc[algorithm, objective]
            assert by_age["token_kl"].is_monotonic_increasing
            assert by_age.loc[0, "token_kl"] == 0
            assert by_age.loc[0, "effective_sample_size"] == 1
            assert by_age.loc[16, "effective_sample_size"] < by_age.loc[1, "effective_sample_size"] < 1


def test_old_samples_cost_reward_where_clipping_stays_centred_on_them():
    rows = stored("staleness").query("iteration > 300")
    mean = rows.groupby(["algorithm", "objective", "staleness"])["reward"].mean()
    for algorithm in staleness.ALGORITHMS:
        assert mean[algorithm, "coupled", 16] < mean[algorithm, "coupled", 0] - 0.1
