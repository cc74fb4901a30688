"""Which iteration trains on which rollout."""

import numpy as np


class BatchesInOrder:
    """An iteration trains on the rollouts that were started for it.

    Examples
    --------
    >>> BatchesInOrder(iterations=2, rollouts=3, staleness=0).batch_of
    array([0, 0, 0, 1, 1, 1])
    """

    overtaking = False

    def __init__(self, iterations: int, rollouts: int, staleness: int) -> None:
        self.batch_of = np.repeat(np.arange(iterations), rollouts)

    def started(self, first: int, last: int, version: int) -> None:
        """Rollouts started with weights of a version."""


class FirstFinished:
    """An iteration trains on the rollouts that end first, but none later than its version and the staleness allow.

    A rollout that was started at version v is due by iteration v + eta. Places are kept for those that are due: a
    rollout that ends goes into the first batch in which it takes none of them. There are always enough, since no
    more than v + eta + 1 batches of rollouts have started by version v.

    Examples
    --------
    Of four rollouts started at version 0, batches of two: at staleness 1 the third may overtake the first.

    >>> batches = FirstFinished(iterations=2, rollouts=2, staleness=1)
    >>> batches.started(0, 4, version=0)
    >>> for sample in (2, 1, 0, 3):
    ...     batches.ended(sample)
    >>> batches.batch_of
    array([1, 0, 0, 1])
    """

    overtaking = True

    def __init__(self, iterations: int, rollouts: int, staleness: int) -> None:
        self.batch_of = np.full(iterations * rollouts, -1)
        self._staleness, self._last = staleness, iterations - 1
        self._places = [rollouts] * iterations
        self._due = [0] * iterations  # rollouts under way that must be trained on by this iteration
        self._deadline = [0] * (iterations * rollouts)
        self._first = 0  # the first batch with a place

    def started(self, first: int, last: int, version: int) -> None:
        """Rollouts started with weights of a version."""
        deadline = min(version + self._staleness, self._last)
        self._due[deadline] += last - first
        self._deadline[first:last] = [deadline] * (last - first)

    def ended(self, sample: int) -> None:
        """A rollout ended: it goes into a batch."""
        deadline = self._deadline[sample]
        self._due[deadline] -= 1
        batch, spare = self._first, 0
        for other in range(self._first, deadline):
            spare += self._places[other] - self._due[other]
            if spare < 1:  # all places up to here are kept
                batch = other + 1
        while not self._places[batch]:
            batch += 1
        self.batch_of[sample] = batch
        self._places[batch] -= 1
        while self._first < self._last and not self._places[self._first]:
            self._first += 1
