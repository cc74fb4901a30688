"""Accelerators: plausible, consistent with each other, with sources for every figure."""

import pytest

from rlmkb.catalogue import entries
from rlmkb.catalogue.hardware import SCHEMA
from rlmkb.catalogue.loading import read_entry
from rlmkb.data import data_path
from rlmkb.errors import InputError

ENTRIES = entries("hardware")


def test_every_device_is_there():
    assert len(ENTRIES) >= 32
    assert {device.vendor for device in ENTRIES.values()} >= {"NVIDIA", "AMD", "Google", "Intel", "Huawei"}


def test_figures_that_everyone_knows():
    h100 = ENTRIES["h100-sxm5-80gb"]
    assert (h100.memory_gb, h100.memory_bandwidth_gb_per_s, h100.dense_peak.bf16) == (80, 3350, 989)
    assert h100.scale_up.bandwidth_gb_per_s == 900 / 2, "NVLink 4 has 900 GB/s in both directions; one way is stored"
    assert ENTRIES["gb200-per-gpu-nvl72"].scale_up.domain == 72


def test_a_variant_that_was_cut_is_slower():
    assert ENTRIES["h800-sxm5-80gb"].scale_up.bandwidth_gb_per_s < ENTRIES["h100-sxm5-80gb"].scale_up.bandwidth_gb_per_s
    assert ENTRIES["h20-sxm-96gb"].dense_peak.bf16 < ENTRIES["h100-sxm5-80gb"].dense_peak.bf16


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("bf16: 989", "bf16: 2989", "rates that do not fall"),
        ("confidence: high", "confidence: low", "notes that say where sources conflict"),
    ],
)
def test_a_device_that_does_not_hang_together_is_refused(old, new, words, tmp_path):
    text = data_path("hardware", "h100-sxm5-80gb.yml").read_text(encoding="utf-8").partition("notes:")[0]
    assert old in text
    path = tmp_path / "h100-sxm5-80gb.yml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_entry(path, SCHEMA)
    assert words in str(caught.value)
