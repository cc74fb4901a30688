"""Questions to the catalogue, and the forms of the answers."""

import csv
import io
import json

import pytest

import rlmkb
from rlmkb.catalogue import KINDS, entries, export, list_entries, show
from rlmkb.catalogue.queries import ALL_KINDS, as_csv, conditions, kinds_of
from rlmkb.errors import InputError


def ids(kind, **where):
    conditions = {key.replace("__", "."): value for key, value in where.items()}
    return [found["id"] for found in list_entries(kind, conditions)]


@pytest.mark.parametrize("kind", KINDS)
def test_everything_of_a_kind_sorted_by_id(kind):
    assert ids(kind) == sorted(entries(kind))


def test_conditions_go_together():
    both = set(ids("frameworks", stage_fusion="yes")) & set(ids("frameworks", license="Apache-2.0"))
    assert set(ids("frameworks", stage_fusion="yes", license="Apache-2.0")) == both
    assert ids("frameworks", **{"async": "yes|partial"}) == sorted(
        set(ids("frameworks", **{"async": "yes"})) | set(ids("frameworks", **{"async": "partial"}))
    )


def test_a_feature_can_be_named_in_three_ways():
    for key in ("features__EP", "features__EP__state"):
        assert ids("frameworks", **{key: "no"}) == ids("frameworks", EP="no")


def test_nested_keys_lists_numbers_and_truth():
    assert "deepseek-r1" in ids("models", signal__feedback="rlvr")
    assert "deepseek-r1" in ids("models", architectures="deepseek-r1")
    assert "qwen3-0.6b" in ids("architectures", tied_embeddings="yes")
    assert ids("architectures", tied_embeddings="true") == ids("architectures", tied_embeddings="yes")
    racks = ids("hardware", scale_up__domain="72")
    assert {"gb200-per-gpu-nvl72", "gb300-per-gpu-nvl72"} <= set(racks)
    assert "h100-sxm5-80gb" not in racks
    assert ids("hardware", dense_peak__bf16="989", vendor="nvidia")


def test_what_none_has_together_or_as_a_number_is_no_mistake():
    assert ids("hardware", memory_gb="7") == []
    assert ids("models", access="closed", structure="dense", organisation="Reka AI") == []
    assert ids("models", license="null")


def test_measurements_are_rows_with_numbers():
    found = list_entries("measurements", {"table": "refit", "model": "Qwen3-4B"})
    assert found[0]["id"] == "refit-0001"
    assert {row["table"] for row in found} == {"refit"}
    steps = list_entries("measurements", {"table": "rl_steps"})
    assert steps[0]["gpus_total"] == 16
    assert isinstance(steps[0]["step_s"], float)
    assert len({row["id"] for row in list_entries("measurements")}) == len(list_entries("measurements"))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: list_entries("model"), "'model' is not a kind of the catalogue; allowed: models, "),
        (lambda: ids("models", acces="open_weights"), "'acces', which models do not have; allowed: access, "),
        (lambda: ids("models", access="opn_weights"), "access=opn_weights: not one of its words; allowed: open"),
        (lambda: ids("frameworks", asinc="yes"), "allowed: async, "),
        (lambda: ids("frameworks", **{"async": "maybe"}), "allowed: yes, partial, no, unknown, not_applicable"),
        (lambda: ids("models", signal__famly="x"), "allowed: family, "),
        (lambda: ids("models", name__x="x"), "name has no keys"),
        (lambda: ids("measurements", gpuu="x"), "allowed: gpu, "),
        (lambda: list_entries("measurements", {"kind": "1"}), "kind=1: no entry of measurements has that; allowed: "),
        (lambda: list_entries("measurements", {"kind": "trainin"}), "allowed: training, "),
        (lambda: ids("frameworks", features__DP__evidence__url="x"), "of frameworks has that; allowed: https:"),
        (lambda: ids("models", organisation="Microsof"), "allowed: Microsoft, "),
        (lambda: ids("models", id="phi3|phi-4"), "id=phi3: no entry of models has that; allowed: phi-3"),
        (lambda: conditions("a"), "give KEY=VALUE"),
        (lambda: conditions("a=1,,b=2"), "give KEY=VALUE"),
        (lambda: conditions("a=1,a=2"), "twice"),
        (lambda: show("verll"), "nearest: verl"),
        (lambda: show("models/verl"), "not in the catalogue of models"),
        (lambda: show("model/verl"), "'model' is not a kind"),
        (lambda: show("../frameworks/verl"), "not a kind"),
    ],
)
def test_a_wrong_question_gets_the_nearest_right_ones(call, words):
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_entry_is_shown_as_loaded():
    cell = show("verl")["features"]["DP"]
    assert list(cell)[:2] == ["state", "note"]
    assert cell["state"] == "yes"
    assert {"url", "says"} <= set(cell["evidence"][0])
    assert {"on", "version"} <= set(cell["verified"])
    assert show("DP")["group"] == "intra_model"
    assert show("refit-0001")["table"] == "refit"


def test_an_id_that_two_kinds_have():
    assert kinds_of("deepseek-r1") == ["models", "architectures"]
    assert "signal" in show("deepseek-r1")
    assert "d_model" in show("architectures/deepseek-r1")


def test_everything_as_one_document(tmp_path):
    document = export(tmp_path / "all.json")
    assert list(document) == ["rlmkb", *ALL_KINDS]
    assert json.loads((tmp_path / "all.json").read_text(encoding="utf-8")) == document
    assert document["models"] == list_entries("models")
    with pytest.raises(InputError, match="cannot be written"):
        export(tmp_path / "no" / "all.json")


def test_csv_keeps_every_entry_and_nests_with_full_stops():
    text = as_csv(list_entries("frameworks"))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["id"] for row in rows] == ids("frameworks")
    assert {row["features.async.state"] for row in rows} <= {"yes", "partial", "no", "unknown", "not_applicable"}
    assert json.loads(rows[0]["features.DP.evidence"])[0]["url"].startswith("https://")


def test_it_is_all_plain_python_too():
    assert rlmkb.catalogue.list_entries is list_entries
    with pytest.raises(AttributeError, match="it has: KINDS"):
        rlmkb.catalogue.lst  # noqa: B018
