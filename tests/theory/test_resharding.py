"""Resharding: what is received adds up with what is there, and the limits hold."""

import pytest

from rlmkb.errors import InputError
from rlmkb.notation import Role
from rlmkb.theory import building_blocks as blocks
from rlmkb.theory.resharding import held, received, share

POINT = {"L": 2, "d": 8, "d_ff": 32, "h": 8, "V": 50}


@pytest.mark.parametrize(("pieces", "of"), [(1, 8), (2, 8), (4, 8), (8, 8), (2, 64)])
def test_received_and_kept_make_the_piece(pieces, of):
    at = {**POINT, "P_t": pieces, "P_z": of}
    size = blocks.parameter_count(Role.POLICY).evaluate(POINT)
    assert received().evaluate(at) + size / of == pytest.approx(held().evaluate(at))
    assert received(kept=False).evaluate(at) == held().evaluate(at) == pytest.approx(size / pieces)


def test_nothing_is_received_where_training_holds_more():
    assert share(8, 2) == 0


def test_a_layout_has_at_least_one_piece():
    with pytest.raises(InputError, match="pieces is 0"):
        share(0, 8)
