"""The features: those of the paper in its order, each tied to the cost model, and refused when wrong."""

from pathlib import Path

import pytest
import yaml

import rlmkb
from rlmkb.catalogue import entries
from rlmkb.catalogue.features import FEATURES, SCHEMA
from rlmkb.catalogue.loading import read_entry
from rlmkb.data import data_path
from rlmkb.errors import InputError

ENTRIES = entries("features")
ROOT = Path(__file__).resolve().parents[2]


def test_the_features_are_those_of_table_xi_in_its_order():
    assert FEATURES[:8] == ("DP", "Z1", "Z2", "Z3", "TP", "CP", "EP", "PP")
    assert FEATURES[8:] == ("ac_share", "disagg", "stage_fusion", "hybrid", "async")
    assert set(ENTRIES) == set(FEATURES)
    assert [ENTRIES[id].group for id in FEATURES] == ["intra_model"] * 8 + ["inter_model"] * 5


@pytest.mark.parametrize("id", FEATURES)
def test_a_feature_is_tied_to_paper_book_and_cost_model(id):
    feature = ENTRIES[id]
    within = feature.group == "intra_model"
    assert feature.section.startswith("III-" if within else "IV-")
    if feature.cost_row is None:
        assert id in ("Z1", "Z2", "Z3")  # the paper gives ZeRO in its text, not as a row
    else:
        table = rlmkb.table(feature.cost_row.table).as_dict()
        assert feature.cost_row.table == ("VII" if within else "IX")
        assert feature.cost_row.row in {row["row"] for row in table["rows"]}
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    assert feature.chapter in {chapter["file"] for part in toc["parts"] for chapter in part["chapters"]}


def test_questions_differ_and_texts_are_sentences():
    assert len({feature.question for feature in ENTRIES.values()}) == len(FEATURES)
    for id, feature in ENTRIES.items():
        assert feature.question.endswith("?"), id
        texts = (feature.definition, feature.how_to_tell.yes, feature.how_to_tell.no, *feature.partial_when)
        assert all(text.endswith(".") for text in (*texts, feature.performance.says)), id
        assert feature.performance.says.count(".") <= 3, id


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("id: DP", "id: dp"), 'id is "dp"; allowed: DP, Z1'),
        (("group: intra_model", "group: both"), 'group is "both"'),
        (("question:", "questions:"), "question is missing"),
        (("partial_when:", "partial_when: []\nwhen:"), "partial_when"),
        (('  "no":', '  "never":'), "how_to_tell.no is missing"),
        (("[work, memory]", "[money]"), 'performance.changes.0 is "money"'),
        (("table: VII", "table: XII"), 'cost_row.table is "XII"'),
        (("row: data", "row: date"), 'cost_row.row is "date"'),
        (("chapter: book/", "chapter: "), "chapter is"),
    ],
)
def test_a_broken_feature_is_refused(change, words, tmp_path):
    text = data_path("features", "DP.yml").read_text(encoding="utf-8")
    assert change[0] in text
    path = tmp_path / "DP.yml"
    path.write_text(text.replace(*change), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_entry(path, SCHEMA)
    assert words in str(caught.value)
