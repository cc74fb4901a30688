"""The work-depth model itself: what a computation costs before any machine runs it, and what few processors make of it.

Work is the number of operations, depth the longest chain of operations that wait for each other. Brent's bound
(Brent 1974) turns the two into a number of steps on any number of processors.
"""

import math
from dataclasses import dataclass

from rlmkb.errors import InputError


@dataclass(frozen=True)
class Levels:
    """A computation as levels: the operations of a level wait for the level before, and for nothing else.

    Parameters
    ----------
    widths : tuple of int
        Operations on each level, first to last.

    Examples
    --------
    >>> tree = dot_product(8)
    >>> tree.widths, tree.work, tree.depth
    ((8, 4, 2, 1), 15, 4)
    """

    widths: tuple[int, ...]

    @property
    def work(self) -> int:
        """All operations."""
        return sum(self.widths)

    @property
    def depth(self) -> int:
        """The longest chain: one operation a level."""
        return len(self.widths)

    def steps(self, processors: int) -> int:
        """Steps that `processors` need, one operation each per step, level after level.

        Examples
        --------
        >>> dot_product(8).steps(1), dot_product(8).steps(3), dot_product(8).steps(8)
        (15, 7, 4)
        """
        count = _whole("processors", processors)
        return sum(math.ceil(width / count) for width in self.widths)


def dot_product(length: int) -> Levels:
    """Dot product of two vectors: one level of multiplications, then additions in a binary tree.

    Parameters
    ----------
    length : int
        Numbers in each vector.

    Returns
    -------
    Levels
        Work 2n - 1, depth 1 + log2(n), rounded up.

    Examples
    --------
    >>> dot_product(5).widths  # 5 products; 5 -> 3 -> 2 -> 1 partial sums
    (5, 2, 1, 1)
    """
    remaining = _whole("length", length)
    widths = [remaining]
    while remaining > 1:
        widths.append(remaining // 2)
        remaining -= remaining // 2
    return Levels(tuple(widths))


def accumulated_dot_product(length: int, block: int) -> Levels:
    """The same dot product as a matrix unit computes it: a tree within each block, blocks added one by one.

    Parameters
    ----------
    length : int
        Numbers in each vector; a multiple of `block`.
    block : int
        Numbers that one instruction reduces; 1 adds every product in turn.

    Raises
    ------
    InputError
        If `block` does not divide `length`.

    Examples
    --------
    >>> slow = accumulated_dot_product(4096, block=16)
    >>> slow.work == dot_product(4096).work, slow.depth  # 1 + 4 + 255
    (True, 260)
    """
    if _whole("length", length) % _whole("block", block):
        raise InputError(f"block is {block}, length {length}; give a block that divides the length")
    blocks = length // block
    inside = tuple(blocks * width for width in dot_product(block).widths)
    return Levels(inside + (1,) * (blocks - 1))


def brent_bound(work, depth, processors):
    """Steps that suffice on a number of processors, however cleverly or clumsily levels are cut: W/p + D.

    Parameters
    ----------
    work, depth : number, array or sympy expression
        Of the computation, in operations and steps.
    processors : number, array or sympy expression
        Operations that the machine finishes per step.

    Returns
    -------
    The same type, in steps. The bound that Brent proved, D + (W - D)/p, is smaller by D/p.

    Examples
    --------
    >>> brent_bound(work=15, depth=4, processors=3)
    9.0
    """
    return work / processors + depth


def fewest_steps(work, depth, processors):
    """Steps below which no schedule gets: the larger of W/p and D.

    Examples
    --------
    >>> fewest_steps(work=15, depth=4, processors=[3, 100]).tolist()
    [5.0, 4.0]
    """
    import numpy as np

    return np.maximum(np.divide(work, processors), depth)


def parallelism(work, depth):
    """Operations per step on average, W/D: more processors than that cannot all be busy.

    Examples
    --------
    >>> parallelism(work=15, depth=4)
    3.75
    """
    return work / depth


def processors_at(efficiency: float, work, depth):
    """Processors up to which Brent's bound guarantees an efficiency: (W/D) (1 - e)/e.

    Parameters
    ----------
    efficiency : float
        Speed-up over processors, above 0 and below 1.
    work, depth : number, array or sympy expression
        Of the computation.

    Raises
    ------
    InputError
        If `efficiency` is out of range.

    Examples
    --------
    >>> processors_at(0.5, work=1000, depth=10)  # 1000/100 + 10 = 20 steps, a speed-up of 50
    100.0
    """
    if not 0 < efficiency < 1:
        raise InputError(f"efficiency is {efficiency!r}; give a number above 0 and below 1")
    return parallelism(work, depth) * (1 - efficiency) / efficiency


def _whole(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{name} is {value!r}; give an integer of at least 1")
    return value
