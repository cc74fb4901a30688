"""Time of a shared job: the laws that define it."""

import pytest

from rlmkb.errors import InputError
from rlmkb.theory.sharing import SharedTime, break_even


def test_a_step_at_break_even_takes_as_long_as_alone():
    alone, meetings = 3.5, 56
    for ranks in (2, 4, 8):
        assert alone / ranks + meetings * break_even(alone, ranks, meetings) == pytest.approx(alone)
    assert break_even(alone, 1, meetings) == 0


@pytest.mark.parametrize("degrees", [(2, 8), (4, 2), (1, 8)])
def test_a_shared_time_goes_through_its_points(degrees):
    law = SharedTime(work=100.0, traffic=11.0)
    found = SharedTime.through(*((P, law.at(P)) for P in degrees))
    assert (found.work, found.traffic) == pytest.approx((100, 11))
    assert law.at(1) == 100
    assert law.traffic_share(4) == pytest.approx(11 * 3 / (100 + 11 * 3))
    with pytest.raises(InputError, match="two degrees"):
        SharedTime.through((2, 1.0), (2, 1.0))
