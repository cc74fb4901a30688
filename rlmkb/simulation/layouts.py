"""Generation in different layouts on the same devices: seconds of a decoding step, and of a change of layout.

A step reads the weights and the caches once, and meets in all-reduces if ranks share a model. What else a step does
(arithmetic of large batches, launches) is left out, so its times are lower bounds.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rlmkb.errors import InputError
from rlmkb.simulation.services import Decoding
from rlmkb.theory.resharding import share


@dataclass(frozen=True)
class Served:
    """A model on devices that generate.

    Parameters
    ----------
    weights, cache : float
        Bytes of the weights, and of the cache of an average sequence.
    devices : int
        Replicas of `degree` ranks each fill them.
    memory, link : float
        Bytes/s that a device reads from its memory, and receives from others.
    meetings : int
        All-reduces of a step, two a layer.
    meeting : tuple of float
        Seconds of one, and seconds more for each sequence of the group.

    Examples
    --------
    10 GB on two devices of 1 GB/s: a step of two replicas, of one pair, and with the weights gathered each time.

    >>> served = Served(10e9, 1e9, devices=2, memory=1e9, link=0.5e9)
    >>> [float(step(2)) for step in (served.step(1), served.step(2), served.gathering())]
    [11.0, 6.0, 21.0]
    """

    weights: float
    cache: float
    devices: int
    memory: float
    link: float
    meetings: int = 0
    meeting: tuple[float, float] = (0.0, 0.0)

    def step(self, degree: int) -> Callable[[np.ndarray], np.ndarray]:
        """Seconds of a decoding step against the sequences on all devices, in replicas of `degree` ranks.

        Parameters
        ----------
        degree : int
            Ranks that share a copy of the weights; it divides the devices.
        """
        if degree < 1 or self.devices % degree:
            raise InputError(f"degree is {degree}; give a divisor of the {self.devices} devices")
        fixed, each = self.meeting if degree > 1 else (0.0, 0.0)

        def seconds(sequences: np.ndarray) -> np.ndarray:
            a_device = np.asarray(sequences) / self.devices
            read = (self.weights / degree + self.cache * a_device) / self.memory
            return read + self.meetings * (fixed + each * degree * a_device)

        return seconds

    def gathering(self) -> Callable[[np.ndarray], np.ndarray]:
        """The same where the weights stay in shards over all devices and every step gathers them."""
        whole = self.step(1)
        return lambda sequences: whole(sequences) + self.refit(1)

    def refit(self, degree: int) -> float:
        """Seconds to fill the pieces of a layout from shards over all devices; each rank keeps its own.

        Examples
        --------
        >>> Served(8e9, 0, devices=8, memory=1e9, link=1e9).refit(4)  # 2 GB needed, 1 GB there
        1.0
        """
        return float(share(degree, self.devices)) * self.weights / self.link

    def decoding(self, degree: int) -> Decoding:
        """Generation for `simulate`: new weights change their layout before each use."""
        return Decoding(self.step(degree), refit=self.refit(degree))
