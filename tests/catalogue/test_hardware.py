"""Accelerators: plausible, consistent with each other, with sources for every figure."""

import re

import pytest

from rlmkb.catalogue import entries

ENTRIES = entries("hardware")


def test_every_device_is_there():
    assert len(ENTRIES) >= 32
    assert {device.vendor for device in ENTRIES.values()} == {"NVIDIA", "AMD", "Google", "Intel", "Huawei"}


def test_figures_that_everyone_knows():
    h100 = ENTRIES["h100-sxm5-80gb"]
    assert (h100.memory_gb, h100.memory_bandwidth_gb_per_s, h100.dense_peak.bf16) == (80, 3350, 989)
    assert h100.scale_up.bandwidth_gb_per_s == 900 / 2, "NVLink 4 has 900 GB/s in both directions; one way is stored"
    assert ENTRIES["gb200-per-gpu-nvl72"].scale_up.domain == 72


def test_a_variant_that_was_cut_is_slower():
    assert ENTRIES["h800-sxm5-80gb"].scale_up.bandwidth_gb_per_s < ENTRIES["h100-sxm5-80gb"].scale_up.bandwidth_gb_per_s
    assert ENTRIES["h20-sxm-96gb"].dense_peak.bf16 < ENTRIES["h100-sxm5-80gb"].dense_peak.bf16


@pytest.mark.parametrize("id", ENTRIES)
def test_a_device_hangs_together(id):
    device = ENTRIES[id]
    assert id == re.sub(r"[^a-z0-9.]+", "-", device.name.lower()).strip("-.")
    narrow = [rate for rate in (device.dense_peak.bf16, device.dense_peak.fp8, device.dense_peak.fp4) if rate]
    assert narrow == sorted(narrow), "narrower numbers are not slower"
    intensity = device.dense_peak.bf16 * 1e12 / (device.memory_bandwidth_gb_per_s * 1e9)
    assert 30 < intensity < 700, "FLOP a byte of memory"
    if device.memory_gib_reported:
        ratio = device.memory_gib_reported * 2**30 / (device.memory_gb * 1e9)
        assert 0.98 < ratio < 1.09, "sizes are sold in decimal or binary gigabytes"
    assert not device.notes or device.notes.endswith(".")


def test_low_confidence_says_why():
    for id, device in ENTRIES.items():
        assert device.confidence != "unknown", id
        assert device.confidence != "low" or device.notes, id
