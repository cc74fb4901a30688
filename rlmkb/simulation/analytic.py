"""The period of a graph over arrays of node times: the law that the event loop settles on, for sweeps."""

from collections.abc import Mapping

import numpy as np
import sympy

from rlmkb.errors import InputError
from rlmkb.simulation.services import check_nodes
from rlmkb.theory.graph import IterationGraph


def period(
    graph: IterationGraph, seconds: Mapping[str, float | np.ndarray], **symbols: float | np.ndarray
) -> np.ndarray:
    """Time between iterations in the long run, for arrays of the nodes' times.

    Parameters
    ----------
    graph : IterationGraph
        Algorithm, placement and schedule; its staleness may be a symbol.
    seconds : mapping
        From node id to the node's time; arrays broadcast against each other.
    **symbols : float or array
        Values of the schedule's symbols, for example ``eta``.

    Examples
    --------
    Generation of 6 s, an update of 4 s: in a row, and side by side at staleness 1 or 2.

    >>> from rlmkb.notation import Role, symbol
    >>> from rlmkb.theory.algorithms import GRPO
    >>> from rlmkb.theory.graph import Schedule, split_by_stage
    >>> algorithm = GRPO.without(Role.REFERENCE).with_verifier()
    >>> graph = IterationGraph(algorithm, split_by_stage(algorithm), Schedule(frozenset(), staleness=symbol("eta")))
    >>> seconds = {"policy/generation": 6.0, "verifier/assessment": 0.0, "policy/training": 4.0}
    >>> period(graph, seconds, eta=np.array([0, 1, 2])).tolist()
    [10.0, 6.0, 6.0]
    """
    check_nodes(graph, seconds)
    needed = {symbol.name: symbol for symbol in graph.schedule.staleness.free_symbols}
    if set(needed) != set(symbols):
        raise InputError(f"values are given for {sorted(symbols)}, but the schedule's symbols are {sorted(needed)}")
    times = {node.id: sympy.Symbol(f"t_{i}", positive=True) for i, node in enumerate(graph.nodes)}
    expr = graph.period(lambda node: times[node.id])
    values = [np.asarray(value, dtype=float) for value in (*(seconds[name] for name in times),
                                                           *(symbols[name] for name in needed))]  # fmt: skip
    found = sympy.lambdify([*times.values(), *needed.values()], expr, modules=["scipy", "numpy"])(*values)
    return np.broadcast_to(found, np.broadcast_shapes(*(value.shape for value in values)))
