"""Time of a job that ranks share: work is divided, meetings and traffic are not. Beyond the paper.

Times come from the caller, measured or computed; nothing here knows a device.
"""

from dataclasses import dataclass

from rlmkb.errors import InputError
from rlmkb.theory.traffic import elsewhere


def break_even(alone: float, ranks: int, meetings: int) -> float:
    """Time that each meeting of ranks may take if sharing a job is to be no slower than doing it alone.

    Parameters
    ----------
    alone : float
        Time of the job on one rank, of which each of several does its part: reading the weights in a decode step.
    ranks : int
        Over how many it is shared.
    meetings : int
        All-reduces during the job.

    Examples
    --------
    >>> break_even(alone=16.0, ranks=4, meetings=6)  # 12 are saved
    2.0
    """
    return alone * elsewhere(ranks) / meetings


@dataclass(frozen=True)
class SharedTime:
    """Time of a job against the degree P: a/P for work that is divided, and c (P - 1)/P for traffic that is not.

    Parameters
    ----------
    work, traffic : float
        a and c, in one unit of time.

    Examples
    --------
    >>> job = SharedTime.through((2, 12.0), (8, 6.0))
    >>> job, job.at(4), job.traffic_share(8)
    (SharedTime(work=20.0, traffic=4.0), 8.0, 0.5833333333333334)
    """

    work: float
    traffic: float

    @classmethod
    def through(cls, one: tuple[int, float], other: tuple[int, float]) -> "SharedTime":
        """The curve through two pairs of degree and time."""
        (few, slow), (many, quick) = one, other
        if few == many:
            raise InputError(f"both times are of degree {few}; give two degrees")
        traffic = (many * quick - few * slow) / (many - few)
        return cls(few * slow - traffic * (few - 1), traffic)

    def at(self, ranks: int) -> float:
        """The time at a degree."""
        return self.work / ranks + self.traffic * elsewhere(ranks)

    def traffic_share(self, ranks: int) -> float:
        """The share of the time that is traffic."""
        return self.traffic * elsewhere(ranks) / self.at(ranks)
