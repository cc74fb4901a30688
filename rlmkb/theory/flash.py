"""Flash attention in the cost model: what is stored, and how much of the causal half a tiled kernel can skip.

Scores are computed tile by tile with a running maximum and sum (Milakov and Gimelshein 2018, Dao et al. 2022), so
that the score matrix is never stored. Work stays of the same order, and so does the result.
"""

import sympy

from rlmkb.errors import InputError
from rlmkb.notation import Role, symbol
from rlmkb.theory.transformer import transformer

m = symbol("m")


def stored_scores(role: Role = Role.POLICY) -> sympy.Expr:
    """Elements of the score matrices of one layer for one sequence: h m^2.

    Examples
    --------
    >>> stored_scores()
    h_pi*m**2
    """
    return transformer(role).h * m**2


def stored_by_flash(role: Role = Role.POLICY) -> sympy.Expr:
    """Elements that flash attention writes for one layer and sequence: outputs, one statistic per row and head.

    Examples
    --------
    >>> stored_by_flash()
    d_pi*m + h_pi*m
    """
    model = transformer(role)
    return m * model.d + m * model.h


def computed_share(length: int, tile: int) -> float:
    """Share of the square score matrix that a causal kernel computes, skipping the tiles above the diagonal.

    Parameters
    ----------
    length : int
        Tokens of the sequence; a multiple of `tile`.
    tile : int
        Rows and columns of a tile.

    Returns
    -------
    float
        (n + 1)/(2 n) for n = length/tile tiles a side: one half in the limit, 1 for a single tile.

    Raises
    ------
    InputError
        If either is not an integer of at least 1, or `tile` does not divide `length`.

    Examples
    --------
    >>> computed_share(512, tile=128)  # 4 tiles a side: 10 of 16
    0.625
    """
    for name, value in (("length", length), ("tile", tile)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InputError(f"{name} is {value!r}; give an integer of at least 1")
    if length % tile:
        raise InputError(f"tile is {tile}, length {length}; give a tile that divides the length")
    side = length // tile
    return (side + 1) / (2 * side)
