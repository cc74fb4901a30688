"""Periods over shares of the devices: against the event loop, and in their limits."""

import numpy as np
import pytest

from rlmkb.errors import InputError
from rlmkb.simulation import simulate
from rlmkb.simulation.analytic import period
from rlmkb.simulation.budget import PLANS, pipelined, seconds, services, sweep
from rlmkb.simulation.speedups import ROLLOUTS, Setting, ceiling

SETTING = Setting(assessment=0.4, training=1.0, spread=0.6, saturation=2.0)


@pytest.mark.parametrize("eta", [0, 1, 2])
def test_the_sweep_is_what_the_event_loop_settles_on(eta):
    graph = pipelined(eta)
    law = float(period(graph, seconds(SETTING, np.array([0.3]), 0.3))[0])
    lengths = SETTING.lengths.sample((16, ROLLOUTS), seed=1)
    whole = simulate(graph, services(SETTING, 0.3, 0.3), lengths).period
    assert whole == pytest.approx(law, rel=0.04)
    streamed = simulate(graph, services(SETTING, 0.3, 0.3, batch=16), lengths).period
    assert streamed <= whole * 1.001


def test_a_layout_of_its_own_shortens_the_tail_alone():
    slow, fast = (seconds(SETTING, np.array([0.5]), layout=layout)["policy/generation"] for layout in (1.0, 0.5))
    assert fast < slow
    equal = Setting(spread=0.0, saturation=4.0)
    slow, fast = (seconds(equal, np.array([0.5]), layout=layout)["policy/generation"] for layout in (1.0, 0.5))
    assert fast == pytest.approx(slow)


def test_no_plan_gains_more_than_the_ceiling():
    found = sweep(SETTING, np.linspace(0.1, 0.9, 9), layout=1.0)
    assert found["gain"].max() <= ceiling(SETTING) * 1.05
    assert set(found["plan"]) == set(PLANS)
    best = found.groupby("plan")["gain"].max()
    # each plan removes a barrier of the one before
    assert best["split, synchronous"] < best["asynchronous"] < best["combined"]


def test_shares_are_between_nothing_and_all():
    with pytest.raises(InputError, match="share is"):
        seconds(SETTING, np.array([1.0]))
