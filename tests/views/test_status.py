"""Counts of the book, and the files that it offers."""

import json

from rlmkb.views import downloads
from rlmkb.views.status import code_cells, count_tests


def test_tests_are_counted(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "test_a.py").write_text("def test_one(): ...\nclass A:\n    def test_two(self): ...\n")
    (tmp_path / "deep" / "test_b.py").write_text("def test_three():\n    text = 'def test_no'\n")
    (tmp_path / "other.py").write_text("def test_four(): ...\n")
    assert count_tests(tmp_path) == 3


def test_cells_of_code_are_counted(tmp_path):
    kinds = ["markdown", "code", "code", "raw"]
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": [{"cell_type": kind, "source": ["# Title"]} for kind in kinds]}))
    assert code_cells([path, path]) == 4
    assert downloads.title(path) == "Title"
    html = downloads.notebooks_html([("book/a", path)], lambda name: f"x/{name}.ipynb")
    assert '<a href="x/book/a.ipynb" download>a.ipynb</a>' in html
