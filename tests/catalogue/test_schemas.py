"""JSON Schemas and the reference of fields: current, described, and in agreement with the reader."""

import jsonschema
import pytest

from rlmkb.catalogue import KINDS, schema_of
from rlmkb.catalogue.problems import RULES, rules_markdown
from rlmkb.catalogue.schemas import json_schema, reference_rows, schema_reference, schema_text, write_schemas
from rlmkb.catalogue.syntax import content, parse
from rlmkb.data import data_path
from rlmkb.errors import InputError


@pytest.mark.parametrize("kind", KINDS)
def test_the_committed_schema_is_current(kind):
    committed = data_path("schema", f"{kind}.schema.json").read_text(encoding="utf-8")
    assert committed == schema_text(kind), "run: python -m rlmkb.catalogue.schemas"


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_a_schema_and_accepts_every_entry(kind):
    schema = json_schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for path in data_path(kind).glob("*.yml"):
        tree, _ = parse(path.read_text(encoding="utf-8"), path.name)
        validator.validate(content(tree))


def test_it_refuses_what_the_reader_refuses():
    validator = jsonschema.Draft202012Validator(json_schema("models"))
    tree, _ = parse(data_path("models", "phi-4.yml").read_text(encoding="utf-8"), "x")
    for change in ({"access": "opne"}, {"scale": 14}, {"licence": "mit"}, {"evidence": []}, {"id": "Phi 4"}):
        assert list(validator.iter_errors(content(tree) | change)), change


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_says_what_it_means(kind):
    rows = reference_rows(kind)
    assert [key for key, _, _, meaning in rows if not meaning and key.split(".")[-1] not in TAGS] == []
    assert [row[0] for row in rows if "." not in row[0]] == list(schema_of(kind).model_fields)


TAGS = {"edit", "effect", "kind"}  # words that tell the members of a union apart


def test_the_reference_is_a_table():
    lines = schema_reference("hardware").splitlines()
    assert lines[0] == "| key | | value | meaning |"
    assert len({line.count("|") for line in lines}) == 1
    assert "| `dense_peak.bf16` | needed | number; or null | " in schema_reference("hardware")
    with pytest.raises(InputError, match="not a kind"):
        schema_reference("x")


def test_schemas_are_written_where_one_asks(tmp_path):
    paths = write_schemas(tmp_path / "schema")
    assert sorted(path.name for path in paths) == sorted(f"{kind}.schema.json" for kind in KINDS)


def test_rules_as_a_table():
    assert len(rules_markdown().splitlines()) == len(RULES) + 2
