"""Lengths of responses: a lognormal whose responses end at the limit, sampled and in closed form.

A batch that decodes together takes as long as its longest response; the spread of the lognormal says how much longer
than an average one that is. Everything but the samples broadcasts over arrays of parameters, for sweeps.
"""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from rlmkb.errors import InputError

_REACH = 9.0  # standard deviations around the median that the integrals span
_PANELS, _NODES = 24, 12  # of their quadrature

Values = float | np.ndarray


@dataclass(frozen=True, eq=False)
class ResponseLengths:
    """Response lengths in tokens: exp of a normal variable; a response that would be longer ends at the limit.

    Parameters
    ----------
    median : float or array
        Half of the responses are shorter, as long as it is below the limit.
    spread : float or array
        Standard deviation of the logarithm: 0 gives equal lengths; with 1, one response in six is longer than 2.7
        medians.
    limit : float or array
        The longest response allowed.

    Raises
    ------
    InputError
        If the median or the limit is not positive, or the spread is negative.

    Examples
    --------
    >>> ResponseLengths(median=1000, spread=0.0, limit=8000).sample((2, 3), seed=0).tolist()
    [[1000, 1000, 1000], [1000, 1000, 1000]]
    """

    median: Values
    spread: Values
    limit: Values

    def __post_init__(self) -> None:
        for name in ("median", "limit"):
            if not np.all(np.asarray(getattr(self, name)) > 0):
                raise InputError(f"{name} of the response lengths is {getattr(self, name)}; give a positive number")
        if not np.all(np.asarray(self.spread) >= 0):
            raise InputError(f"spread of the response lengths is {self.spread}; give 0 (equal lengths) or more")

    @classmethod
    def with_mean(cls, mean: float, spread: float, limit: float) -> "ResponseLengths":
        """The lengths of a given average, which is what logs of runs tell.

        Parameters
        ----------
        mean : float
            Average with the limit, below it.
        spread, limit : float
            As of the class.

        Examples
        --------
        >>> round(ResponseLengths.with_mean(1100, 0.8, 4096).mean)
        1100
        """
        from scipy.optimize import brentq

        if not 0 < mean < limit:
            raise InputError(f"mean of the response lengths is {mean}; give more than 0, less than the limit {limit}")
        low, high = mean * np.exp(-_REACH * spread), limit * np.exp(_REACH * spread)
        root = brentq(lambda log: cls(np.exp(log), spread, limit).mean - mean, np.log(low) - 1, np.log(high) + 1)
        return cls(float(np.exp(root)), spread, limit)

    def sample(self, shape: int | tuple[int, ...], seed: int) -> np.ndarray:
        """Whole numbers of tokens, at least 1; the same for the same seed.

        Parameters
        ----------
        shape : int or tuple
            For `simulate`: (iterations, rollouts in an iteration).
        seed : int
            Seed of the random numbers.
        """
        normal = np.random.default_rng(seed).standard_normal(shape)
        drawn = np.exp(np.log(self.median) + np.asarray(self.spread) * normal)
        return np.maximum(np.rint(np.minimum(drawn, self.limit)), 1).astype(np.int64)

    @cached_property
    def _grid(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Lengths x up to the limit, weights of an integral over x, and the share of responses longer than x.

        The last axis is that of the integral, equally fine in the logarithm of x, in which the integrands are smooth.
        """
        from scipy.special import ndtr

        median, spread, limit = (np.asarray(value, dtype=float)[..., None]
                                 for value in (self.median, np.maximum(self.spread, 1e-9), self.limit))  # fmt: skip
        last = np.log(limit / median) / spread
        low, high = np.minimum(-_REACH, last - 1), np.minimum(last, _REACH)
        places, weights = _quadrature()
        deviations = low + (high - low) * places
        lengths = median * np.exp(spread * deviations)
        return lengths, weights * (high - low) * spread * lengths, ndtr(-deviations)

    def _integral(self, integrand: np.ndarray) -> Values:
        """Over lengths; below the grid, where hardly any response ends, the integrand is that of its first point."""
        lengths, weights, _ = self._grid
        return ((integrand * weights).sum(axis=-1) + integrand[..., 0] * lengths[..., 0])[()]

    @property
    def mean(self) -> Values:
        """Average length, with the limit.

        Examples
        --------
        >>> round(float(ResponseLengths(100, 0.5, 1e9).mean), 1)  # 100 exp(0.5^2 / 2)
        113.3
        """
        return self._integral(self._grid[2])

    def longest(self, count: int | np.ndarray) -> Values:
        """Average of the longest of `count` responses: the integral over x of the chance that one is longer than x.

        Parameters
        ----------
        count : int or array
            Responses in a batch, at least 1.

        Examples
        --------
        >>> lengths = ResponseLengths(median=1000, spread=1.0, limit=16000)
        >>> lengths.longest(np.array([1, 64, 4096])).round(-1).tolist()
        [1630.0, 10530.0, 16000.0]
        """
        return self._integral(_any_of(self._grid[2], _counts(count)[..., None]))

    def decoding_time(
        self,
        count: int | np.ndarray,
        fixed: Values,
        per_sequence: Values = 0.0,
        *,
        room: int | np.ndarray | None = None,
        waves: bool = False,
    ) -> Values:
        """Average seconds to generate a batch, where a step takes max(fixed, per_sequence * sequences).

        As sequences end, steps get shorter, down to the fixed part, at which the longest responses decode alone.

        Parameters
        ----------
        count : int or array
            Responses in the batch.
        fixed, per_sequence : float or array
            As of `step_time`, in seconds.
        room : int or array, optional
            Sequences that decode together at most; default: all.
        waves : bool
            With `room`: a new wave starts when the one before has ended; else a sequence starts as soon as one ends.

        Notes
        -----
        The largest of two averages stands for the average of the largest, which is exact but for the steps around
        the crossing. Without waves, those that still run when the last one starts have their average remaining
        length by then, as in the long run; so `count` should be a few times `room`.

        Examples
        --------
        >>> lengths = ResponseLengths(median=1000, spread=0.0, limit=8000)
        >>> round(float(lengths.decoding_time(256, fixed=0.01, per_sequence=0.0001)), 2)  # 1000 steps of 0.0256 s
        25.6
        """
        _, weights, longer = self._grid
        count = _counts(count)
        if room is None:
            return self._drain(longer, count, fixed, per_sequence)
        room = np.minimum(_counts(room), count)
        whole = np.floor(count / room)
        if waves:
            rest = count - whole * room
            last = self._drain(longer, np.maximum(rest, 1), fixed, per_sequence)
            return whole * self._drain(longer, room, fixed, per_sequence) + np.where(rest > 0, last, 0.0)
        # in the long run, the share of remaining lengths above x is the integral of `longer` beyond x, over the mean
        parts = longer * weights
        beyond = parts[..., ::-1].cumsum(axis=-1)[..., ::-1] - parts / 2
        remaining = np.minimum(beyond / np.asarray(self.mean)[..., None], 1.0)
        left = self._integral(remaining)  # average remaining length
        full = np.maximum(fixed, per_sequence * room) * np.maximum(count * self.mean / room - left, 0.0)
        together = self._drain(longer, count, fixed, per_sequence)
        return np.where(count > room, full + self._drain(remaining, room, fixed, per_sequence), together)[()]

    def _drain(self, longer: np.ndarray, count: np.ndarray, fixed: Values, per_sequence: Values) -> Values:
        """Until the last of `count` sequences ends, each longer than x with the given share."""
        count = count[..., None]
        together = np.asarray(per_sequence)[..., None] * count * longer
        alone = np.asarray(fixed)[..., None] * _any_of(longer, count)
        return self._integral(np.maximum(together, alone))


@cache
def _quadrature() -> tuple[np.ndarray, np.ndarray]:
    """Places between 0 and 1, and weights: Gauss-Legendre in equal panels."""
    points, weights = np.polynomial.legendre.leggauss(_NODES)
    starts = np.arange(_PANELS)[:, None]
    return ((starts + (points + 1) / 2) / _PANELS).ravel(), np.tile(weights / 2 / _PANELS, _PANELS)


def _any_of(share: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Chance that at least one of `count` falls under a share: 1 - (1 - share)^count."""
    with np.errstate(divide="ignore"):
        return -np.expm1(count * np.log1p(-share))


def _counts(count: int | np.ndarray) -> np.ndarray:
    counts = np.asarray(count, dtype=float)
    if not np.all(counts >= 1):
        raise InputError(f"a number of responses is {count}; give at least 1")
    return counts
