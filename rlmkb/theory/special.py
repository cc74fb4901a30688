"""Numerics behind the functions of `rlmkb.theory.functions`."""

import math

import numpy as np

# 1 / (12 x) - 1 / (360 x^3) + ...: Stirling's series, below rounding from x = 16 on with these terms
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)
_LARGE = 16


def log_gamma_ratio(upper, lower):
    """ln(Gamma(upper) / Gamma(lower)): the sum of ln(k) for k from `lower` to `upper - 1`.

    The difference of two log-gamma values cancels when both are large and close; Stirling's series of the difference
    does not.

    Parameters
    ----------
    upper, lower : float or numpy.ndarray
        At least 1; broadcast against each other.

    Returns
    -------
    float or numpy.ndarray
        Accurate to about 1e-15 relative.

    Examples
    --------
    >>> round(log_gamma_ratio(5, 3), 12) == round(math.log(3 * 4), 12)
    True
    """
    if np.ndim(upper) == 0 and np.ndim(lower) == 0:
        return _scalar(float(upper), float(lower))
    from scipy.special import gammaln

    upper, lower = np.broadcast_arrays(np.asarray(upper, dtype=float), np.asarray(lower, dtype=float))
    far = np.maximum(lower, _LARGE)
    return np.where(lower < _LARGE, gammaln(upper) - gammaln(lower), _stirling(np.maximum(upper, far), far, np))


def _scalar(upper: float, lower: float) -> float:
    if lower < _LARGE:
        return math.lgamma(upper) - math.lgamma(lower)
    return _stirling(upper, lower, math)


def _stirling(upper, lower, library):
    gap = upper - lower
    leading = gap * (library.log(upper) - 1) + (lower - 0.5) * library.log1p(gap / lower)
    return leading + _tail(upper) - _tail(lower)


def _tail(x):
    inverse, square = 1 / x, 1 / (x * x)
    total = 0.0
    for coefficient in reversed(_STIRLING):
        total = total * square + coefficient
    return total * inverse
