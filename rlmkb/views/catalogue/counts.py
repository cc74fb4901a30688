"""What can be counted in the frameworks: who does what, which combinations nobody does, how old the evidence is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from rlmkb.catalogue.features import FEATURES
from rlmkb.catalogue.frameworks import STATES, Framework

Frameworks = Mapping[str, Framework]
Combination = tuple[str, ...]


def who(frameworks: Frameworks, features: Iterable[str], states: Iterable[str]) -> list[str]:
    """Ids of the frameworks that have every one of some features in one of some states.

    Examples
    --------
    >>> from rlmkb.catalogue import entries
    >>> who(entries("frameworks"), ["TP", "async"], [])  # no state is allowed
    []
    """
    wanted, allowed = list(features), set(states)
    return [id for id, entry in frameworks.items() if all(entry.features[name].state in allowed for name in wanted)]


def uncovered(frameworks: Frameworks, states: Iterable[str], largest: int = 3) -> list[Combination]:
    """Combinations of features that no framework has together, none of which contains a smaller one.

    Parameters
    ----------
    frameworks : mapping
        Entries by id.
    states : iterable of str
        The states that count as having a feature.
    largest : int
        Features in a combination, at most.

    Returns
    -------
    list of tuple of str
        The smaller ones first, in the order of the features.
    """
    allowed = set(states)
    have = [{name for name, state in entry.states.items() if state in allowed} for entry in frameworks.values()]
    found: list[set[str]] = []
    for size in range(1, largest + 1):
        for combination in map(set, combinations(FEATURES, size)):
            if not any(smaller <= combination for smaller in found) and not any(combination <= one for one in have):
                found.append(combination)
    return [tuple(name for name in FEATURES if name in one) for one in found]


def together(frameworks: Frameworks, states: Iterable[str]) -> dict[tuple[str, str], int]:
    """How many frameworks have both features of a pair; of a feature and itself, how many have it."""
    allowed = tuple(states)
    return {(a, b): len(who(frameworks, (a, b), allowed)) for a in FEATURES for b in FEATURES}


@dataclass(frozen=True)
class Coverage:
    """How well a framework's cells are known.

    Attributes
    ----------
    states : mapping
        State to number of cells.
    sources : int
        Pieces of evidence, of which `second_hand` are known through somebody else's account.
    checked : str or None
        The day of the oldest check among its cells.
    release : str or None
        The day of the latest release listed.
    """

    states: Mapping[str, int]
    sources: int
    second_hand: int
    checked: str | None
    release: str | None

    @property
    def behind(self) -> bool:
        """Whether a release is newer than the oldest check."""
        return bool(self.release and self.checked and self.release > self.checked)


def coverage(framework: Framework) -> Coverage:
    """The coverage of one framework.

    Examples
    --------
    >>> from rlmkb.catalogue import entry
    >>> sum(coverage(entry("frameworks", "verl")).states.values())
    13
    """
    cells = [cell for _, cell in framework.features.items()]
    evidence = [piece for cell in cells for piece in cell.evidence]
    found = [cell.state for cell in cells]
    return Coverage(
        states={state: found.count(state) for state in STATES},
        sources=len(evidence),
        second_hand=sum(piece.secondary for piece in evidence),
        checked=min((cell.verified.on for cell in cells if cell.verified), default=None),
        release=max((release.date for release in framework.releases), default=None),
    )


def state_counts(frameworks: Iterable[Framework]) -> dict[str, int]:
    """Cells by state over several frameworks."""
    found = [state for framework in frameworks for state in framework.states.values()]
    return {state: found.count(state) for state in STATES}
