"""Reading the catalogue: strict types, safe YAML, and one line that says file, line and what is allowed."""

import time
from pathlib import Path
from typing import Literal

import pytest
from pydantic import ValidationError

from rlmkb.catalogue import KINDS, entries, entry, read_folder
from rlmkb.catalogue.architectures import SCHEMA
from rlmkb.catalogue.loading import Entry, Facts, Many, Size, read_entry
from rlmkb.data import data_path
from rlmkb.errors import InputError


class Wheel(Facts):
    spokes: Size
    tyre: Literal["narrow", "wide"] = "narrow"


class Cart(Entry):
    """A small kind to try the loader on."""

    label: str | None = None
    weight: float | None = None
    wheels: Many[Wheel] = ()
    front: Wheel | None = None


GOOD = 'id: "cart-1"\nname: "Cart 1"\n'


def read(tmp_path, text, name="cart-1"):
    path = tmp_path / f"{name}.yml"
    path.write_text(text, encoding="utf-8")
    return read_entry(path, Cart)


def test_an_entry_is_typed_and_frozen(tmp_path):
    cart = read(tmp_path, GOOD + "wheels:\n  - {spokes: 8}\n")
    assert cart.wheels[0] == Wheel(spokes=8, tyre="narrow")
    with pytest.raises(ValidationError, match="frozen"):
        cart.name = "other"


def test_plain_words_mean_what_they_say(tmp_path):
    """YAML 1.1 would read a truth value, a number of seconds, a date and 1000."""
    for text in ("no", "12:30", "2024-02-05", "1_000", "0o10", "0x1F"):
        assert read(tmp_path, GOOD + f"label: {text}\n").label == text
    assert read(tmp_path, GOOD + "weight: 1e9\n").weight == 1e9
    assert read(tmp_path, GOOD + "label: null\n").label is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD + "label: 1.10\n", ":3: label is 1.10; allowed: text"),
        (GOOD + "weight: heavy\n", ':3: weight is "heavy"; allowed: a number'),
        (GOOD + "front:\n  spokes: 0\n", ":4: front.spokes is 0; allowed: at least 1"),
        (GOOD + 'front:\n  spokes: "8"\n', ':4: front.spokes is "8"; allowed: a whole number'),
        (GOOD + "front:\n  spokes: true\n", ":4: front.spokes is true; allowed: a whole number"),
        (GOOD + "front:\n  spokes: 8.0\n", ":4: front.spokes is 8.0; allowed: a whole number"),
        (GOOD + "front:\n  tyre: wide\n", ":3: front.spokes is missing"),
        (GOOD + "front:\n  spokes: 8\n  tyre: flat\n", ':5: front.tyre is "flat"; allowed: narrow, wide'),
        (GOOD + "front:\n  spoke: 8\n", ":3: front.spokes is missing (and 1 more)"),
        (GOOD + "wheels:\n  - spokes: 8\n  - spokes: -1\n", ":5: wheels.1.spokes is -1"),
        (GOOD + "lable: x\n", ":3: lable is not a known key; allowed: label, "),
        (GOOD + "front: {spokes: 8, tire: wide}\n", ":3: front.tire is not a known key; allowed: tyre, spokes"),
        ('name: "Cart"\n', ":1: id is missing"),
        ('id: "cart-2"\nname: "Cart"\n', ":1: id is 'cart-2'; allowed: the file's name, 'cart-1'"),
        (GOOD + 'name: "again"\n', ":3: key 'name' appears twice"),
        (GOOD + "wheels:\n  - &a {spokes: 8}\n  - *a\n", ":4: anchor or alias 'a'"),
        (GOOD + "label: !!python/name:os.system x\n", ":3: tag '!!python/name:os.system'"),
        (GOOD + "label: 'open\n", ":4: found unexpected end of stream"),
        (GOOD + "1: x\n", ":3: key 1 is not text"),
        ("- a\n", ":1: the file is not a mapping"),
        ("", ":1: the file is not a mapping"),
        ("a: b\n---\nc: d\n", ":2: but found another document"),
    ],
)
def test_a_wrong_file_gets_one_line(text, words, tmp_path):
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert words in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "cart-1.yml"))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_text(tmp_path):
    (tmp_path / "cart-1.yml").write_bytes(b"\xff\xfe")
    for name in ("cart-1", "cart-9"):
        with pytest.raises(InputError, match="cannot be read as YAML"):
            read_entry(tmp_path / f"{name}.yml", Cart)


def test_an_unknown_kind_or_id_gets_the_nearest_ones():
    with pytest.raises(InputError, match="'architecture' is not a kind of the catalogue; allowed: architectures"):
        entries("architecture")
    with pytest.raises(InputError, match=r"'qwen-2\.5-7b' is not in data/architectures; nearest of .*: qwen2\.5-7b"):
        entry("architectures", "qwen-2.5-7b")


@pytest.mark.parametrize("kind", KINDS)
def test_every_file_of_the_catalogue_is_read(kind):
    found = entries(kind)
    assert list(found) == sorted(path.stem for path in data_path(kind).iterdir())
    assert all(found[id] == entry(kind, id) for id in list(found)[:3])


def test_all_architectures_are_read_in_half_a_second():
    start = time.perf_counter()
    read_folder(data_path("architectures"), SCHEMA)
    assert time.perf_counter() - start < 0.5


def test_files_hold_facts_in_the_order_of_the_schema():
    """Keys in one order, text quoted, nothing that equals a default."""
    listed = (Path(__file__).parents[1] / "architecture" / "expected_counts.csv").read_text(encoding="utf-8")
    for path in data_path("architectures").glob("*.yml"):
        if f"\n{path.stem}," not in listed:
            continue  # one that came later only passes the check
        lines = path.read_text(encoding="utf-8").splitlines()
        keys = [line.split(":")[0] for line in lines if line[0].isalpha()]
        assert keys == [name for name in _order() if name in keys], path.name
        values = [line.split(": ", 1)[1] for line in lines if ": " in line and not line.lstrip().startswith("-")]
        assert all(value[0] in '"0123456789' or value in ("true", "false") for value in values), path.name


def _order():
    own = list(SCHEMA.__annotations__)
    return ["id", "name", *own]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("kv_heads: 8", "kv_heads: 5"), "kv_heads that divide heads (32), not 5"),
        (("  width: 14336\n", ""), "feed_forward.width, as some layers are dense"),
        (("layers: 32", 'pattern: "M*-"\nlayers: 32'), "a pattern with one letter for each of 32 layers, not 3"),
        (('kind: "grouped"', 'kind: "grouped"\n  q_rank: 3'), "attention.q_rank is not a known key; allowed: "),
        (('  kind: "grouped"\n', ""), "attention.kind is missing"),
        (('kind: "grouped"', 'kind: "linear"'), 'attention.kind is "linear"; allowed: grouped, latent'),
    ],
)
def test_a_shape_that_does_not_fit_is_refused(change, words, tmp_path):
    text = data_path("architectures", "llama-3.1-8b.yml").read_text(encoding="utf-8")
    assert change[0] in text
    path = tmp_path / "llama-3.1-8b.yml"
    path.write_text(text.replace(*change), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_entry(path, SCHEMA)
    assert words in str(caught.value)
