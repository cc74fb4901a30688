"""Depths as sets of chains: a critical path is the largest of some sums.

Kept as chains (max-plus form), two depths are equal when their sets are, and a chain contained in another can go.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from math import prod

import sympy

from rlmkb.theory.functions import Maximum


@dataclass(frozen=True)
class Chains:
    """The largest of several sums of non-negative durations.

    Each chain maps a duration to how often it occurs; `chains` holds them as sorted tuples, so that equal sets are
    equal objects.

    Examples
    --------
    >>> a, b, c = (Chains.of(symbol) for symbol in sympy.symbols("a b c", positive=True))
    >>> (a + (b | c)).expr
    a + max(b, c)
    >>> (a | (a + b)).expr  # a alone is part of a + b
    a + b
    """

    chains: frozenset[tuple[tuple[sympy.Expr, int], ...]]

    @staticmethod
    def of(duration: sympy.Expr) -> "Chains":
        """One chain of one duration; none of zero."""
        return Chains(frozenset({() if duration == 0 else ((duration, 1),)}))

    def __add__(self, other: "Chains") -> "Chains":
        return _pruned(Counter(dict(one)) + Counter(dict(two)) for one in self.chains for two in other.chains)

    def __or__(self, other: "Chains") -> "Chains":
        return _pruned(Counter(dict(chain)) for chain in self.chains | other.chains)

    @property
    def expr(self) -> sympy.Expr:
        """The largest sum; what all chains share before it, independent choices as sums of their largest.

        Examples
        --------
        >>> a, b, c, d = (Chains.of(symbol) for symbol in sympy.symbols("a b c d", positive=True))
        >>> ((a | b) + (c | d)).expr
        max(a, b) + max(c, d)
        """
        counters = [Counter(dict(chain)) for chain in self.chains]
        shared = reduce(lambda one, two: one & two, counters)
        choices = _independent([counter - shared for counter in counters])
        return _total(shared) + sympy.Add(*(_largest(options) for options in choices))


def _largest(options: list[Counter]) -> sympy.Expr:
    sums = sorted(map(_total, options), key=sympy.default_sort_key)
    return Maximum(*sums) if len(sums) > 1 else sums[0]


def _independent(chains: list[Counter]) -> list[list[Counter]]:
    """The chains as one choice from each of several sets, where they are all such combinations; else one set."""
    durations = {duration for chain in chains for duration in chain}
    together = {frozenset((one, two)) for chain in chains for one in chain for two in chain}
    sets: list[set] = []
    for duration in durations:  # two durations that never occur together are alternatives
        rivals = [other for other in sets if any(frozenset((duration, each)) not in together for each in other)]
        sets = [other for other in sets if other not in rivals] + [{duration}.union(*rivals)]
    projected = [{tuple((each, chain[each]) for each in sorted(own, key=sympy.default_sort_key) if each in chain)
                  for chain in chains} for own in sets]  # fmt: skip
    if prod(map(len, projected)) != len(chains):
        return [chains]
    return [[Counter(dict(option)) for option in options] for options in projected]


ZERO = Chains.of(sympy.S.Zero)


def _total(counter: Counter) -> sympy.Expr:
    return sympy.Add(*(count * duration for duration, count in counter.items()))


def _pruned(counters: Iterable[Counter]) -> Chains:
    """Without the chains that another one contains."""
    unique = {tuple(sorted(counter.items(), key=lambda item: sympy.default_sort_key(item[0]))) for counter in counters}
    kept = {one for one in unique if not any(one != two and Counter(dict(one)) <= Counter(dict(two)) for two in unique)}
    return Chains(frozenset(kept))


def longest(parts: Iterable[Chains]) -> Chains:
    """The largest of several depths; zero of none.

    Examples
    --------
    >>> longest([]).expr
    0
    """
    return reduce(lambda one, two: one | two, parts, ZERO)
