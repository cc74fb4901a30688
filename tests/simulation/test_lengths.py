"""Response lengths in closed form against samples, and against the event loop."""

import numpy as np
import pytest

from rlmkb.errors import InputError
from rlmkb.notation import Role
from rlmkb.simulation import Decoding, Passes, ResponseLengths, simulate, step_time
from rlmkb.simulation.analytic import period
from rlmkb.theory.algorithms import GRPO
from rlmkb.theory.graph import IterationGraph, co_located

PLAIN = GRPO.without(Role.REFERENCE).with_verifier()
GRAPH = IterationGraph(PLAIN, co_located(PLAIN))
TAILS = [(800, 0.5, 1e9), (800, 1.0, 6000), (3000, 1.5, 4000), (900, 0.0, 4000), (900, 0.7, 500)]


@pytest.mark.parametrize(("median", "spread", "limit"), TAILS)
def test_averages_are_those_of_samples(median, spread, limit):
    lengths = ResponseLengths(median, spread, limit)
    drawn = lengths.sample((4000, 64), seed=2)
    assert lengths.mean == pytest.approx(drawn.mean(), rel=0.01)
    assert lengths.longest(64) == pytest.approx(drawn.max(axis=1).mean(), rel=0.01)
    assert drawn.max() <= limit
    assert drawn.min() >= 1


def test_everything_broadcasts():
    spreads, counts = np.array([0.2, 0.8, 1.4]), np.array([[8], [512]])
    swept = ResponseLengths(1000, spreads, 8000)
    assert swept.longest(counts).shape == (2, 3)
    one = ResponseLengths(1000, 0.8, 8000)
    assert swept.longest(counts)[1, 1] == pytest.approx(one.longest(512))
    times = swept.decoding_time(counts, 0.01, 0.0005, room=64)
    assert times[1, 1] == pytest.approx(one.decoding_time(512, 0.01, 0.0005, room=64))
    assert (np.diff(swept.longest(counts), axis=1) > 0).all()  # a wider spread, a longer tail


def test_limits():
    lengths = ResponseLengths(1000, 1.0, 8000)
    assert lengths.longest(1) == pytest.approx(lengths.mean)
    assert lengths.longest(10**9) == pytest.approx(8000, rel=1e-6)
    # never saturated: the longest at the fixed pace; always: all tokens, one after the other
    assert lengths.decoding_time(256, 0.01) == pytest.approx(0.01 * lengths.longest(256))
    assert lengths.decoding_time(256, 0.0, 0.001) == pytest.approx(0.001 * 256 * lengths.mean)
    assert lengths.decoding_time(40, 0.01, room=10, waves=True) == pytest.approx(4 * 0.01 * lengths.longest(10))


def test_with_mean_finds_the_median():
    lengths = ResponseLengths.with_mean(1100, 0.8, 4096)
    assert lengths.mean == pytest.approx(1100)
    with pytest.raises(InputError, match="mean of the response lengths is 5000"):
        ResponseLengths.with_mean(5000, 0.8, 4096)


def generation_time(lengths, count, **decoding):
    services = {"policy/generation": Decoding(step_time(0.01, 0.0002), **decoding), "verifier/assessment": Passes(),
                "policy/training": Passes()}  # fmt: skip
    return simulate(GRAPH, services, lengths.sample((60, count), seed=4)).makespan / 60


@pytest.mark.parametrize(("spread", "count", "room", "waves"), [
    (0.5, 200, None, False), (1.0, 200, None, False), (1.2, 20, None, False), (0.8, 400, 100, False),
    (0.8, 400, 30, False), (1.0, 600, 100, True), (0.3, 250, 100, True),
])  # fmt: skip
def test_decoding_time_is_that_of_the_event_loop(spread, count, room, waves):
    lengths = ResponseLengths(500, spread, 4000)
    closed = lengths.decoding_time(count, 0.01, 0.0002, room=room, waves=waves)
    assert generation_time(lengths, count, max_sequences=room, waves=waves) == pytest.approx(closed, rel=0.025)


def test_wrong_lengths_and_sweeps_are_told():
    for bad, message in (((0, 1, 5), "median"), ((1, -1, 5), "spread"), ((1, 1, 0), "limit")):
        with pytest.raises(InputError, match=message):
            ResponseLengths(*bad)
    with pytest.raises(InputError, match="number of responses is 0"):
        ResponseLengths(1, 1, 5).longest(0)
    seconds = dict.fromkeys((node.id for node in GRAPH.nodes), 1.0)
    with pytest.raises(InputError, match="the schedule's symbols are"):
        period(GRAPH, seconds, eta=2)
    assert period(GRAPH, seconds | {"policy/training": np.array([1.0, 4.0])}).tolist() == [3, 6]
