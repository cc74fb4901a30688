"""Accelerators: what a device computes, holds and moves at most, as published, with the doubts about it."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rlmkb.catalogue.loading import Entry, Facts, Prose, Some, Text

Amount = Annotated[int | float, Field(gt=0, le=10**7)]


class DensePeak(Facts):
    """Dense peak rates of matrix products, without 2:4 sparsity, in 10^12 operations a second."""

    bf16: Amount | None
    """TFLOP/s with 16-bit inputs, accumulated in 32 bits where the maker tells the two apart."""
    fp8: Amount | None = None
    """TFLOP/s; none where the device has no such unit or no figure was found."""
    fp4: Amount | None = None
    """TFLOP/s."""
    int8: Amount | None = None
    """Operations on integers, TOP/s."""

    @model_validator(mode="after")
    def _narrower_is_not_slower(self) -> Self:
        found = [rate for rate in (self.bf16, self.fp8, self.fp4) if rate]
        if found != sorted(found):
            raise ValueError("rates that do not fall from bf16 to fp8 and fp4")
        return self


class ScaleUp(Facts):
    """Links between the devices of one domain: a node, a rack or a slice."""

    technology: Text
    """The kind of link."""
    bandwidth_gb_per_s: Amount | None
    """One way, all links of one device together; a pair of devices in a mesh gets a part of it."""
    topology: Text
    """How the devices are connected."""
    domain: Annotated[int, Field(ge=1, le=10**6)]
    """How many devices the largest domain has."""


class Hardware(Entry):
    """One file of `data/hardware`: a device as software counts it, unless the name says otherwise.

    An empty or missing number means that none was found, not that it is zero.
    """

    vendor: Text
    """Who makes it."""
    memory_gb: Amount | None
    """Memory as sold, in 10^9 bytes."""
    memory_gib_reported: Amount | None = None
    """Memory that a tool or a configuration reports, in 2^30 bytes."""
    memory_bandwidth_gb_per_s: Amount | None
    """Peak rate of the memory, in 10^9 bytes a second."""
    dense_peak: DensePeak
    scale_up: ScaleUp
    scale_out_gb_per_s: Amount | None = None
    """A device's usual share of the network cards, one way."""
    power_w: Amount | None = None
    """Thermal design power."""
    confidence: Literal["high", "medium", "low", "unknown"]
    """high: a page or repository of the vendor, or two sources that agree; medium: third parties; low: sources that
    conflict."""
    sources: Some[Text]
    """Links, or documents with their version."""
    notes: Prose | None = None
    """Where sources conflict, and what was assumed."""

    @model_validator(mode="after")
    def _conflict_is_told(self) -> Self:
        if self.confidence == "low" and not self.notes:
            raise ValueError("notes that say where sources conflict, for a confidence of low")
        return self


SCHEMA = Hardware
