"""Which model runs when: every invocation goes through `invoke`, and `recorded` lists them.

The record is held against the lists of `rlmkb.theory.algorithms`: the same models, stages and calls over as many
sequences, and the work of their traced graphs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple

import jax
import sympy

from rlmkb.notation import Role, Stage, symbol
from rlmkb.theory.algorithms import Algorithm, Call
from rlmkb.theory.evaluate import evaluate
from rlmkb.verification import comparison, trace


class Invoked(NamedTuple):
    """What is run: a model, in a stage, in a way."""

    role: Role
    stage: Stage
    call: Call


@dataclass(frozen=True)
class Run:
    """One invocation that took place: what, over how many sequences, and the program with its arguments' shapes."""

    invoked: Invoked
    sequences: int
    function: Callable
    arguments: tuple

    def count(self) -> trace.Count:
        """Work and depth of the traced program."""
        return trace.count(self.function, *self.arguments)


_recording: ContextVar[list[Run] | None] = ContextVar("recording", default=None)


def invoke(invoked: Invoked, function: Callable, *arguments):
    """Run a model, and note it if someone records.

    Parameters
    ----------
    invoked : Invoked
        Who runs, when, and how.
    function : callable
        What runs; a jitted function, with what is not an array bound to it.
    *arguments
        Arrays, in any nesting; the last one has a row for each sequence.

    Returns
    -------
    The result of `function`.

    Examples
    --------
    >>> with recorded() as runs:
    ...     scores = invoke(Invoked(Role.REWARD, Stage.ASSESSMENT, Call.FORWARD), jax.numpy.sum, jax.numpy.ones((3, 7)))
    >>> [(run.invoked.role.value, run.sequences) for run in runs]
    [('reward', 3)]
    """
    if (runs := _recording.get()) is not None:
        shapes = jax.tree.map(lambda array: jax.ShapeDtypeStruct(array.shape, array.dtype), arguments)
        runs.append(Run(invoked, len(jax.tree.leaves(arguments[-1])[0]), function, shapes))
    return function(*arguments)


@contextmanager
def recorded() -> Iterator[list[Run]]:
    """Collect the invocations that take place inside the `with` block."""
    runs: list[Run] = []
    token = _recording.set(runs)
    try:
        yield runs
    finally:
        _recording.reset(token)


def rehearsed(function: Callable, *arguments) -> list[Run]:
    """The invocations that a function would make on arguments of these shapes; nothing is computed.

    Parameters
    ----------
    function : callable
        One iteration, as a function of arrays.
    *arguments
        Arrays, or `jax.ShapeDtypeStruct`, in any nesting.
    """
    with recorded() as runs:
        jax.eval_shape(lambda *inner: function(*inner) and None, *arguments)
    return runs


def sequences_run(runs: Iterable[Run]) -> dict[Invoked, int]:
    """Sequences per invocation, minibatches and epochs added up."""
    total = Counter()
    for run in runs:
        total[run.invoked] += run.sequences
    return dict(total)


def work_run(runs: Iterable[Run]) -> dict[Invoked, int]:
    """FLOP of matrix products per invocation, from the traced graphs."""
    total, known = Counter(), {}
    for run in runs:
        key = (run.function.func if hasattr(run.function, "func") else run.function, run.invoked, run.sequences)
        if key not in known:  # minibatches of one size have one graph
            known[key] = run.count().work
        total[run.invoked] += known[key]
    return dict(total)


def sequences_by_theory(algorithm: Algorithm, **at: int) -> dict[Invoked, int]:
    """Sequences per invocation as the algorithm's list says.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import GRPO
    >>> list(sequences_by_theory(GRPO.with_epochs(3), B=2, K=4).values())
    [8, 8, 8, 24]
    """
    return {
        Invoked(one.role, one.stage, one.call): int(evaluate(one.sequences * one.repeats, at))
        for one in algorithm.invocations
    }


def work_by_theory(algorithm: Algorithm, **at: int) -> dict[Invoked, int]:
    """FLOP per invocation by the theory's formulas, attention dense, as `rlmkb.verification` compares programs.

    Where an earlier invocation has kept the activations of a training pass, that pass is the backward half alone:
    then DPO's policy runs forward once, as the paper's own W_DPO counts (table IV prints it twice).
    """
    kept = {one.role for one in algorithm.invocations if one.keeps_activations}
    forward = comparison.dense_forward
    formulas: dict[Call, Callable[[Role], sympy.Expr]] = {
        Call.GENERATE: comparison.dense_generation,
        Call.FORWARD: forward,
        Call.TRAIN: lambda role: (2 if role in kept else 3) * forward(role),
        Call.VERIFY: lambda role: sympy.Integer(0),
    }
    found = {}
    for one in algorithm.invocations:
        of_batch = formulas[one.call](one.role).subs(symbol("B"), one.sequences)
        found[Invoked(one.role, one.stage, one.call)] = int(evaluate(of_batch * one.repeats, at))
    return found
