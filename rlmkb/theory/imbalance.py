"""Unequal expert loads: the busiest rank's share of the routed work over the mean share. Beyond the paper.

The paper assumes balanced routing. Here tokens choose E_a of E experts at random, experts lie on P_e ranks in equal
and consecutive groups, and a step waits for the rank with most choices. Three causes are kept apart:

- few tokens: even a fair router is uneven by chance, less so the more tokens there are;
- a skewed router: some experts are chosen more often, however many tokens there are;
- groups: rollouts of one prompt resemble each other and choose alike, so many tokens count as few.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import sympy

from rlmkb.errors import InputError
from rlmkb.notation import symbol
from rlmkb.theory.formula import Term, Terms
from rlmkb.theory.partition import Part, Strategy

if TYPE_CHECKING:
    import numpy as np

E, E_a, P_e = symbol("E"), symbol("E_a"), symbol("P_e")
#: Tokens that are routed together; tokens of one group, all that a prompt's rollouts contribute.
n, g = sympy.symbols("n g", positive=True)
#: How alike the choices of one group are: 0 if independent, 1 if equal.
rho = sympy.Symbol("rho_g", nonnegative=True)
LATEX = {n: "n", g: "g", rho: r"\rho_g"}

#: By how much groups inflate the variance of a load.
DESIGN_EFFECT = 1 + (g - 1) * rho

#: Independent tokens with the same variance: no more than 1/rho for each group, however long its rollouts.
EFFECTIVE_TOKENS = n / DESIGN_EFFECT

#: Mean and variance of one rank's load (choices that fall on its experts) under a fair router.
MEAN = n * E_a / P_e
VARIANCE = n * E_a * (P_e - 1) / P_e**2 * (E - E_a) / (E - 1) * DESIGN_EFFECT

#: The busiest rank over the mean is at most this, whoever routes: all tokens choose the experts of one rank.
CEILING = sympy.Min(P_e, E / E_a)

#: Its expectation under a fair router is at most this: Bernstein's bound for the maximum of P_e loads, each a
#: sum over independent groups that contribute between 0 and g min(E_a, E/P_e).
BOUND = 1 + (
    sympy.sqrt(2 * VARIANCE * sympy.log(P_e)) + g * sympy.Min(E_a, E / P_e) * sympy.log(P_e) / 3
) / MEAN

#: Ranks that one token's choices reach under a fair router: what it is sent to if copies for one rank travel once.
RANKS_REACHED = P_e * (1 - sympy.binomial(E - E / P_e, E_a) / sympy.binomial(E, E_a))


def expected_bound(*, tokens: int, experts: int, active: int, ranks: int, group: int = 1, alike: float = 0.0) -> float:
    """Upper bound on the expected load of the busiest rank over the mean, for a fair router.

    Parameters
    ----------
    tokens : int
        Tokens that are routed together, at least 1.
    experts, active, ranks : int
        E, E_a and P_e; ranks divide experts.
    group : int
        Tokens of one group: the rollouts of a prompt that are in the batch.
    alike : float
        Correlation of the choices within a group, 0 to 1.

    Returns
    -------
    float
        At least 1, at most `CEILING`.

    Examples
    --------
    A thousand tokens are not enough for a fair router to be fair; a hundred thousand are.

    >>> small, large = (expected_bound(tokens=n, experts=64, active=8, ranks=8) for n in (1_000, 100_000))
    >>> round(small, 3), round(large, 3)
    (1.062, 1.006)
    """
    _refuse(experts, active, ranks)
    at = {n: tokens, g: group, rho: alike, E: experts, E_a: active, P_e: ranks}
    if experts == 1:
        return 1.0
    return float(min(BOUND.subs(at), CEILING.subs(at)))


def zipf(experts: int, skew: float) -> "np.ndarray":
    """Router probabilities that fall as 1/i^skew, the most frequent expert first; 0 is a fair router.

    Examples
    --------
    >>> zipf(2, 1.0).round(3).tolist()
    [0.667, 0.333]
    """
    import numpy as np

    weight = np.arange(1, experts + 1, dtype=float) ** -skew
    return weight / weight.sum()


def dirichlet(experts: int, concentration: float, seed: int) -> "np.ndarray":
    """Random router probabilities, the more unequal the smaller the concentration; 1/experts each on average.

    Examples
    --------
    >>> float(dirichlet(8, 1.0, seed=0).sum().round(12))
    1.0
    """
    import numpy as np

    return np.random.default_rng(seed).dirichlet(np.full(experts, concentration / experts))


def dealt(probabilities: "np.ndarray", ranks: int) -> "np.ndarray":
    """The same probabilities in a fairer order of experts: dealt to the ranks by size, to and fro.

    Examples
    --------
    >>> dealt(zipf(4, 1.0), ranks=2).round(2).tolist()  # largest with smallest
    [0.48, 0.12, 0.24, 0.16]
    """
    import numpy as np

    _refuse(len(probabilities), 1, ranks)
    rounds = np.sort(probabilities)[::-1].reshape(-1, ranks)
    rounds[1::2] = rounds[1::2, ::-1]
    return rounds.T.ravel()


def limit(probabilities: "np.ndarray", ranks: int) -> float:
    """Busiest rank over the mean with unboundedly many independent tokens that choose one expert each.

    Parameters
    ----------
    probabilities : array
        Router probabilities of the experts, in the order in which they lie on the ranks.
    ranks : int
        A divisor of the number of experts.

    Examples
    --------
    >>> limit(zipf(4, 1.0), ranks=2)  # (1 + 1/2) / (25/12), times 2
    1.44
    """
    _refuse(len(probabilities), 1, ranks)
    return float((ranks * _shares(probabilities, ranks).max()).round(12))


def _shares(probabilities: "np.ndarray", ranks: int) -> "np.ndarray":
    return probabilities.reshape(ranks, -1).sum(axis=1)


def sample(
    probabilities: "np.ndarray", *, tokens: int, active: int, ranks: int, seed: int, draws: int = 100,
    group: int = 1, alike: float = 0.0,
) -> "np.ndarray":  # fmt: skip
    """The busiest rank over the mean in simulated batches.

    A token's experts are all different; they follow the router's probabilities one after the other. With groups,
    each has probabilities of its own, drawn from a Dirichlet distribution around the router's: two tokens of a group
    then choose alike with correlation `alike`.

    Parameters
    ----------
    probabilities : array [E]
        Of the router, in the order in which experts lie on the ranks.
    tokens, active, ranks : int
        n, E_a, P_e.
    seed : int
        Of the random numbers.
    draws : int
        Batches.
    group : int
        Tokens of one group; it divides `tokens`.
    alike : float
        0 to below 1.

    Returns
    -------
    array [draws]
        Each at least 1.

    Examples
    --------
    >>> fair = zipf(64, 0.0)
    >>> alone = sample(fair, tokens=1024, active=8, ranks=8, seed=0).mean()
    >>> together = sample(fair, tokens=1024, active=8, ranks=8, seed=0, group=128, alike=0.2).mean()
    >>> round(float(alone), 2), bool(together > alone)
    (1.04, True)
    """
    import numpy as np

    experts = len(probabilities)
    _refuse(experts, active, ranks)
    if tokens % group:
        raise InputError(f"group is {group} but tokens is {tokens}; groups must be equally large")
    if not 0 <= alike < 1:
        raise InputError(f"alike is {alike}; give a correlation of at least 0 and below 1")
    random = np.random.default_rng(seed)
    loads = np.stack([
        _loads(random, preferences, group if alike else tokens, active, ranks)
        for preferences in _preferences(random, np.asarray(probabilities, float), tokens // group, alike, draws)
    ])  # fmt: skip
    return loads.max(axis=1) * ranks / (tokens * active)


def _preferences(random, probabilities, groups: int, alike: float, draws: int) -> Iterator["np.ndarray"]:
    """For each batch the probabilities of every group [groups, E]; of one group for all if tokens are independent."""
    import numpy as np

    for _ in range(draws):
        if not alike:
            yield probabilities[None]
        else:  # choices of a Dirichlet-multinomial with total weight a are correlated by 1/(1 + a)
            yield random.dirichlet(np.maximum(probabilities * (1 / alike - 1), 1e-9), size=groups)


def _loads(random, preferences: "np.ndarray", each: int, active: int, ranks: int) -> "np.ndarray":
    """Choices on each rank of one batch, of `each` tokens for every row of preferences."""
    import numpy as np

    experts = preferences.shape[1]
    if active == 1:
        return _shares(random.multinomial(each, preferences).sum(axis=0), ranks)
    # the largest of log p + Gumbel noise are a choice without repetition
    keys = random.gumbel(size=(len(preferences), each, experts))
    keys += np.log(np.maximum(preferences, 1e-300))[:, None]
    chosen = np.argpartition(keys, -active, axis=-1)[..., -active:]
    return np.bincount((chosen // (experts // ranks)).ravel(), minlength=ranks)


def ranks_reached(experts: int, active: int, ranks: int) -> float:
    """Ranks that one token's experts lie on, on average under a fair router.

    Its share of `active` is what a dispatch saves that sends one copy per rank instead of one per expert.

    Examples
    --------
    >>> round(ranks_reached(experts=256, active=8, ranks=32), 2)  # of 8 choices
    7.27
    """
    _refuse(experts, active, ranks)
    return float(RANKS_REACHED.subs({E: experts, E_a: active, P_e: ranks}))


def busiest_rank_work(strategy: Strategy, imbalance: sympy.Expr | float) -> Terms:
    """FLOPs of the rank with most routed work: its experts' term times the imbalance, the rest unchanged.

    Examples
    --------
    >>> from rlmkb.theory.partition import STRATEGIES
    >>> work = busiest_rank_work(STRATEGIES["expert"], 2)
    >>> work[Part.EXPERTS] / STRATEGIES["expert"].rank_work[Part.EXPERTS]
    2
    """
    return Terms(tuple(
        Term(term.name, term.expr * (imbalance if Part(term.name) is Part.EXPERTS else 1))
        for term in strategy.rank_work
    ))  # fmt: skip


def _refuse(experts: int, active: int, ranks: int) -> None:
    if not 1 <= active <= experts:
        raise InputError(f"active is {active} but there are {experts} experts; choose 1 to {experts} of them")
    if ranks < 1 or experts % ranks:
        raise InputError(f"ranks is {ranks} but there are {experts} experts; every rank holds equally many")
