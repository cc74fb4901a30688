"""Flash attention: the share of tiles equals a count of them, and refuses what is no tiling."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlmkb.errors import InputError
from rlmkb.theory import flash
from rlmkb.theory.evaluate import evaluate


@given(st.integers(1, 12), st.integers(1, 8))
def test_the_share_is_that_of_the_tiles_which_touch_the_causal_half(side, tile):
    length = side * tile
    rows, columns = np.indices((length, length)) // tile
    touched = (columns <= rows).mean()
    assert flash.computed_share(length, tile) == pytest.approx(touched)
    assert flash.computed_share(length, 1) == pytest.approx((length + 1) / (2 * length))


def test_storage_is_linear_where_scores_are_quadratic():
    at = {"d": 256, "h": 4}
    scores, kept = (
        [evaluate(expr, {**at, "m": m}) for m in (64, 128)] for expr in (flash.stored_scores(), flash.stored_by_flash())
    )
    assert scores[1] == 4 * scores[0] == 4 * 4 * 64**2
    assert kept[1] == 2 * kept[0] == 128 * 260


@pytest.mark.parametrize(("length", "tile"), [(10, 4), (0, 1), (8, 0), (8.0, 2)])
def test_what_is_no_tiling_is_refused(length, tile):
    with pytest.raises(InputError, match=r"tile|length"):
        flash.computed_share(length, tile)
