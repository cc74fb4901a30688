"""Features of frameworks: the question behind a column of the comparison, and how to answer it.

A feature is defined before a cell is filled, so that two people who read the same source reach the same state.
"""

from typing import Annotated, Literal, get_args

from pydantic import Field

from rlmkb.catalogue.loading import Entry, Facts, Prose, Some, Text

FeatureId = Literal[
    "DP", "Z1", "Z2", "Z3", "TP", "CP", "EP", "PP", "ac_share", "disagg", "stage_fusion", "hybrid", "async"
]
FEATURES: tuple[str, ...] = get_args(FeatureId)  # in the order in which every page and file has them

Row = Literal[
    "data", "tensor", "context", "expert", "pipeline", "ac_shared", "disaggregated", "stage_fusion", "hybrid", "async"
]


class HowToTell(Facts):
    """What a source must show for yes and for no; what lies between is in `partial_when`."""

    yes: Prose
    """The test for full support."""
    no: Prose
    """The test for none."""


class Performance(Facts):
    """Why a user should care, in terms of the cost model."""

    changes: Some[Literal["work", "depth", "memory"]]
    """The quantities of a rank or device group that it changes."""
    says: Prose
    """Which term, and at what price, in one to three sentences."""


class CostRow(Facts):
    """Where the formulas are."""

    table: Literal["VII", "IX"]
    """VII for intra-model, IX for inter-model parallelism; see `rlmkb table`."""
    row: Row
    """The row of that table."""


class Feature(Entry):
    """One file of `data/features`."""

    id: FeatureId
    """The abbreviation of the field, which is also the key in data/frameworks."""
    group: Literal["intra_model", "inter_model"]
    """Whether it concerns one model or several."""
    question: Text
    """What a cell answers."""
    definition: Prose
    """What the term means here."""
    how_to_tell: HowToTell
    """What decides between yes and no."""
    partial_when: Some[Prose]
    """The cases that are neither."""
    performance: Performance
    """Why it matters."""
    cost_row: CostRow | None = None
    """The row of a cost table that holds its formulas, if one does."""
    chapter: Annotated[str, Field(pattern=r"^book(/[a-z-]+)+$")]
    """The chapter that explains what it changes."""
    section: Text
    """The section of the paper."""


SCHEMA = Feature
