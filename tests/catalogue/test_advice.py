"""Advice about entries that are right: each rule seen to speak and to be silent."""

import re

import pytest

from rlmkb.catalogue import check
from rlmkb.catalogue.advice import LONGEST, fault_of, slug
from rlmkb.data import data_path


@pytest.fixture
def advice(tmp_path):
    def given(kind, name, old="", new=""):
        text = data_path(kind, f"{name}.yml").read_text(encoding="utf-8")
        changed = re.sub(old, new, text, count=1, flags=re.MULTILINE) if old else text
        assert changed != text or not old
        path = tmp_path / kind / f"{name}.yml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(changed, encoding="utf-8")
        report = check([path])
        assert report.must_fix == ()
        return [(problem.code, problem.message) for problem in report.advice]

    return given


@pytest.mark.parametrize(
    ("kind", "name", "old", "new", "code", "words"),
    [
        ("frameworks", "verl", r"^( +says: .*)\.$", r"\1", "A409", "does not end with a full stop"),
        ("frameworks", "verl", r"^remark: .*", "remark: trains and generates.", "A409", "remark starts with a small"),
        ("frameworks", "verl", r"^description: (.*)", r"description: One. \1", "A409", "has 2 sentences; allowed: 1"),
        ("algorithms", "simpo", r"^description: (.*)", r"description: One. \1", "A409", "has 2 sentences; allowed: 1"),
        ("models", "phi-3", r"^system: .*", "system: Two  spaces.", "A409", "system has two spaces in a row"),
        ("hardware", "l4", r"^confidence: .*", "confidence: unknown", "A406", "confidence is still 'unknown'"),
        ("hardware", "l4", r"  bf16: .*", "  bf16: 1", "A412", "FLOP a byte of memory; likely: 30 to 700"),
        ("hardware", "h100-sxm5-80gb", r"_reported: .*", "_reported: 95", "A412", "of memory_gb; likely: 0.98 to 1.09"),
        ("models", "phi-3", r"^name: .*", "name: Phi 3 mini", "A411", "'phi-3-mini'"),
        ("models", "phi-3", r"^references: .*\n", "", "A413", "references are missing"),
    ],
)
def test_each_rule_speaks(kind, name, old, new, code, words, advice):
    assert advice(kind, name) == []
    found = advice(kind, name, old, new)
    assert [told for told, message in found if words in message] == [code], found


def test_unknown_cells_without_a_note_are_told_once(advice, tmp_path):
    assert advice("frameworks", "trl") == []
    path = tmp_path / "frameworks" / "trl.yml"
    head, _, _ = path.read_text(encoding="utf-8").partition("features:\n")
    cells = {"TP": "{state: unknown, note: Sources were searched.}"}
    names = ("DP", "Z1", "Z2", "Z3", "TP", "CP", "EP", "PP", "ac_share", "disagg", "stage_fusion", "hybrid", "async")
    body = "".join(f"  {name}: {cells.get(name, '{state: unknown}')}\n" for name in names)
    path.write_text(f"{head}features:\n{body}", encoding="utf-8")
    (problem,) = check([path]).problems
    assert problem.code == "A410"
    assert problem.message.startswith("DP, Z1, Z2, Z3, CP, EP, ")


def test_a_long_file_is_told_and_comments_do_not_count(advice):
    assert advice("models", "phi-3", r"\Z", "# x\n" * (LONGEST + 1)) == []
    doubts = "doubts:\n" + "".join(f"  - >-\n    Line\n    {number}.\n" for number in range(60))
    assert [code for code, _ in advice("models", "phi-3", r"\Z", doubts)] == ["A415"]


@pytest.mark.parametrize("text", ["vLLM serves.", "shard_size is set.", "3 steps.", "Yes.", "字节跳动.", "ZeRO-3."])
def test_sentences_may_start_with_a_name(text):
    assert fault_of(text) is None


def test_a_name_as_an_id():
    assert [slug(name) for name in ("GPT-5.4 Thinking", "H100 (SXM5)", "É.x")] == ["gpt-5.4-thinking", "h100-sxm5", "x"]
