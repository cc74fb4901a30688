"""Which rank holds which expert, and how many choices a router would have to change. Beyond the paper."""

from typing import TYPE_CHECKING

from rlmkb.errors import InputError

if TYPE_CHECKING:
    import numpy as np


def placed(probabilities: "np.ndarray", ranks: int) -> "np.ndarray":
    """Experts dealt to ranks so that loads are even: the most wanted first, each to the rank with least load.

    Parameters
    ----------
    probabilities : array [E]
        How often each expert is chosen.
    ranks : int
        A divisor of the number of experts; every rank holds equally many.

    Returns
    -------
    array [E]
        The same probabilities, ordered by rank, as `rlmkb.theory.imbalance` takes them.

    Examples
    --------
    >>> import numpy as np
    >>> placed(np.array([0.4, 0.3, 0.2, 0.1]), ranks=2).reshape(2, 2).sum(axis=1).round(2).tolist()
    [0.5, 0.5]
    """
    import numpy as np

    probabilities = np.asarray(probabilities, float)
    if ranks < 1 or len(probabilities) % ranks:
        raise InputError(f"ranks is {ranks} but there are {len(probabilities)} experts; every rank holds equally many")
    each = len(probabilities) // ranks
    held: list[list[float]] = [[] for _ in range(ranks)]
    for share in probabilities[np.argsort(-probabilities, kind="stable")].tolist():
        min((rank for rank in held if len(rank) < each), key=sum).append(share)
    return np.array([share for rank in held for share in rank])


def to_move(shares: "np.ndarray") -> float:
    """Share of all choices that must go elsewhere so that all are equal.

    Parameters
    ----------
    shares : array
        Of experts or ranks; they add up to 1.

    Examples
    --------
    >>> import numpy as np
    >>> to_move(np.array([0.5, 0.3, 0.2, 0.0]))  # 0.25 from the first, 0.05 from the second
    0.3
    """
    import numpy as np

    shares = np.asarray(shares, float)
    return round(float(np.maximum(shares - 1 / len(shares), 0).sum()), 12)
