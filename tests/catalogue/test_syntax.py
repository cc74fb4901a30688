"""The tree of a YAML file: the same content as PyYAML reads, with places, and every breach told."""

import yaml
from hypothesis import given
from hypothesis import strategies as st

from rlmkb.catalogue.syntax import content, follow, parse, plain_value, raw_content, scalars

# behind a letter, because PyYAML leaves some words without quotes that YAML 1.2 takes for numbers
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=8).map("w{}".format)
DATA = st.recursive(
    WORDS | st.integers(-(10**9), 10**9) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=12,
)
TEXT = """\
# a comment
id: é
releases:
  - {version: "1.10", date: 2024-02-05}
  - version: 1.10
note: >-
  one
  two
"""


def codes(text):
    return [(problem.line, problem.code) for problem in parse(text, "x.yml")[1]]


@given(st.dictionaries(WORDS, DATA, max_size=4))
def test_it_reads_what_pyyaml_writes(data):
    tree, problems = parse(yaml.safe_dump(data, allow_unicode=True), "x.yml")
    assert problems == []
    assert content(tree) == data


def test_places_are_those_of_the_text():
    tree, problems = parse(TEXT, "x.yml")
    assert problems == []
    for _, word in scalars(tree):
        assert word.raw in TEXT[word.start : word.end] or ">-" in TEXT[word.start : word.end]
    assert follow(tree, ("releases", 1, "version"))[0] == 5
    assert follow(tree, ("releases", 1, "missing"))[0] == 5
    assert content(tree)["releases"] == [{"version": "1.10", "date": "2024-02-05"}, {"version": 1.1}]
    assert raw_content(tree)["releases"][1] == {"version": "1.10"}
    assert content(tree)["note"] == "one two"


def test_numbers_that_are_none():
    assert plain_value("9" * 60) == "9" * 60
    assert plain_value("1_000") == "1_000"
    assert plain_value(".5") == 0.5
    assert plain_value("-0") == 0


def test_all_breaches_are_told_at_once():
    assert codes("a: &x 1\nb: *x\na: 2\nc: !!str 3\n4: d\n") == [
        (1, "F109"), (2, "F109"), (3, "F112"), (4, "F110"), (5, "F113"),
    ]  # fmt: skip


def test_deep_nesting_is_refused_at_once():
    for text in ("[" * 100_000, "a: " + "{a: " * 5000, "- " * 3000, "\n".join(" " * n + "a:" for n in range(400))):
        assert [code for _, code in codes(text)][-1:] in (["F107"], ["F111"])


def test_other_ways_to_be_no_entry():
    assert codes("") == [(1, "F114")]
    assert codes("text") == [(1, "F114")]
    assert codes("a: b\n---\nc: d\n") == [(2, "F108")]
    assert codes("a: 'x\n") == [(2, "F107")]
    assert codes("? [a]\n: b\n") == [(1, "F113")]
    assert codes("a:\n\t- b\n") == [(2, "F107")]
