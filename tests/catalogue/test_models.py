"""Table X: all 41 rows, linked, classed by the paper's taxonomy, and corrected only with a source."""

import csv
import re
from pathlib import Path

import pytest

from rlmkb.catalogue import entries
from rlmkb.catalogue.loading import read_entry
from rlmkb.catalogue.models import SCHEMA
from rlmkb.data import data_path
from rlmkb.errors import InputError

ENTRIES = entries("models")
IN_PAPER = {id: model for id, model in ENTRIES.items() if model.in_paper == "table_x"}
GENERAL = {
    *("InstructGPT", "GPT-4", "Gemini 1.x", "Claude 3", "Reka", "InternLM2", "Zephyr", "Phi-3", "Phi-4", "ChatGLM"),
    *("Gemma 2", "Starling-7B", "Hermes 3", "Athene-70B", "Llama 3 & 3.1", "Qwen2 & Qwen2.5", "Nemotron-4 340B"),
    *("DeepSeek-V3", "Llama 4 Scout", "Llama 4 Maverick"),
}
REASONING = {
    *("OpenAI o1", "OpenAI o3", "OpenAI o4-mini", "GPT-5", "GPT-5.4 Thinking", "GPT-5.5 Thinking"),
    *("Claude 3.7 Sonnet", "Claude 4 family", "Gemini 2.5 Pro", "Gemini 2.5 Flash", "Gemini 2.5 Deep Think"),
    *("DeepSeek-R1", "DAPO", "Qwen3", "Kimi k1.5", "Kimi K2", "Kimi K2.5", "Phi-4-reasoning", "rStar-Math"),
    *("Grok 4", "Grok 4 Heavy"),
}
# the printed classes, counted by hand in the table; ChatGLM's "mixed" counts as hybrid
PRINTED = {"ppo_like": 11, "dpo_like": 9, "grpo_like": 2, "hybrid": 14, "search_agentic": 5}


def rows(group):
    return {model.row.name for model in IN_PAPER.values() if model.group == group}


def test_all_rows_of_table_x_are_there():
    assert (len(GENERAL), len(REASONING)) == (20, 21)
    assert rows("general") == GENERAL
    assert rows("reasoning") == REASONING


def test_the_printed_classes_are_kept_beside_ours():
    families = [model.row.family for model in IN_PAPER.values()]
    assert {family: families.count(family) for family in PRINTED} == PRINTED
    changed = {id for id, model in IN_PAPER.items() if model.signal.family != model.row.family}
    assert changed >= {"phi-4-reasoning", "kimi-k1.5", "qwen2-qwen2.5"}
    for id in changed:
        assert "signal" in {correction.field for correction in IN_PAPER[id].corrections}


def test_the_printed_access_and_scale_are_those_of_the_paper():
    printed = csv.DictReader(Path(__file__).with_name("table_x.csv").read_text(encoding="utf-8").splitlines())
    printed = {row["name"]: (row["access"], row["scale"]) for row in printed}
    assert len(printed) == 41
    assert {model.row.name: (model.row.access, model.row.scale) for model in IN_PAPER.values()} == printed


def test_where_access_and_scale_differ_from_the_row_a_correction_says_so():
    corrected = {
        field: {id for id, model in IN_PAPER.items() if field in {one.field for one in model.corrections}}
        for field in ("access", "scale")
    }
    assert corrected["access"] >= {"chatglm", "qwen2-qwen2.5", "rstar-math"}
    assert corrected["scale"] >= {"chatglm", "phi-4", "gemini-1.x", "rstar-math"}
    assert ENTRIES["rstar-math"].access == "unknown"


def test_phi_4_reasoning_is_corrected():
    model = ENTRIES["phi-4-reasoning"]
    assert model.row.family == "dpo_like"
    assert model.signal.family == "grpo_like"
    assert set(model.signal.feedback) == {"distillation", "rlvr"}


def test_open_models_are_linked_to_their_shapes_where_there_are_some():
    shapes = set(entries("architectures"))
    linked = {shape for model in ENTRIES.values() for shape in model.architectures}
    assert linked <= shapes
    unlinked = {id for id, model in IN_PAPER.items() if model.access == "open_weights" and not model.architectures}
    assert unlinked == set()


def test_a_class_that_differs_from_the_row_needs_a_correction(tmp_path):
    path = tmp_path / "gpt-4.yml"
    text = data_path("models", "gpt-4.yml").read_text(encoding="utf-8")
    assert "  family: ppo_like\n  feedback" in text
    for old, new, words in (
        ("  family: ppo_like\n  feedback", "  family: dpo_like\n  feedback", "or a correction of signal"),
        ("in_paper: table_x", 'in_paper: "no"', "row for a model of table X"),
        ("\naccess: closed", "\naccess: secret", "allowed: open_weights, closed, mixed"),
        ("\naccess: closed", "\naccess: mixed", "access as in the row (Closed), or a correction of access"),
        ("\naccess: closed", "\naccess: closed\nlicense: mit", "no license, or another access than closed"),
        ("\nscale: ", "\nscale: 1.8B and others # ", "scale as in the row (Undisclosed), or a correction of scale"),
        ("structure: undisclosed", "structure: dense", "structure as in the row (Undisclosed), or a correction of"),
        ("  name: GPT-4\n", "  name: GPT-4V\n", 'row.name is "GPT-4V"; allowed: GPT-4, '),
        ("https://arxiv", "http://arxiv", "a link that starts with https://"),
        ("feedback: [rlhf, d_rlaif]", "feedback: []", "a list of at least 1 item"),
    ):
        path.write_text(text.replace(old, new), encoding="utf-8")
        assert path.read_text(encoding="utf-8") != text
        with pytest.raises(InputError, match=re.escape(words)):
            read_entry(path, SCHEMA)
