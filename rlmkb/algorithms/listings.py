"""Algorithms 1 to 4 of the paper as data: lines with number, lane, parallelism, and what each line needs.

Listing and dependency figure are drawn from here. The lines are told in our words under the paper's numbers; numbers
that only close a block or open a lane are left out. Nothing here needs JAX.

Tags. Section V says which strategy goes where; the print that we have lost the difference between usual (bold) and
possible ones. We rebuild it from the section's text: independent samples are spread by DP; TP and PP, the tools for
a model that is too large for one device, are usual on every invocation; CP (long contexts) and EP (experts) are
possible on each; SP is possible only on passes that train. `printed` holds what the paper prints, where it has tags.

Needs. A line needs the numbers of lines whose results it uses. A number that is its own or comes later means the
result of an earlier turn of a loop: then the turns follow each other, and nothing may spread them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from rlmkb.errors import InputError, nearest
from rlmkb.notation import Role, Stage
from rlmkb.theory.algorithms import Call


@dataclass(frozen=True)
class Tags:
    """Parallelism strategies of a line: those in usual use, and those that are possible."""

    usual: tuple[str, ...] = ()
    possible: tuple[str, ...] = ()

    @property
    def every(self) -> frozenset[str]:
        """Both kinds."""
        return frozenset(self.usual + self.possible)


NONE = Tags()
SAMPLES = Tags(usual=("DP",))
FROZEN = Tags(usual=("TP", "PP"), possible=("CP", "EP"))  # decoding, and forward passes that keep nothing
TRAINED = Tags(usual=("TP", "PP"), possible=("SP", "CP", "EP"))
PRINTED = ("TP", "PP", "SP", "CP", "EP")  # every model invocation of the paper carries these


@dataclass(frozen=True)
class Line:
    """One line of an algorithm.

    Parameters
    ----------
    number : int
        The paper's.
    text : str
        What it does; ``$...$`` is LaTeX.
    needs : tuple of int
        Lines whose results it uses.
    indent : int
        Depth of nesting.
    stage : Stage
    lane : Role, optional
        The model whose path it is on.
    call : Call, optional
        The invocation it is part of; a training pass has a forward and a backward line.
    tags, printed
        Parallelism as we rebuild it, and as printed.
    loop : bool
        Whether it opens a loop.
    figure : str
        Label in the dependency figure; empty if it is not drawn.
    note : str
        Where we depart from the paper.
    starts : tuple of int
        Lines whose result of an earlier turn it stands in for in the first turn.
    """

    number: int
    text: str
    needs: tuple[int, ...] = ()
    indent: int = 0
    stage: Stage = Stage.TRAINING
    lane: Role | None = None
    call: Call | None = None
    tags: Tags = NONE
    printed: tuple[str, ...] = ()
    loop: bool = False
    figure: str = ""
    note: str = ""
    starts: tuple[int, ...] = ()

    @property
    def dropped(self) -> tuple[str, ...]:
        """Printed tags that we do not keep."""
        return tuple(tag for tag in self.printed if tag not in self.tags.every)


@dataclass(frozen=True)
class Listing:
    """An algorithm as its lines."""

    id: str
    title: str
    source: str
    lines: tuple[Line, ...]
    by_number: dict[int, Line] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_number", {line.number: line for line in self.lines})

    def body(self, loop: Line) -> tuple[Line, ...]:
        """The lines inside a loop."""
        inside = []
        for line in self.lines[self.lines.index(loop) + 1 :]:
            if line.indent <= loop.indent:
                break
            inside.append(line)
        return tuple(inside)

    def is_sequential(self, loop: Line) -> bool:
        """Whether a turn of the loop needs what an earlier turn has made, and does not start it anew.

        Examples
        --------
        >>> ppo = listing("ppo")
        >>> ppo.is_sequential(ppo.by_number[40]), ppo.is_sequential(ppo.by_number[41])  # minibatches, rollouts
        (True, False)
        """
        body = self.body(loop)
        carried = {need for line in body for need in line.needs if need >= line.number}
        inside = {line.number for line in body} - {number for line in body for number in line.starts}
        return bool(carried & inside)

    def ancestors(self, number: int) -> frozenset[int]:
        """The lines of the same turn that a line waits for, directly or not."""
        found: set[int] = set()
        waiting = [number]
        while waiting:
            line = self.by_number[waiting.pop()]
            earlier = {need for need in line.needs if need < line.number} - found
            found |= earlier
            waiting += earlier
        return frozenset(found)

    def concurrent(self, one: int, other: int) -> bool:
        """Whether two lines may run at the same time: neither waits for the other.

        Examples
        --------
        >>> listing("ppo").concurrent(13, 19), listing("ppo").concurrent(13, 27)
        (True, False)
        """
        return one != other and one not in self.ancestors(other) and other not in self.ancestors(one)

    def invocations(self) -> Iterator[tuple[Role, Stage, Call]]:
        """The model invocations, each once, in order."""
        calls = ((line.lane, line.stage, line.call) for line in self.lines if line.call)
        return iter(dict.fromkeys(calls))

    def departures(self) -> tuple[Line, ...]:
        """Lines whose printed tags we do not keep."""
        return tuple(line for line in self.lines if line.dropped)


def listing(id: str) -> Listing:
    """A listing by name: ``rollout``, ``ppo``, ``grpo`` or ``dpo``.

    Raises
    ------
    InputError
        If there is no such listing.

    Examples
    --------
    >>> listing("grpo").by_number[21].text
    'Group mean $\\\\mu_b = \\\\frac{1}{K}\\\\sum_i r_b^{(i)}$'
    """
    from rlmkb.algorithms.lines import LISTINGS

    if id not in LISTINGS:
        raise InputError(f"there is no listing {id!r}; there are: {nearest(id, LISTINGS)}")
    return LISTINGS[id]
