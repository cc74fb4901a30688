"""Text comes out escaped, numbers short, tables complete."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlmkb.errors import InputError
from rlmkb.views import markup

SCRIPT = "<script>alert('x')</script>"


class Tags(HTMLParser):
    """The tags, row lengths and text of some markup."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data


@settings(max_examples=50)
@given(st.text())
def test_text_never_becomes_a_tag(text):
    read = Tags(markup.text_html(text))
    assert set(read.tags) <= {"span"}
    assert "$" in text or read.text == text


@pytest.mark.parametrize("place", ["column", "row", "cell", "name", "caption", "group"])
def test_a_table_escapes_text_wherever_it_stands(place):
    given = {key: SCRIPT if key == place else "x" for key in ("column", "row", "cell", "name", "caption", "group")}
    table = markup.table_html(
        ["first", given["column"]],
        groups=[(given["group"], [[given["row"], given["cell"]]])],
        name=given["name"],
        caption=given["caption"],
    )
    assert "<script" not in table
    assert "&lt;script&gt;" in table


@pytest.mark.parametrize(
    "piece",
    [
        markup.chip("policy", SCRIPT),
        markup.code(SCRIPT),
        markup.small(SCRIPT),
        markup.prose(SCRIPT),
        markup.link('https://example.org/"><script>', SCRIPT, SCRIPT),
    ],
)
def test_every_piece_escapes_its_text(piece):
    assert "<script" not in piece.text


def test_mathematics_is_marked_as_sphinx_marks_it():
    assert markup.text_html("cost $a<b$ each") == (
        'cost <span class="math notranslate nohighlight">\\(a&lt;b\\)</span> each'
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (999_999, "999\u202f999"),
        (1_000_000, "1 × 10<sup>6</sup>"),
        (8_030_261_248, "8.03 × 10<sup>9</sup>"),
        (0.000123456, "1.235 × 10<sup>−4</sup>"),
        (-2.5, "−2.5"),
        (0.25, "0.25"),
        (3.14159, "3.142"),
        (0.0123456, "0.01235"),
        (1234.5678, "1\u202f235"),
        (0.0, "0"),
    ],
)
def test_numbers_have_four_significant_digits(value, shown):
    assert markup.number_html(value) == shown


@settings(max_examples=50)
@given(st.floats(min_value=1e-3, max_value=1e6) | st.floats(min_value=1e-30, max_value=1e30))
def test_a_shown_number_is_within_half_a_unit_of_its_last_digit(value):
    shown = markup.number_html(value).replace("\u202f", "").replace("−", "-")
    power = re.fullmatch(r"([\d.]+) × 10<sup>(-?\d+)</sup>", shown)
    read = float(f"{power[1]}e{power[2]}") if power else float(shown)
    assert read == pytest.approx(value, rel=5.1e-4)


def test_what_is_no_number_is_shown_as_missing():
    for value in (None, "", float("nan"), float("inf")):
        assert 'aria-label="none"' in markup.cell_html(value)


def test_a_column_of_numbers_is_set_as_one():
    table = markup.table_html(["x", "n", "mixed"], [["a", 1, 1], ["b", None, "many"]], name="Example")
    assert table.count('class="num"') == 3
    assert Tags(table).tags.count("td") == 4


def test_rows_of_the_wrong_length_are_an_error():
    with pytest.raises(ValueError, match="zip"):
        markup.table_html(["a", "b"], [["x"]], name="Example")


def test_a_chip_needs_a_colour():
    assert 'class="rl-chip rl-reward"' in markup.chip("cost_model").text
    with pytest.raises(InputError, match="policy"):
        markup.chip("polcy")
