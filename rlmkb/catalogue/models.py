"""Language models and how they were post-trained: table X of the paper, corrected where a source says otherwise."""

import re
from typing import Literal, Self

from pydantic import model_validator

from rlmkb.catalogue.fields import BibKey, Date, Source
from rlmkb.catalogue.loading import Entry, Facts, Many, Prose, Some, Text

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
    feedback: Some[Feedback]
    """Where the feedback came from, in the terms of the chapter on RLVR, RLHF and RLAIF."""
    says: Prose
    """The pipeline in one or two sentences."""


# the first cells of the paper's table, which gets no others
RowName = Literal[
    "InstructGPT", "GPT-4", "Gemini 1.x", "Claude 3", "Reka", "InternLM2", "Zephyr", "Phi-3", "Phi-4", "ChatGLM",
    "Gemma 2", "Starling-7B", "Hermes 3", "Athene-70B", "Llama 3 & 3.1", "Qwen2 & Qwen2.5", "Nemotron-4 340B",
    "DeepSeek-V3", "Llama 4 Scout", "Llama 4 Maverick", "OpenAI o1", "OpenAI o3", "OpenAI o4-mini", "GPT-5",
    "GPT-5.4 Thinking", "GPT-5.5 Thinking", "Claude 3.7 Sonnet", "Claude 4 family", "Gemini 2.5 Pro",
    "Gemini 2.5 Flash", "Gemini 2.5 Deep Think", "DeepSeek-R1", "DAPO", "Qwen3", "Kimi k1.5", "Kimi K2", "Kimi K2.5",
    "Phi-4-reasoning", "rStar-Math", "Grok 4", "Grok 4 Heavy",
]  # fmt: skip
_ACCESS = {"Open": "open_weights", "Closed": "closed", "Mixed": "mixed"}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([BT])\b")


class Row(Facts):
    """What table X prints."""

    name: RowName
    """The first cell of the row."""
    access: Literal["Open", "Closed", "Mixed"]
    """Its second cell."""
    scale: Text
    """Its third cell."""
    family: Family
    """The class that the row prints, whether it holds or not."""


class Correction(Facts):
    """A place where table X and the sources disagree."""

    field: Literal["access", "scale", "structure", "signal", "system", "reference"]
    """What is corrected."""
    paper: Text
    """What the table prints."""
    instead: Prose
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
    system: Prose
    """What the model means for the system that trains or serves it."""
    corrections: Many[Correction] = ()
    """Where table X and the sources disagree."""
    references: Many[BibKey] = ()
    """Keys of data/references.bib."""
    evidence: Some[Source]
    """Where the statements above can be seen."""
    doubts: Many[Prose] = ()
    """What no source settles."""

    @model_validator(mode="after")
    def _agrees_with_its_row(self) -> Self:
        if (self.row is not None) != (self.in_paper == "table_x"):
            raise ValueError("row for a model of table X, and only there")
        if self.corrections and not self.row:
            raise ValueError("corrections only for a model of table X")
        if self.access == "closed" and self.license:
            raise ValueError("no license, or another access than closed")
        for field, key, printed in self._differences() if self.row else ():
            if field not in {correction.field for correction in self.corrections}:
                raise ValueError(f"{key} as in the row ({printed}), or a correction of {field}")
        return self

    def _differences(self) -> list[tuple[str, str, str]]:
        """Where the entry and its row differ: what would be corrected, the key, and what is printed."""
        row = self.row
        wanted = {
            ("signal", "signal.family", row.family): row.family == self.signal.family,
            ("access", "access", row.access): _ACCESS[row.access] == self.access,
            ("scale", "scale", row.scale): _agree(row.scale, self.scale),
            ("structure", "structure", row.scale): _structure(row.scale) in (None, self.structure),
        }
        return [place for place, alike in wanted.items() if not alike]


def _agree(printed: str, scale: str) -> bool:
    """Whether a scale has the sizes that the table prints, and none outside their range.

    Examples
    --------
    >>> _agree("0.6B-235B", "0.6B to 32B; 235B, 22B active"), _agree("7B, 14B dense", "14B"), _agree("7B", "1.5B, 7B")
    (True, False, False)
    >>> _agree("Undisclosed", "not disclosed"), _agree("Undisclosed", "1.8B")
    (True, False)
    """
    theirs, ours = (
        {float(number) * (1000 if unit == "T" else 1) for number, unit in _SIZE.findall(text)}
        for text in (printed, scale)
    )
    if not theirs:
        return not (ours and printed.startswith("Undisclosed"))
    return theirs <= ours and min(theirs) <= min(ours) and max(ours) <= max(theirs)


def _structure(printed: str) -> str | None:
    """The structure that the table prints beside the scale, or None if it prints none.

    Examples
    --------
    >>> _structure("7B dense"), _structure("Dense/MoE"), _structure("Undisclosed; multi-agent"), _structure("340B")
    ('dense', 'dense_and_moe', 'undisclosed', None)
    """
    dense, moe = "dense" in printed.lower(), "MoE" in printed
    if dense and moe:
        return "dense_and_moe"
    return "dense" if dense else "moe" if moe else "undisclosed" if printed.startswith("Undisclosed") else None


SCHEMA = Model
