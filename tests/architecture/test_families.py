"""Small models of every family, counted by Hugging Face transformers and torch.

`transformers_counts.json` holds configurations and what transformers and torch's FLOP counter make of them.
"""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlmkb.architecture import Decoder, forward_flops, from_config, parameters, router_buffers
from rlmkb.architecture.families import FAMILIES
from rlmkb.errors import InputError

REFERENCE = json.loads((Path(__file__).parent / "transformers_counts.json").read_text(encoding="utf-8"))
MODELS = REFERENCE["models"]
NAMES = [f"{number}-{model['config']['model_type']}" for number, model in enumerate(MODELS)]

# Code that is published with checkpoints; their counts are held in test_counts.py.
OUTSIDE = {"internlm2", "kimi_k2", "nemotron-nas"}
# A buffer there, but not among the values of the published checkpoints.
NOT_STORED = {"nemotron_h"}


def test_every_family_is_counted_outside():
    assert set(FAMILIES) == {model["config"]["model_type"] for model in MODELS} | OUTSIDE


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_parameters_are_those_of_transformers(model):
    decoder = from_config(model["config"])
    assert sum(parameters(decoder).values()) == model["parameters"]
    if model["config"]["model_type"] not in NOT_STORED:
        assert router_buffers(decoder) == model.get("router_buffers", 0)


@pytest.mark.parametrize("model", [model for model in MODELS if "flops" in model])
def test_flops_are_those_of_the_counter(model):
    tokens = REFERENCE["tokens"]
    terms = forward_flops(from_config(model["config"]), tokens, causal=False)
    terms.pop("experts", None)  # a grouped product, which the counter does not see
    assert tokens * sum(terms.values()) == model["flops"]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.just([{"attention": 3}]),
    lambda value: st.lists(value, max_size=4) | st.dictionaries(st.text(max_size=3), value, max_size=3),
    max_leaves=4,
)


@given(st.data())
def test_any_value_is_understood_or_refused_in_one_line(data):
    config = data.draw(st.sampled_from(MODELS))["config"]
    field = data.draw(st.sampled_from([*config, "layer_types", "block_configs", "rope_parameters", "indexer_types"]))
    try:
        found = from_config(config | {field: data.draw(ANYTHING)})
    except InputError as error:
        found = str(error)
    assert isinstance(found, Decoder) or "\n" not in found
