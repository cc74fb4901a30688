"""Published speed-ups: the model's limits, and cases with public times."""

from dataclasses import replace

import pytest

from rlmkb.errors import InputError
from rlmkb.measurements import measurements
from rlmkb.simulation.headlines import CASES, compare
from rlmkb.simulation.loop import Execution
from rlmkb.simulation.speedups import SHARES, Setting, ceiling, lowest, speedup

EVEN = Setting(assessment=0.0, spread=0.0, saturation=0.25, share=0.25)


@pytest.mark.parametrize("execution", [Execution(), Execution("first_finished", "interrupt")])
@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_no_schedule_gains_more_than_the_ceiling(execution, spread):
    for saturation in (0.5, 4.0):
        setting = Setting(spread=spread, saturation=saturation, share=0.5, staleness=3, execution=execution)
        assert speedup(setting) <= ceiling(setting) * 1.01
    fused = Setting(spread=spread, fused=True, bubble=0.3, share=0.2)
    assert speedup(fused) <= ceiling(fused)


def test_hand_computed_gains():
    # 2 s in a row; 1 s of generation beside 1 s / 0.75 of training
    assert speedup(EVEN) == pytest.approx(1.5, rel=1e-3)
    # synchronous, split devices only wait for each other: 2 s against 1 s + 1.33 s
    assert speedup(replace(EVEN, staleness=0)) == pytest.approx(2 / (1 + 4 / 3), rel=1e-3)
    # the system's own times
    assert speedup(replace(EVEN, own={"training": 0.5})) == pytest.approx(2.0, rel=1e-3)
    # nothing changed, nothing gained
    assert speedup(replace(EVEN, against=Execution())) == 1


def test_interleaving_fills_bubbles():
    fused = Setting(assessment=0.0, spread=0.0, saturation=0.1, fused=True, share=0.1)
    assert speedup(fused) == pytest.approx(1.0, rel=0.02)
    # half of each of two models' passes is filled by the other, but for the first and the last micro-batch
    assert speedup(replace(fused, bubble=0.5)) == pytest.approx(2 / (1 + 0.5 + 0.5 / 32), rel=0.02)
    # at best neither bubbles nor steps that wait for the weights: a tenth of generation, half of training
    assert ceiling(replace(fused, bubble=0.5)) == pytest.approx(2 / (0.1 + 0.5), rel=0.02)


def test_cases_are_headlines_and_say_what_is_not_known():
    known = set(measurements("headlines")["id"])
    assert {case.headline for case in CASES} <= known
    for case in CASES:
        settings = list(case.settings())
        assert bool(settings) == bool(case.known) == bool(case.unknown)
        assert case.account.endswith(".")
        assert all(hasattr(setting, name) for setting in settings for name in case.unknown)


@pytest.mark.slow
def test_a_case_with_public_times():
    found = compare("headlines-0021")
    assert found.reported == (1.23, 1.4)
    assert found.modelled[0] < found.modelled[1] <= found.ceiling
    # a period of its own phases: generation (458 s, 501 s) is the longer part, against steps of 749 s and 699 s
    assert found.with_own[0] == pytest.approx(699 / 501, rel=0.06)
    assert found.with_own[1] == pytest.approx(749 / 475, rel=0.06)
    assert found.verdict == "ranges meet"
    assert "standard deviation" in found.assumed


def test_what_is_not_about_overlap_is_not_modelled():
    found = compare("headlines-0002")
    assert (found.modelled, found.ceiling, found.verdict) == (None, None, "not about overlap")
    assert found.reported == (1.8, 3.0)
    with pytest.raises(InputError, match="no case for 'headlines-0003'"):
        compare("headlines-0003")


@pytest.mark.slow
def test_the_best_split_is_found_without_trying_all():
    setting = Setting(training=0.5)
    assert speedup(setting) == max(speedup(replace(setting, share=share)) for share in SHARES)
    found = [lowest(values.__getitem__, len(values)) for values in ([3], [2, 1], [1, 2, 3], [5, 4, 4, 6])]
    assert found == [3, 1, 1, 4]
