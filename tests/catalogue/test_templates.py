"""A new entry: explained, full of unknown, and right from the start."""

import pytest
import yaml

from rlmkb.catalogue import check, new
from rlmkb.catalogue.features import FEATURES
from rlmkb.catalogue.templates import template
from rlmkb.catalogue_rules import RULES
from rlmkb.errors import InputError

MADE = ("frameworks", "models", "hardware", "algorithms")


@pytest.mark.parametrize("kind", MADE)
def test_a_new_entry_passes_the_check_and_needs_no_repair(kind, tmp_path):
    path = new(kind, "my-entry-1.5", tmp_path / kind)
    text = path.read_text(encoding="utf-8")
    report = check([path], fix=True, rules=RULES)
    assert report.must_fix == ()
    assert {problem.code for problem in report.advice} <= {"A406", "A410", "A413"}
    assert len(report.advice) < 10, "so few that they are read"
    assert path.read_text(encoding="utf-8") == text
    assert text.startswith(f"# yaml-language-server: $schema=../schema/{kind}.schema.json\n")
    assert max(map(len, text.splitlines())) <= 110


def test_a_new_framework_knows_nothing_yet():
    data = yaml.safe_load(template("frameworks", "my-framework"))
    assert list(data["features"]) == list(FEATURES)
    assert {cell["state"] for cell in data["features"].values()} == {"unknown"}
    assert data["id"] == "my-framework"
    assert (data["in_paper"], data["repository"]) == ("no", None)
    assert (data["centre"], data["status"]) == ("unknown", "unknown"), "no guesses"


def test_the_questions_of_the_features_are_asked():
    text = template("frameworks", "x")
    assert "\n  # Tensor parallelism: Can the matrices of a layer be divided among devices?\n  TP:\n" in text
    assert text.count("# evidence:") == 1, "told once, not thirteen times"


def test_optional_keys_stand_in_comments_that_become_keys(tmp_path):
    text = template("frameworks", "x")
    block = text[text.index("    # evidence:") :]
    block = block[: block.index("    # A public")]
    data = yaml.safe_load(block.replace("    # ", ""))
    assert data == {"evidence": [{"url": "https://example.org", "says": "unknown"}]}


def test_nothing_is_overwritten(tmp_path):
    new("models", "x", tmp_path)
    (tmp_path / "x.yml").write_text("mine")
    with pytest.raises(InputError, match="exists; change it, or choose another id"):
        new("models", "x", tmp_path)
    assert (tmp_path / "x.yml").read_text() == "mine"


@pytest.mark.parametrize(
    ("kind", "id", "words"),
    [
        ("models", "My Model", "such as my-model"),
        ("models", "../x", "is not an id"),
        ("models", "", "such as my-entry"),
        ("model", "x", "'model' is not a kind of the catalogue; allowed: models, "),
        ("features", "XP", "the features are fixed"),
        ("architectures", "x", "copy the entry of a similar model"),
        ("measurements", "x", "add a row"),
    ],
)
def test_what_cannot_be_made(kind, id, words, tmp_path):
    with pytest.raises(InputError) as caught:
        new(kind, id, tmp_path)
    assert words in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "models").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        new("models", "x", tmp_path / "models")
