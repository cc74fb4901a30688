"""Counts of the catalogue and of published configurations against numbers from outside.

`expected_counts.csv`: for each published shape the total, the active parameters (router biases included) and the
number of values in the published checkpoint, computed or read before this package existed.
`reference_flops.json`: parameters from transformers on the meta device, FLOPs from torch's counter.
`published_configs.json`: the same shapes under the field names of Hugging Face.
"""

import csv
import json
from pathlib import Path

import pytest

from rlmkb.architecture import (
    active_parameters,
    checkpoint_values,
    describe,
    from_config,
    from_entry,
    parameters,
    router_buffers,
)
from rlmkb.catalogue import entries

HERE = Path(__file__).parent
EXPECTED = {
    row["id"]: row for row in csv.DictReader((HERE / "expected_counts.csv").read_text(encoding="utf-8").splitlines())
}
REFERENCE = json.loads((HERE / "reference_flops.json").read_text(encoding="utf-8"))["models"]
CONFIGS = json.loads((HERE / "published_configs.json").read_text(encoding="utf-8"))


def counts(decoder):
    """Total, active, and active without the input table, with router biases."""
    biases = router_buffers(decoder)
    total = sum(parameters(decoder).values()) + biases
    active = sum(active_parameters(decoder).values()) + biases
    table = 0 if decoder.tied_embeddings else decoder.vocab_size * decoder.d_model
    return [total, active, active - table]


def expected(id):
    row = EXPECTED[id]
    return [int(row[name]) for name in ("params_total", "params_active", "active_no_input_embedding")]


def test_every_published_shape_is_in_the_catalogue():
    assert set(EXPECTED) <= set(entries("architectures"))
    assert len(EXPECTED) == 99


def test_every_entry_has_the_expected_counts():
    found = {id: counts(from_entry(entries("architectures")[id])) for id in EXPECTED}
    assert {id: numbers for id, numbers in found.items() if numbers != expected(id)} == {}


def test_every_published_checkpoint_has_the_expected_number_of_values():
    published = {id: int(row["checkpoint_total"]) for id, row in EXPECTED.items() if row["checkpoint_total"]}
    assert len(published) == 81
    computed = {id: checkpoint_values(from_entry(entries("architectures")[id])) for id in published}
    assert computed == published
    assert all(entries("architectures")[id].published.exact == count for id, count in published.items())


@pytest.mark.parametrize("id", CONFIGS)
def test_a_published_configuration_has_the_expected_counts(id):
    decoder = from_config(CONFIGS[id])
    assert counts(decoder) == expected(id)
    entry = from_entry(entries("architectures")[id])
    assert (decoder.layers, decoder.rotary_dim) == (entry.layers, entry.rotary_dim)


@pytest.mark.parametrize("name", REFERENCE)
def test_parameters_cache_and_flops_equal_the_reference_to_the_last_unit(name):
    model = REFERENCE[name]
    found = describe(model["config"])
    assert found.params.total == model["params_total"]
    assert found.params.active == model["params_active"]
    assert found.params.input_embedding == model["params_input_embedding"]
    assert found.params.lm_head == model["params_lm_head_untied"]
    assert parameters(from_config(model["config"])).get("experts", 0) == model["params_routed_experts"]
    assert found.kv_bytes_per_token == model["kv_cache_bytes_per_token_bf16"]
    for length, flops in model["fwd_flops_per_token"].items():
        found = describe(model["config"], length=int(length)).forward_flops_per_token
        assert [found.causal_half, found.full_square] == [flops["causal_half"], flops["full_square"]]
