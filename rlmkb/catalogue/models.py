"""Language models and how they were post-trained: table X of the paper, corrected where a source says otherwise."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rlmkb.catalogue.fields import BibKey, Date, Source
from rlmkb.catalogue.loading import Entry, Facts, Many, Text

Family = Literal["ppo_like", "grpo_like", "dpo_like", "hybrid", "search_agentic", "distillation", "unknown"]
Feedback = Literal[
    "rlhf", "rlaif", "d_rlaif", "rlvr", "process", "offline_preference", "distillation", "undisclosed", "unknown"
]


class Signal(Facts):
    """What the model learned from after pre-training."""

    family: Family
    """The class of the paper's taxonomy: ppo_like optimises a policy against a learned reward or AI feedback,
    grpo_like compares rollouts of a group without a critic, dpo_like optimises preferences directly, hybrid mixes
    or does not disclose, search_agentic trains with search, tools or environments; distillation is ours, for
    imitation of another model's reasoning without RL."""
    feedback: Annotated[Many[Feedback], Field(min_length=1)]
    """Where the feedback came from, in the terms of the chapter on RLVR, RLHF and RLAIF."""
    says: Text
    """The pipeline in one or two sentences."""


class Row(Facts):
    """What table X prints."""

    name: Text
    """The first cell of the row."""
    family: Family
    """The class that the row prints, whether it holds or not."""


class Correction(Facts):
    """A place where table X and the sources disagree."""

    field: Literal["access", "scale", "structure", "signal", "system", "reference"]
    """What is corrected."""
    paper: Text
    """What the table prints."""
    instead: Text
    """What the source says."""
    source: Source


class Model(Entry):
    """One file of `data/models`: a model or a family that was released together."""

    organisation: Text
    """Who made it."""
    group: Literal["general", "reasoning"]
    """`reasoning` if training or inference explicitly targets reasoning: long chains of thought, verifiable rewards,
    search, tools, or a budget for thinking; else `general`."""
    in_paper: Literal["table_x", "no"]
    """Whether table X has it; `no` for what came later or was left out."""
    row: Row | None = None
    """What table X prints, for those that it has."""
    released: Date | None
    """The day or month of publication; for a family, of its first member."""
    access: Literal["open_weights", "closed", "mixed", "unknown"]
    """Whether the weights can be downloaded; `mixed` where that holds for some of the family."""
    license: Text | None = None
    """Of the weights."""
    scale: Text
    """The published sizes, total and active."""
    structure: Literal["dense", "moe", "dense_and_moe", "undisclosed", "unknown"]
    """Whether every parameter works on every token, or experts are chosen."""
    architectures: Many[Text] = ()
    """Ids in data/architectures that have this shape, or that of a member of the family."""
    signal: Signal
    system: Text
    """What the model means for the system that trains or serves it."""
    corrections: Many[Correction] = ()
    """Where table X and the sources disagree."""
    references: Many[BibKey] = ()
    """Keys of data/references.bib."""
    evidence: Annotated[Many[Source], Field(min_length=1)]
    """Where the statements above can be seen."""
    doubts: Many[Text] = ()
    """What no source settles."""

    @model_validator(mode="after")
    def _agrees_with_its_row(self) -> Self:
        if (self.row is not None) != (self.in_paper == "table_x"):
            raise ValueError("row for a model of table X, and only there")
        if self.row and self.row.family != self.signal.family and "signal" not in self._corrected:
            raise ValueError(f"signal.family as in the row ({self.row.family}), or a correction of signal")
        if self.corrections and not self.row:
            raise ValueError("corrections only for a model of table X")
        return self

    @property
    def _corrected(self) -> set[str]:
        return {correction.field for correction in self.corrections}


SCHEMA = Model
