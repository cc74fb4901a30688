"""Placing experts: the same experts, evener ranks; and how many choices balancing would change."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlmkb.errors import InputError
from rlmkb.theory.imbalance import limit, zipf
from rlmkb.theory.placement import placed, to_move


@given(st.floats(0, 2), st.sampled_from([1, 2, 4, 8]))
@settings(max_examples=20, deadline=None)
def test_the_experts_stay_and_no_rank_gets_busier(skew, ranks):
    wanted = zipf(32, skew)
    dealt = placed(wanted, ranks)
    assert np.allclose(np.sort(dealt), np.sort(wanted))
    assert limit(dealt, ranks) <= limit(wanted, ranks) + 1e-12
    assert limit(dealt, ranks) >= 1 - 1e-12


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=9))
def test_to_move_is_half_the_distance_from_even(parts):
    shares = np.array(parts) / sum(parts)
    assert to_move(shares) == pytest.approx(np.abs(shares - 1 / len(shares)).sum() / 2, abs=1e-9)
    assert to_move(np.full(4, 0.25)) == 0


def test_unequal_ranks_are_refused():
    with pytest.raises(InputError, match="ranks is 3 but there are 4 experts"):
        placed(np.full(4, 0.25), 3)
