"""What a strategy costs a rank in each stage: a decode step, a forward pass, a training step. Beyond the paper.

Tables V to VIII are about a training step. A model that is only applied keeps one number per weight instead of four,
does a third of the work and sends nothing backward; the partition of each term is the same.
"""

from dataclasses import dataclass

import sympy

from rlmkb.notation import Stage
from rlmkb.theory.formula import Term, Terms
from rlmkb.theory.partition import STATE, B, L, Part, Strategy, d, m
from rlmkb.theory.traffic import Collective, Message, messages
from rlmkb.theory.transforms import STATES

#: Work of a training step over that of its forward pass.
PASSES = 3


@dataclass(frozen=True)
class StageUse:
    """What one rank does, holds and sends in a stage.

    Parameters
    ----------
    stage : Stage
        Generation stands for one decode step: one more token for each of B sequences with m in the cache.
    work : Terms
        FLOPs, named as the parts of a training step.
    memory : Terms
        Elements: states of the weights, and the activations, cache or buffer of B sequences of m tokens.
    messages : tuple of Message
        What it sends.
    """

    stage: Stage
    work: Terms
    memory: Terms
    messages: tuple[Message, ...]

    @property
    def sent(self) -> sympy.Expr:
        """Elements that the rank sends.

        Examples
        --------
        >>> from rlmkb.theory.partition import STRATEGIES
        >>> in_stage(STRATEGIES["tensor"], Stage.ASSESSMENT).sent  # two all-reduces a layer, 2 (P - 1)/P each
        4*B*L*d*m*(P_t - 1)/P_t
        """
        return sympy.Add(*(message.volume for message in self.messages))


def in_stage(strategy: Strategy, stage: Stage) -> StageUse:
    """A strategy in a stage.

    Parameters
    ----------
    strategy : Strategy
        The partition.
    stage : Stage
        Which use of the model: generation and assessment apply it, training changes it.

    Returns
    -------
    StageUse
        As in tables V to VIII the head's work is left out.

    Examples
    --------
    A forward pass of the whole sequences is a third of the training step; a decode step does one of m tokens, with
    a complete row of scores.

    >>> from rlmkb.theory.partition import STRATEGIES
    >>> alone = STRATEGIES["none"]
    >>> [in_stage(alone, stage).work[Part.ATTENTION] for stage in Stage]
    [4*B*L*d*m, 2*B*L*d*m**2, 6*B*L*d*m**2]
    >>> [in_stage(alone, stage).memory[Part.VOCABULARY_STATE] for stage in Stage]
    [V*d, V*d, 4*V*d]
    """
    make = {Stage.GENERATION: _decode_step, Stage.ASSESSMENT: _forward, Stage.TRAINING: _training}[stage]
    return make(strategy)


def _training(strategy: Strategy) -> StageUse:
    return StageUse(Stage.TRAINING, strategy.rank_work, strategy.rank_memory, messages(strategy))


def _forward(strategy: Strategy) -> StageUse:
    work = strategy.rank_work.scaled(sympy.Rational(1, PASSES))
    # one hidden state per token, whichever layer it is in
    buffer = B * m * L * d / strategy.divisor(Part.ACTIVATIONS) / strategy.rank_layers
    return StageUse(Stage.ASSESSMENT, work, _applied(strategy, "buffer", buffer), messages(strategy, backward=False))


def _decode_step(strategy: Strategy) -> StageUse:
    one_token = strategy.rank_work.scaled(1 / (PASSES * m))
    work = Terms(tuple(
        Term(term.name, 2 * term.expr if term.name == Part.ATTENTION else term.expr) for term in one_token
    ))  # fmt: skip
    cache = 2 * B * m * L * d / strategy.divisor(Part.ACTIVATIONS)
    sends = tuple(
        _merged(message) if message.axis == "context" else _of_one_token(message)
        for message in messages(strategy, backward=False)
    )
    return StageUse(Stage.GENERATION, work, _applied(strategy, "cache", cache), sends)


def _applied(strategy: Strategy, kept: str, elements: sympy.Expr) -> Terms:
    """One number per weight, and what the tokens leave."""
    weights = (term for term in strategy.rank_memory if Part(term.name) in STATE)
    return Terms((*(Term(term.name, term.expr / STATES) for term in weights), Term(kept, elements)))


def _of_one_token(message: Message) -> Message:
    return Message(
        message.axis, message.phase, message.kind, message.what, message.count, message.elements / m, message.ranks,
        message.critical,
    )  # fmt: skip


def _merged(message: Message) -> Message:
    """A new token's query goes to where the cache is: what comes back is added up, keys and values stay."""
    return Message(
        message.axis, message.phase, Collective.ALL_REDUCE, "attention of the new tokens over each piece", L, B * d,
        message.ranks,
    )  # fmt: skip
