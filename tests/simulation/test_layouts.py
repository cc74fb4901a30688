"""Layouts of generation: limits of a step, and the simulation that runs them."""

from dataclasses import replace

import numpy as np
import pytest

from rlmkb.errors import InputError
from rlmkb.simulation import simulate
from rlmkb.simulation.layouts import Served
from rlmkb.simulation.services import TRAINING_PASSES, Passes, by_tokens
from rlmkb.theory.algorithms import GRPO
from rlmkb.theory.graph import IterationGraph, co_located

SERVED = Served(8e9, 1e8, devices=8, memory=1e9, link=2e9, meetings=10, meeting=(1e-3, 1e-4))


def test_weights_are_divided_and_caches_are_not():
    free = replace(SERVED, meetings=0)
    one, eight = free.step(1)(np.array([0, 80])), free.step(8)(np.array([0, 80]))
    assert one[0] == 8 * eight[0] == pytest.approx(8.0)
    assert np.diff(one) == np.diff(eight) == pytest.approx(10 * 0.1)


def test_meetings_cost_what_they_are_said_to():
    extra = SERVED.step(4)(16) - replace(SERVED, meetings=0).step(4)(16)
    assert extra == pytest.approx(10 * (1e-3 + 1e-4 * 4 * 2))


def test_refit_falls_with_the_degree_to_nothing():
    assert [SERVED.refit(degree) for degree in (1, 2, 4, 8)] == [3.5, 1.5, 0.5, 0.0]
    assert SERVED.gathering()(8) - SERVED.step(1)(8) == pytest.approx(SERVED.refit(1))


def test_a_degree_divides_the_devices():
    with pytest.raises(InputError, match="degree is 3"):
        SERVED.step(3)


def test_an_iteration_has_its_refit_and_its_passes():
    graph = IterationGraph(GRPO.with_verifier(), co_located(GRPO.with_verifier()))
    services = by_tokens(graph, replace(SERVED, meetings=0).decoding(2), 0.01)
    assert services["verifier/assessment"] == Passes()
    assert services["policy/training"].per_token == pytest.approx(TRAINING_PASSES * 0.01)
    lengths = np.full((3, 8), 5)
    found = simulate(graph, services, lengths)
    decoding = 5 * (8e9 / 2 + 1e8) / 1e9
    # the first iteration has its weights; each later one waits for them
    assert found.period == pytest.approx(decoding + 1.5 + 40 * 0.04)
