"""Entries of the catalogue and reference pages, looked at as `test_pages.py` looks at chapters."""

import pytest

import guards

PAGES = [page for page in guards.toc_pages() if page.startswith(("book/reference/", "data/"))]


@pytest.mark.parametrize("name", [*PAGES, "search", "404"])
def test_page(examined, name):
    assert not examined(name)
