"""What ran where and when, as rows for a chart."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from rlmkb.errors import InputError
from rlmkb.notation import Stage
from rlmkb.simulation.result import Simulation

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("group", "node", "role", "stage", "iteration", "start", "end", "load")


def gantt(result: Simulation, *, iterations: int = 4, slices: int = 16, joined: float = 0.01) -> "pd.DataFrame":
    """Bars of a Gantt chart of the first iterations.

    Parameters
    ----------
    result : Simulation
        What ran.
    iterations : int
        How many iterations to show, at least 1.
    slices : int
        Bars that generation of an iteration is cut into, so that its tail shows.
    joined : float
        Passes of an iteration with a gap of less than this share of the time shown become one bar.

    Returns
    -------
    pandas.DataFrame
        One row a bar: ``group``, ``node``, ``role``, ``stage``, ``iteration`` (from 1), ``start``, ``end``, and
        ``load``: the sequences that decode in it, over the most that do in a bar of the iteration (of all, where
        iterations overlap); of passes, the share of the bar in which one runs.

    Examples
    --------
    >>> import numpy as np
    >>> from rlmkb.notation import Role
    >>> from rlmkb.simulation import constant_times, simulate
    >>> from rlmkb.theory.algorithms import GRPO
    >>> from rlmkb.theory.graph import IterationGraph, co_located
    >>> graph = IterationGraph(GRPO, co_located(GRPO))
    >>> services = constant_times(graph, {node.id: 2.0 for node in graph.nodes}, rollouts=1, tokens=10)
    >>> bars = gantt(simulate(graph, services, np.full((2, 1), 10)), iterations=1, slices=1)
    >>> bars[["stage", "start", "end"]].values.tolist()
    [['generation', 0.0, 2.0], ['assessment', 2.0, 4.0], ['assessment', 4.0, 6.0], ['training', 6.0, 8.0]]
    """
    import pandas as pd

    if iterations < 1 or slices < 1:
        raise InputError(f"iterations is {iterations} and slices is {slices}; give at least 1 of each")
    last = min(iterations, len(result.updates)) - 1
    rows = []
    for node in result.graph.nodes:
        parts = result.segments[node.id]
        parts = parts[parts[:, 0] <= last]
        decodes = node.stage is Stage.GENERATION
        bars = _slices(result, parts, slices) if decodes else _join(parts, joined * float(result.updates[last]))
        rows += [(node.group, node.id, node.role.value, node.stage.value, int(k) + 1, start, end, load)
                 for k, start, end, load in bars]  # fmt: skip
    return pd.DataFrame(rows, columns=list(COLUMNS))


def compare(results: Mapping[object, Simulation], name: str, **options: float) -> "pd.DataFrame":
    """Bars of several simulations, with what tells them apart in a column, for a chart with a control.

    Parameters
    ----------
    results : mapping
        From the value of the control, for example a staleness, to the simulation.
    name : str
        The column of that value.
    **options
        Of `gantt`.
    """
    import pandas as pd

    if not results:
        raise InputError("there is nothing to compare; give at least one simulation")
    frames = [gantt(result, **options).assign(**{name: value}) for value, result in results.items()]
    return pd.concat(frames, ignore_index=True)


def _slices(result: Simulation, parts: np.ndarray, count: int) -> list[tuple[float, float, float, float]]:
    """Generation in slices of equal length, with the share of the sequences that decode.

    Slices are of an iteration where iterations follow each other, else of time; a slice of time is said to be of the
    iteration that most of its sequences belong to.
    """
    starts, ends = parts[:, 1], parts[:, 2]
    if (starts[1:] < ends[:-1]).any():
        edges = np.linspace(starts.min(), ends.max(), count * len(parts) + 1)
        every = np.array([_decoding(result, iteration, edges) for iteration in range(len(result.updates))])
        total, most = every.sum(axis=0), every.argmax(axis=0)
        loads = total / total.max()
        return [
            (float(most[i]), float(edges[i]), float(edges[i + 1]), float(load)) for i, load in enumerate(loads) if load
        ]
    rows = []
    for iteration, start, end in parts.tolist():
        edges = np.linspace(start, end, count + 1)
        load = _decoding(result, iteration, edges)
        rows += [(iteration, float(edges[i]), float(edges[i + 1]), float(load[i] / load.max())) for i in range(count)]
    return rows


def _decoding(result: Simulation, iteration: float, edges: np.ndarray) -> np.ndarray:
    """Average number of an iteration's sequences that decode between the edges."""
    mine = result.batch == iteration
    begun, ended = result.started[mine, None], result.generated[mine, None]
    inside = np.minimum(ended, edges[1:]) - np.maximum(begun, edges[:-1])
    return np.clip(inside, 0, None).sum(axis=0) / np.diff(edges)


def _join(parts: np.ndarray, gap: float) -> list[tuple[float, float, float, float]]:
    """Passes of an iteration that follow each other closely, as one bar."""
    rows: list[tuple[float, float, float, float]] = []
    for iteration in np.unique(parts[:, 0]):
        mine = parts[parts[:, 0] == iteration]
        mine = mine[np.argsort(mine[:, 1], kind="stable")]
        new = np.append(True, mine[1:, 1] - mine[:-1, 2] > gap)
        firsts = np.flatnonzero(new)
        busy = np.add.reduceat(mine[:, 2] - mine[:, 1], firsts)
        lasts = np.append(firsts[1:], len(mine)) - 1
        for first, last, seconds in zip(firsts, lasts, busy, strict=True):
            start, end = mine[first, 1], mine[last, 2]
            if end > start:
                rows.append((float(iteration), float(start), float(end), float(min(seconds / (end - start), 1.0))))
    return rows
