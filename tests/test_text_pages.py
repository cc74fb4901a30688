"""Code shown on the text pages of the book runs, and gives what the comment under it says."""

import ast
import re
from pathlib import Path

import pytest

BOOK = Path(__file__).resolve().parents[1] / "book"
BLOCKS = {
    f"{page.relative_to(BOOK)}:{number}": block
    for page in sorted(BOOK.rglob("*.md"))
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S), 1)
}


@pytest.mark.parametrize("name", BLOCKS)
def test_code_gives_what_its_comment_says(name):
    block, names, checked = BLOCKS[name], {}, 0
    lines = block.splitlines()
    for statement in ast.parse(block).body:
        source = ast.get_source_segment(block, statement)
        if not isinstance(statement, ast.Expr):
            exec(source, names)
            continue
        following = lines[statement.end_lineno : statement.end_lineno + 1]
        assert following, f"{source} has no comment that shows its value"
        assert f"# {eval(source, names)!r}" == following[0]
        checked += 1
    assert checked
