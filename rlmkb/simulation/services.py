"""How long the devices of a group take: decoding steps, forward and training passes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from rlmkb.errors import InputError, nearest
from rlmkb.theory.algorithms import Call
from rlmkb.theory.graph import IterationGraph

TRAINING_PASSES = 3  # a backward pass has twice the products of a forward pass


def step_time(fixed: float, per_sequence: float = 0.0) -> Callable[[np.ndarray], np.ndarray]:
    """Seconds of a decoding step against the sequences decoded together: max(fixed, per_sequence * sequences).

    Parameters
    ----------
    fixed : float
        Seconds of a step with few sequences, in which the weights are read once.
    per_sequence : float
        Seconds that each sequence adds once arithmetic, or reading the cache, takes longer than the weights.

    Examples
    --------
    >>> step_time(0.02, 0.0001)(np.array([1, 200, 400])).tolist()
    [0.02, 0.02, 0.04]
    """
    for name, value in (("fixed", fixed), ("per_sequence", per_sequence)):
        if not value >= 0:
            raise InputError(f"{name} is {value}; give the seconds of a decoding step, 0 or more")
    return lambda sequences: np.maximum(fixed, per_sequence * np.asarray(sequences))


@dataclass(frozen=True)
class Decoding:
    """Generation on a group: all sequences advance by one token a step.

    Parameters
    ----------
    step : callable
        Seconds of a step for an array of numbers of sequences decoded together, for example `step_time`.
    max_sequences : int, optional
        Sequences decoded together at most; default: as many as an iteration has.
    max_tokens : int, optional
        Tokens that the cache holds at most; a sequence takes its prompt and its whole response from the start.
    waves : bool
        A new sequence starts only when all that run have ended; else as soon as one makes room.
    prefill_per_token : float
        Seconds to fill the cache with a token of a prompt, or, after an interruption, of an unfinished response;
        decoding waits meanwhile.
    refit : float
        Seconds to load new weights.
    """

    step: Callable[[np.ndarray], np.ndarray]
    max_sequences: int | None = None
    max_tokens: int | None = None
    waves: bool = False
    prefill_per_token: float = 0.0
    refit: float = 0.0

    def __post_init__(self) -> None:
        for name in ("max_sequences", "max_tokens"):
            value = getattr(self, name)
            if not (value is None or value >= 1):
                raise InputError(f"{name} is {value}; give at least 1, or leave it out")
        _seconds(self, "prefill_per_token", "refit")


@dataclass(frozen=True)
class Passes:
    """Forward or training passes on a group, a micro-batch at a time.

    Parameters
    ----------
    per_sample, per_token : float
        Seconds for each sample, and for each token of its prompt and response.
    overhead : float
        Seconds for each micro-batch.
    batch : int, optional
        Samples in a micro-batch, the granularity of fusion: as many must have come from the stage before. The last
        one of an iteration may be smaller. Default: all of an iteration.
    bubble : float
        Share of a pass, between 0 and 1, in which the group's devices wait for each other; passes of another model
        fill it where the schedule interleaves the stage.

    Examples
    --------
    >>> Passes(per_sample=0.5, overhead=0.1).seconds(samples=4, tokens=900)
    2.1
    """

    per_sample: float = 0.0
    per_token: float = 0.0
    overhead: float = 0.0
    batch: int | None = None
    bubble: float = 0.0

    def __post_init__(self) -> None:
        _seconds(self, "per_sample", "per_token", "overhead")
        if not (self.batch is None or self.batch >= 1):
            raise InputError(f"batch is {self.batch}; give the samples of a micro-batch, at least 1, or leave it out")
        if not 0 <= self.bubble <= 1:
            raise InputError(f"bubble is {self.bubble}; give a share of a pass between 0 and 1")

    def seconds(self, samples: int, tokens: int) -> float:
        """Time of one micro-batch."""
        return self.overhead + self.per_sample * samples + self.per_token * tokens


Service = Decoding | Passes


def constant_times(
    graph: IterationGraph, seconds: Mapping[str, float], *, rollouts: int, tokens: int
) -> dict[str, Service]:
    """Services that take a given time for each node and iteration, for example its depth.

    Generation of a response of `tokens` takes its node's time, of a shorter one its share; all are decoded together.
    Other nodes take theirs for a whole iteration, and a share of it for a micro-batch.

    Parameters
    ----------
    graph : IterationGraph
        Whose nodes get services.
    seconds : mapping
        From node id to time.
    rollouts : int
        Samples of an iteration.
    tokens : int
        Length of the longest response.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import GRPO
    >>> from rlmkb.theory.graph import co_located
    >>> graph = IterationGraph(GRPO, co_located(GRPO))
    >>> services = constant_times(graph, {node.id: 6.0 for node in graph.nodes}, rollouts=3, tokens=100)
    >>> services["reward/assessment"].per_sample
    2.0
    """
    check_nodes(graph, seconds)
    return {
        node.id: Decoding(step_time(seconds[node.id] / tokens)) if node.call.call is Call.GENERATE
        else Passes(per_sample=seconds[node.id] / rollouts)
        for node in graph.nodes
    }  # fmt: skip


def by_tokens(graph: IterationGraph, generation: Decoding, forward: float) -> dict[str, Service]:
    """Services from one rate: a training pass takes as long as three forward passes, a verifier no time.

    Parameters
    ----------
    graph : IterationGraph
        Whose nodes get services.
    generation : Decoding
        Of the node that generates.
    forward : float
        Seconds of a forward pass for each token.

    Examples
    --------
    >>> from rlmkb.theory.algorithms import GRPO
    >>> from rlmkb.theory.graph import co_located
    >>> found = by_tokens(IterationGraph(GRPO, co_located(GRPO)), Decoding(step_time(0.01)), 0.002)
    >>> found["reward/assessment"].per_token, found["policy/training"].per_token
    (0.002, 0.006)
    """
    passes = {Call.FORWARD: 1, Call.TRAIN: TRAINING_PASSES, Call.VERIFY: 0}
    return {node.id: generation if node.call.call is Call.GENERATE
            else Passes(per_token=passes[node.call.call] * forward) for node in graph.nodes}  # fmt: skip


def check_nodes(graph: IterationGraph, given: Mapping[str, object]) -> None:
    """Raise unless exactly the nodes of a graph are named."""
    names = [node.id for node in graph.nodes]
    missing = [name for name in names if name not in given]
    unknown = [name for name in given if name not in names]
    if missing:
        raise InputError(f"no time is given for {', '.join(missing)}; name every node of the graph")
    if unknown:
        raise InputError(f"{unknown[0]!r} is no node of the graph; nodes, nearest first: {nearest(unknown[0], names)}")


def _seconds(owner: object, *names: str) -> None:
    for name in names:
        value = getattr(owner, name)
        if not value >= 0:
            raise InputError(f"{name} is {value}; give seconds, 0 or more")
