"""Algorithms and their variants: what each edits in the invocation list of the algorithm that it builds on.

The lists of PPO, GRPO and DPO exist once, in `rlmkb.theory.algorithms`. An entry here holds no list of its own: it
names the methods of a theory algorithm, in order, so that `applied` turns a base list into the variant's.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeVar

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from rlmkb.catalogue.fields import BibKey, Source
from rlmkb.catalogue.loading import Entry, Facts, InOrder, Prose, Sentences, Some, Text
from rlmkb.errors import InputError
from rlmkb.notation import SYMBOLS, Role, notation

RoleName = Annotated[Role, Field(strict=False)]
Count = Annotated[int, Field(ge=1)]
SymbolName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z_]*$")]  # of the notation, or a Greek letter

TheoryAlgorithm = TypeVar("TheoryAlgorithm")  # rlmkb.theory.algorithms.Algorithm, which lies above this layer


class Without(Facts):
    """A model that is left out altogether."""

    edit: Literal["without"]
    role: RoleName
    """The model."""

    @property
    def words(self) -> str:
        """What changes, in words."""
        return f"no {_spoken(self.role)}" + ("" if self.role is Role.CRITIC else " model")

    def apply(self, algorithm: TheoryAlgorithm) -> TheoryAlgorithm:
        """The algorithm with this change."""
        return algorithm.without(self.role)


class FrozenForward(Facts):
    """One more forward pass of a frozen model in assessment."""

    edit: Literal["frozen_forward"]
    role: RoleName
    """The model."""
    purpose: Text
    """What it is for."""

    @property
    def words(self) -> str:
        """What changes, in words."""
        return f"one more {_spoken(self.role)} forward ({self.purpose})"

    def apply(self, algorithm: TheoryAlgorithm) -> TheoryAlgorithm:
        """The algorithm with this change."""
        return algorithm.with_frozen(self.role, self.purpose)


class TrainedModel(Facts):
    """One more trained model: a forward pass in assessment, and its own training."""

    edit: Literal["trained_model"]
    role: RoleName
    """The model."""
    purpose: Text
    """What it is for."""

    @property
    def words(self) -> str:
        """What changes, in words."""
        return f"one more trained model, the {_spoken(self.role)} ({self.purpose})"

    def apply(self, algorithm: TheoryAlgorithm) -> TheoryAlgorithm:
        """The algorithm with this change."""
        return algorithm.with_trained(self.role, self.purpose)


class Epochs(Facts):
    """Several passes of training over the same batch."""

    edit: Literal["epochs"]
    count: Count | SymbolName
    """How many, or the symbol for it."""

    @property
    def words(self) -> str:
        """What changes, in words."""
        return f"{_shown(self.count)} epochs on each batch"

    def apply(self, algorithm: TheoryAlgorithm) -> TheoryAlgorithm:
        """The algorithm with this change."""
        return algorithm.with_epochs(_amount(self.count))


class Verifier(Facts):
    """A program in place of the reward model."""

    edit: Literal["verifier"]

    @property
    def words(self) -> str:
        """What changes, in words."""
        return "verifier in place of the reward model"

    def apply(self, algorithm: TheoryAlgorithm) -> TheoryAlgorithm:
        """The algorithm with this change."""
        return algorithm.with_verifier()


class ProcessReward(Facts):
    """A process reward model in place of the outcome model; `passes` forward passes for one rollout, or a symbol."""

    edit: Literal["process_reward"]
    passes: Count | SymbolName
    """Forward passes for one rollout, or the symbol for them."""

    @property
    def words(self) -> str:
        """What changes, in words."""
        return f"process reward model, {_shown(self.passes)} pass{'' if self.passes == 1 else 'es'} a rollout"

    def apply(self, algorithm: TheoryAlgorithm) -> TheoryAlgorithm:
        """The algorithm with this change."""
        return algorithm.with_process_reward(_amount(self.passes))


class RecomputedLogProbs(Facts):
    """The policy scores its own rollouts again before training."""

    edit: Literal["recomputed_log_probs"]

    @property
    def words(self) -> str:
        """What changes, in words."""
        return "one more policy forward (log-probabilities recomputed)"

    def apply(self, algorithm: TheoryAlgorithm) -> TheoryAlgorithm:
        """The algorithm with this change."""
        return algorithm.with_recomputed_log_probs()


class ExtraRollouts(Facts):
    """More rollouts generated and assessed than are trained on."""

    edit: Literal["extra_rollouts"]
    factor: Annotated[int | float, Field(ge=1)] | SymbolName
    """Rollouts generated for each one trained on, or the symbol for it."""

    @property
    def words(self) -> str:
        """What changes, in words."""
        return f"{_shown(self.factor)} rollouts generated and assessed for each one trained on"

    def apply(self, algorithm: TheoryAlgorithm) -> TheoryAlgorithm:
        """The algorithm with this change."""
        return algorithm.with_extra_rollouts(_amount(self.factor))


class SequencesPerExample(Facts):
    """Sequences in one training example: two for a preference pair."""

    edit: Literal["sequences_per_example"]
    count: Count
    """How many."""

    @property
    def words(self) -> str:
        """What changes, in words."""
        return f"{self.count} sequence{'s' if self.count > 1 else ''} an example"

    def apply(self, algorithm: TheoryAlgorithm) -> TheoryAlgorithm:
        """The algorithm with this change."""
        return algorithm.with_sequences_per_example(self.count)


Edit = Annotated[
    Without
    | FrozenForward
    | TrainedModel
    | Epochs
    | Verifier
    | ProcessReward
    | RecomputedLogProbs
    | ExtraRollouts
    | SequencesPerExample,
    Field(discriminator="edit"),
]


Edits = Annotated[InOrder[Edit], Field(min_length=1)]


class Beyond(Facts):
    """A change in the amount of work that a list of invocations cannot express."""

    effect: Literal[
        "pretraining",  # a phase before the loop
        "pruned",  # invocations on a part of the batch only
        "shorter_sequences",  # a model that sees fewer tokens than S+T
        "candidates",  # a fixed number of candidates per prompt
        "smaller_model",  # a role with a shape of its own
        "generation_between_rounds",  # data made anew outside the inner loop
        "scoring_before_training",  # models that run once, when the data set is made
        "other_policy",  # what is trained is not the language model that generates
    ]
    says: Prose
    """The change in one sentence."""


_SYMBOLS = frozenset(symbol.name for symbol in SYMBOLS)
_EFFECTS = {
    "pretraining": "a phase before the loop",
    "pruned": "a part of the batch skipped",
    "shorter_sequences": "one model reads fewer tokens",
    "candidates": "K is prescribed",
    "smaller_model": "one model is smaller",
    "generation_between_rounds": "generation between rounds",
    "scoring_before_training": "scores made with the data",
    "other_policy": "the trained policy is not the language model",
}


def _none_or_some(edits: object) -> object:
    """`none` is written out, so that an empty list cannot be a slip."""
    if edits == "none":
        return ()
    if not edits or not isinstance(edits, list):
        raise ValueError("none, or a list of edits")
    return edits


class Cost(Facts):
    """What a variant changes in the cost model."""

    edits: Annotated[
        InOrder[Edit],
        BeforeValidator(_none_or_some, json_schema_input_type=Literal["none"] | Edits),
    ]
    """What it edits in the list of invocations, in order, or none."""
    beyond: Some[Beyond] | None = None
    """What the list of invocations cannot express."""
    note: Prose
    """The cost against the algorithm that it builds on, in words."""


class AlgorithmEntry(Entry):
    """One file of `data/algorithms`."""

    full_name: Text
    """The name written out."""
    family: Literal["ppo", "grpo", "dpo", "likelihood"]
    """The algorithm of the paper that it belongs to, or likelihood for the rest."""
    based_on: Text | None
    """The id of the algorithm whose list it edits; null for the three that have one of their own."""
    setting: Literal["online", "offline", "iterative"]
    """Whether it generates in the loop, not at all, or between rounds."""
    models: Some[RoleName]
    """The models that it runs."""
    description: Annotated[Text, Sentences(most=1)]
    """One sentence that would fit no other algorithm."""
    changes: Prose
    """What it changes, in words."""
    cost: Cost
    """What it changes in the cost model."""
    section: Text
    """The section of the paper."""
    references: Some[BibKey]
    """Keys of data/references.bib."""
    sources: Some[Source]
    """Where the statements can be seen."""
    doubts: Some[Prose] | None = None
    """What no source settles."""

    @model_validator(mode="after")
    def _base_has_no_edits(self) -> "AlgorithmEntry":
        if self.based_on is None and self.cost.edits:
            raise ValueError("edits none, because nothing is named in based_on")
        if self.based_on == self.id:
            raise ValueError("based_on another algorithm, or null")
        return self

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits in order; empty where the invocations stay the same.

        Examples
        --------
        >>> from rlmkb.catalogue import entry
        >>> [edit.words for edit in entry("algorithms", "simpo").edits]
        ['no reference model']
        """
        return self.cost.edits

    @property
    def cost_in_words(self) -> str:
        """The edits as one phrase, for a table.

        Examples
        --------
        >>> from rlmkb.catalogue import entry
        >>> entry("algorithms", "simpo").cost_in_words
        'no reference model'
        >>> entry("algorithms", "ipo").cost_in_words
        'same invocations as DPO'
        """
        if self.based_on is None:
            return "a list of its own"
        if not self.edits:
            return f"same invocations as {self.based_on.upper()}"
        return "; ".join(edit.words for edit in self.edits)

    @property
    def beyond_in_words(self) -> str:
        """What the invocation list cannot say, as one phrase; empty where it says all.

        Examples
        --------
        >>> from rlmkb.catalogue import entry
        >>> entry("algorithms", "sppo").beyond_in_words
        'one model reads fewer tokens; K is prescribed; one model is smaller'
        """
        effects = dict.fromkeys(change.effect for change in self.cost.beyond or ())
        return "; ".join(_EFFECTS[effect] for effect in effects)


SCHEMA = AlgorithmEntry


def applied(id: str, entries: Mapping[str, AlgorithmEntry], bases: Mapping[str, TheoryAlgorithm]) -> TheoryAlgorithm:
    """The invocation list of a variant: its base's list with the edits applied in order.

    Parameters
    ----------
    id : str
        A key of `entries`.
    entries : Mapping[str, AlgorithmEntry]
        The catalogue's algorithms, for example ``entries("algorithms")``.
    bases : Mapping[str, Algorithm]
        ``rlmkb.theory.algorithms.ALGORITHMS``; given by the caller, because theory lies above the catalogue.

    Raises
    ------
    InputError
        If `based_on` leads nowhere or in a circle, or an edit does not fit the algorithm.

    Examples
    --------
    >>> from rlmkb.catalogue import entries
    >>> from rlmkb.theory.algorithms import ALGORITHMS
    >>> orpo = applied("orpo", entries("algorithms"), ALGORITHMS)
    >>> [call.role.value for call in orpo.invocations]
    ['policy', 'policy']
    """
    chain = _chain(id, entries)
    if chain[-1] not in bases:
        raise InputError(f"{chain[-1]!r} has no list of its own; allowed: based_on one of {', '.join(bases)}")
    algorithm = bases[chain[-1]]
    for name in reversed(chain[:-1]):
        for edit in entries[name].edits:
            algorithm = edit.apply(algorithm)
    return algorithm


def _chain(id: str, entries: Mapping[str, AlgorithmEntry]) -> list[str]:
    """From an algorithm over what it is based on to one with a list of its own."""
    chain = []
    while id is not None:
        if id not in entries or id in chain:
            raise InputError(f"{id!r} is no algorithm to build on; allowed: an id of data/algorithms, not in a circle")
        chain.append(id)
        id = entries[id].based_on
    return chain


def _spoken(role: Role) -> str:
    return role.value.replace("_", " ")


def _shown(value: int | float | str) -> str:
    """A number in digits, a name as mathematics."""
    if not isinstance(value, str):
        return str(value)
    return f"${notation(value).latex}$" if value in _SYMBOLS else f"$\\{value}$"


def _amount(value: int | float | str):
    """A number as it is, a name as its symbol: that of the notation, or a Greek letter of its own."""
    if not isinstance(value, str):
        return value
    from sympy import Symbol  # heavy, and needed only where a list is built

    return notation(value).symbol if value in _SYMBOLS else Symbol(value, positive=True)
