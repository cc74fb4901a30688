"""Pipeline schedules played: each rank's order of work, and when every piece of it starts and ends.

The orders follow the publications that `rlmkb.theory.schedules` names. Nothing here uses its formulas: it is what they
are tested against, and what figures of schedules are drawn from.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain

from rlmkb.errors import InputError, nearest


class Pass(StrEnum):
    """What is done to a micro-batch: forward, backward for activations, backward for weights."""

    FORWARD = "forward"
    BACKWARD = "backward"
    WEIGHTS = "weights"


@dataclass(frozen=True)
class Piece:
    """One pass of one micro-batch through one stage of the model."""

    kind: Pass
    stage: int
    micro_batch: int
    direction: int = 0  #: DualPipe feeds micro-batches from both ends

    @property
    def needs(self) -> tuple["Piece", ...]:
        """What must be done before, the stage's neighbour included; stage numbers below 0 need nothing."""
        if self.kind is Pass.FORWARD:
            return (replace(self, stage=self.stage - 1),)
        if self.kind is Pass.BACKWARD:
            return (replace(self, stage=self.stage + 1), replace(self, kind=Pass.FORWARD))
        return (replace(self, kind=Pass.BACKWARD),)


#: What a rank does without a pause; its results go out at the end. A full backward pass is two pieces.
Block = tuple[Piece, ...]


@dataclass(frozen=True)
class Slot:
    """A block with its rank and times."""

    rank: int
    block: Block
    start: float
    end: float


@dataclass(frozen=True)
class Timeline:
    """A schedule played once.

    Parameters
    ----------
    slots : tuple of Slot
        In order of time on each rank.
    ranks, chunks : int
        Ranks, and stages of the model on each.
    """

    slots: tuple[Slot, ...]
    ranks: int
    chunks: int

    def of(self, rank: int) -> list[Slot]:
        """The slots of one rank."""
        return [slot for slot in self.slots if slot.rank == rank]

    @property
    def end(self) -> float:
        """When the last rank is done."""
        return max(slot.end for slot in self.slots)

    @property
    def bubble(self) -> float:
        """Idle time of the rank that waits most, between its first and its last slot."""
        return max(self._idle(self.of(rank)) for rank in range(self.ranks))

    @staticmethod
    def _idle(slots: list[Slot]) -> float:
        return max(s.end for s in slots) - min(s.start for s in slots) - sum(s.end - s.start for s in slots)

    @property
    def live(self) -> float:
        """Most micro-batches whose activations a rank holds, from forward to weight gradient; chunks as parts."""
        return max(max(self._held(self.of(rank))) for rank in range(self.ranks)) / self.chunks

    @staticmethod
    def _held(slots: list[Slot]) -> Iterator[int]:
        held = 0
        for slot in slots:
            held += sum(piece.kind is Pass.FORWARD for piece in slot.block)
            yield held
            held -= sum(piece.kind is Pass.WEIGHTS for piece in slot.block)


def play(
    schedule: str, ranks: int, micro_batches: int, *, chunks: int = 1, times: tuple[float, float, float] = (1, 1, 1)
) -> Timeline:
    """Start every block as soon as its rank is free and its inputs are there.

    Parameters
    ----------
    schedule : str
        ``"gpipe"``, ``"1f1b"``, ``"interleaved"``, ``"zb-h1"``, ``"zb-h2"`` or ``"dualpipe"``.
    ranks, micro_batches : int
        At least 1; DualPipe needs an even number of both and twice as many micro-batches as ranks, interleaving a
        multiple of the ranks.
    chunks : int
        Pieces of the model per rank, for ``"interleaved"``.
    times : tuple of float
        Forward, backward for activations, backward for weights, of one micro-batch on one rank's layers.

    Returns
    -------
    Timeline
        Sending takes no time.

    Examples
    --------
    >>> timeline = play("1f1b", ranks=4, micro_batches=8)
    >>> timeline.bubble, timeline.end, timeline.live  # 3 (1 + 1 + 1); 8 times 3 more
    (9, 33, 4.0)
    """
    _refuse(schedule, ranks, micro_batches, chunks, times)
    orders = [list(ORDERS[schedule](ranks, rank, micro_batches, chunks)) for rank in range(ranks)]
    last = ranks * chunks - 1
    cost = {kind: time / chunks if chunks > 1 else time for kind, time in zip(Pass, times, strict=True)}
    done: dict[Piece, float] = {}
    free, slots = [0] * ranks, []
    while any(orders):
        moved = False
        for rank, order in enumerate(orders):
            while order and (ready := _ready(order[0], done, last)) is not None:
                block = order.pop(0)
                start = max(free[rank], ready)
                free[rank] = start + sum(cost[piece.kind] for piece in block)
                done |= dict.fromkeys(block, free[rank])
                slots.append(Slot(rank, block, start, free[rank]))
                moved = True
        if not moved:
            raise RuntimeError(f"{schedule}: every rank waits for another")
    return Timeline(tuple(slots), ranks, chunks)


def _ready(block: Block, done: dict[Piece, float], last: int) -> float | None:
    """When the inputs of a block are there; None if that is not known yet."""
    outside = [need for piece in block for need in piece.needs if need not in block and 0 <= need.stage <= last]
    return None if any(need not in done for need in outside) else max((done[need] for need in outside), default=0)


def _refuse(schedule: str, ranks: int, micro_batches: int, chunks: int, times: tuple[float, ...]) -> None:
    if schedule not in ORDERS:
        raise InputError(f"no schedule is named {schedule!r}; allowed: {nearest(schedule, ORDERS)}")
    for name, value in (("ranks", ranks), ("micro_batches", micro_batches), ("chunks", chunks)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise InputError(f"{name} is {value!r}; give an integer of at least 1")
    if len(times) != 3 or not all(time >= 0 for time in times):
        raise InputError(f"times are {times}; give three numbers of at least 0: forward, backward, weights")
    if chunks > 1 and schedule != "interleaved":
        raise InputError(f"chunks is {chunks}; only the interleaved schedule has more than 1")
    if schedule == "interleaved" and micro_batches % ranks:
        raise InputError(f"micro_batches is {micro_batches}; interleaving needs a multiple of the {ranks} ranks")
    if schedule == "dualpipe" and (ranks % 2 or micro_batches % 2 or micro_batches < 2 * ranks):
        raise InputError(
            f"dualpipe with {ranks} ranks and {micro_batches} micro-batches; both must be even, and micro-batches at "
            "least twice the ranks"
        )


def _forward(stage: int, micro_batch: int, direction: int = 0) -> Block:
    return (Piece(Pass.FORWARD, stage, micro_batch, direction),)


def _backward(stage: int, micro_batch: int, direction: int = 0) -> Block:
    return (Piece(Pass.BACKWARD, stage, micro_batch, direction),)


def _weights(stage: int, micro_batch: int, direction: int = 0) -> Block:
    return (Piece(Pass.WEIGHTS, stage, micro_batch, direction),)


def _full(stage: int, micro_batch: int, direction: int = 0) -> Block:
    return _backward(stage, micro_batch, direction) + _weights(stage, micro_batch, direction)


def _gpipe(ranks: int, rank: int, n: int, chunks: int) -> Iterable[Block]:
    return chain((_forward(rank, i) for i in range(n)), (_full(rank, i) for i in range(n)))


def _alternate(forward: list[Block], backward: list[Block], ahead: int) -> Iterator[Block]:
    """So many forward passes first, then one of each in turn, then the backward passes that are left."""
    yield from forward[:ahead]
    for i, back in enumerate(backward):
        if ahead + i < len(forward):
            yield forward[ahead + i]
        yield back


def _one_forward_one_backward(ranks: int, rank: int, n: int, chunks: int) -> Iterable[Block]:
    forward, backward = [_forward(rank, i) for i in range(n)], [_full(rank, i) for i in range(n)]
    return _alternate(forward, backward, min(n, ranks - rank - 1))


def _interleaved(ranks: int, rank: int, n: int, chunks: int) -> Iterable[Block]:
    """Micro-batches in groups of one per rank; a group goes through all chunks of a rank before the next one."""
    places = [(k // ranks % chunks, k // (ranks * chunks) * ranks + k % ranks) for k in range(n * chunks)]
    forward = [_forward(chunk * ranks + rank, i) for chunk, i in places]
    backward = [_full((chunks - 1 - chunk) * ranks + rank, i) for chunk, i in places]
    ahead = 2 * (ranks - rank - 1) + (chunks - 1) * ranks
    # with one group, or one chunk, this is plain 1F1B's warm-up
    ahead = len(forward) if n == ranks else ranks - rank - 1 if chunks == 1 else min(ahead, len(forward))
    return _alternate(forward, backward, ahead)


def _zero_bubble(ranks: int, rank: int, n: int, ahead: int, delay: int) -> Iterator[Block]:
    """So many forward passes first; weight gradients come `delay` micro-batches after their activations'."""
    yield from (_forward(rank, i) for i in range(min(n, ahead)))
    for i in range(n):
        yield _backward(rank, i)
        if i >= delay:
            yield _weights(rank, i - delay)
        if ahead + i < n:
            yield _forward(rank, ahead + i)
    yield from (_weights(rank, i) for i in range(max(0, n - delay), n))


def _zb_h1(ranks: int, rank: int, n: int, chunks: int) -> Iterable[Block]:
    return _zero_bubble(ranks, rank, n, ranks - rank, rank)


def _zb_h2(ranks: int, rank: int, n: int, chunks: int) -> Iterable[Block]:
    return _zero_bubble(ranks, rank, n, 2 * (ranks - rank) - 1, 2 * rank)


def _dualpipe(ranks: int, rank: int, n: int, chunks: int) -> Iterator[Block]:
    """The eight parts of the published order; side 0 are the micro-batches that enter at the nearer end."""
    half, place = ranks // 2, min(rank, ranks - 1 - rank)
    numbers = {(kind, side): iter(range(n // 2)) for kind in Pass for side in (0, 1)}
    waiting: list[tuple[int, int, int]] = []  # activation gradients whose weight gradients are still due

    def next_of(kind: Pass, side: int) -> tuple[int, int, int]:
        direction = side if rank < half else 1 - side
        stage = rank if direction == 0 else ranks - 1 - rank
        return stage, next(numbers[kind, side]), direction

    def forward(side: int) -> Block:
        return _forward(*next_of(Pass.FORWARD, side))

    def backward(side: int, split: bool = False) -> Block:
        at = next_of(Pass.BACKWARD, side)
        if split:
            waiting.append(at)
            return _backward(*at)
        return _full(*at)

    def weights() -> Block:
        return _weights(*waiting.pop(0))

    for _ in range(2 * (half - place - 1)):
        yield forward(0)
    for _ in range(place + 1):
        yield forward(0)
        yield forward(1)
    for _ in range(half - place - 1):
        yield backward(1, split=True)
        yield weights()
        yield forward(1)
    for i in range(n // 2 - ranks + place + 1):
        if i == 0 and place == half - 1:
            yield forward(0)
            yield backward(1)
        else:
            yield forward(0) + backward(1)
        yield forward(1) + backward(0)
    for _ in range(half - place - 1):
        yield backward(1)
        yield forward(1) + backward(0)
    split = False
    for i in range(place + 1):
        split = split or (i == (place + 1) // 2 and place % 2 == 1)
        yield backward(1, split)
        split = split or (i == (place + 1) // 2 and place % 2 == 0)
        yield backward(0, split)
    for _ in range(half - place - 1):
        yield weights()
        yield backward(0, split=True)
    for _ in range(place + 1):
        yield weights()


ORDERS = {
    "gpipe": _gpipe,
    "1f1b": _one_forward_one_backward,
    "interleaved": _interleaved,
    "zb-h1": _zb_h1,
    "zb-h2": _zb_h2,
    "dualpipe": _dualpipe,
}
