"""How even causal attention is when the sequence is cut: in order, or zig-zag. Beyond the paper.

A token attends to all before it, so a later piece of the sequence has more pairs. The shares are those of long
sequences, where the diagonal does not count.
"""

from fractions import Fraction

from rlmkb.errors import InputError


def chunk_share(chunk: int, chunks: int) -> Fraction:
    """Share of all causal pairs whose query lies in one of equal chunks, counted from 0.

    Examples
    --------
    >>> [str(chunk_share(chunk, 2)) for chunk in range(2)]  # a triangle; a square and a triangle
    ['1/4', '3/4']
    """
    return Fraction(2 * chunk + 1, chunks**2)


def zigzag_chunks(rank: int, ranks: int) -> tuple[int, int]:
    """The two of 2 x `ranks` chunks that a rank has in the zig-zag order: one early, one late; counted from 0.

    Examples
    --------
    >>> [zigzag_chunks(rank, 4) for rank in range(4)]
    [(0, 7), (1, 6), (2, 5), (3, 4)]
    """
    return rank, 2 * ranks - 1 - rank


def causal_shares(ranks: int, *, zigzag: bool = False) -> tuple[Fraction, ...]:
    """Each rank's share of the causal pairs.

    Parameters
    ----------
    ranks : int
        At least 1.
    zigzag : bool
        Whether each rank has an early and a late chunk instead of one piece in order.

    Raises
    ------
    InputError
        If there is no rank.

    Examples
    --------
    >>> [str(share) for share in causal_shares(2)], [str(share) for share in causal_shares(2, zigzag=True)]
    (['1/4', '3/4'], ['1/2', '1/2'])
    """
    if not isinstance(ranks, int) or ranks < 1:
        raise InputError(f"ranks is {ranks!r}; give an integer of at least 1")
    if not zigzag:
        return tuple(chunk_share(rank, ranks) for rank in range(ranks))
    return tuple(sum(chunk_share(chunk, 2 * ranks) for chunk in zigzag_chunks(rank, ranks)) for rank in range(ranks))
