"""Bytes of a trained state under ZeRO: the published figure, and the laws of sharding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlmkb.errors import InputError
from rlmkb.theory.precision import FP32_GRADIENTS, MIXED, Precision
from rlmkb.theory.transforms import Zero, zero_states


def test_the_published_figure_of_zero():
    """7.5 billion parameters on 64 ranks, in GB (Rajbhandari et al. 2020, figure 1)."""
    held = [7.5 * MIXED.per_parameter(stage, 64) for stage in Zero]
    assert held == pytest.approx([120, 31.4, 16.6, 1.88], rel=3e-3)


def test_four_equal_parts_are_the_papers_numbers():
    equal = Precision("one size", 1, 1, 2)
    for stage in Zero:
        assert equal.per_parameter(stage, 8) == float(zero_states(stage, 8))


@given(st.sampled_from([MIXED, FP32_GRADIENTS]), st.integers(1, 512))
def test_every_stage_holds_less_and_nothing_gets_lost(precision, shards):
    held = [precision.per_parameter(stage, shards) for stage in Zero]
    assert held == sorted(held, reverse=True)
    assert held[0] == precision.total
    assert held[-1] * shards == pytest.approx(precision.total)


@pytest.mark.parametrize("shards", [0, 1.5, True])
def test_shards_are_whole(shards):
    with pytest.raises(InputError, match="shards is"):
        MIXED.per_parameter(1, shards)
