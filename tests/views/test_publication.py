"""What the book says about itself: addresses, citations, previews."""

from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pybtex.database import parse_string

from rlmkb.errors import InputError
from rlmkb.views import design, publication

PERSON = {"family-names": "Besta", "given-names": "Maciej"}


@pytest.mark.parametrize("wrong", ["https://gitlab.com/a/b", "github.com/a/b", "https://github.com/a", ""])
def test_only_an_address_of_github_has_pages(wrong):
    with pytest.raises(InputError, match="OWNER/NAME"):
        publication.site_address(wrong)


def test_a_site_of_its_own_name_has_no_path():
    assert publication.site_address("https://github.com/Me/me.github.io/") == "https://me.github.io/"


@given(title=st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=40))
def test_an_issue_keeps_any_title(title):
    address = publication.issue_address("https://github.com/a/b", title, "https://x.org/?a=1&b=#c", "1.0")
    asked = parse_qs(urlsplit(address).query, strict_parsing=True)
    assert asked["title"] == [f"On “{title}”: "]
    assert asked["body"][0].startswith("Page: https://x.org/?a=1&b=#c\nVersion: 1.0\n")


@given(title=st.text("ab &%$#_~^\\{}", min_size=1, max_size=20))
def test_an_entry_can_be_read_by_bibtex_whatever_its_title(title):
    about = {"authors": [PERSON, {"name": "The rlmkb contributors"}], "version": "1.0"}
    text = publication.bibtex("book/part/page", title, "https://x.org/", about, "The book", "2026")
    ((key, entry),) = parse_string(text, "bibtex").entries.items()
    assert key == "rlmkb-part-page"
    assert [str(person) for person in entry.persons["author"]] == ["Besta, Maciej", "{The rlmkb contributors}"]


@given(text=st.text("ab ,;\n", max_size=60), length=st.integers(2, 30))
def test_a_shortened_line_fits(text, length):
    short = publication.shortened(text, length)
    assert len(short) <= length + 1
    assert "\n" not in short
    if len(" ".join(text.split())) <= length:
        assert short == " ".join(text.split())


def test_a_map_is_xml():
    from xml.etree import ElementTree

    found = ElementTree.fromstring(publication.sitemap(["https://x.org/a&b", "https://x.org/c"]))
    assert [url[0].text for url in found] == ["https://x.org/a&b", "https://x.org/c"]


def test_the_small_stylesheet_has_its_colours_in_both_modes_and_no_others():
    style = publication.small_stylesheet(design.css(), ["ink", "page"])
    for mode in design.MODES:
        assert design.tokens(mode)["ink"] in style
    assert "--rl-policy" not in style
    assert style.count("{") == style.count("}")
