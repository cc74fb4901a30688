"""The summary of a pull request: rows before and after, and nothing of an entry as markup."""

import re
import shutil
from html import unescape

import pytest
from markdown_it import MarkdownIt

from rlmkb.data import data_path
from rlmkb.views.catalogue import difference as module
from rlmkb.views.catalogue.difference import difference, main

NAME = "deepspeed-chat.yml"


@pytest.fixture
def folders(tmp_path):
    for name in ("before", "after"):
        (tmp_path / name / "frameworks").mkdir(parents=True)
        shutil.copy(data_path("frameworks", NAME), tmp_path / name / "frameworks" / NAME)
    return tmp_path / "before", tmp_path / "after"


def edit(folder, old, new):
    path = folder / "frameworks" / NAME
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_nothing_changed(folders):
    assert difference(*folders).startswith("## Catalogue: 0 entries changed\n\n**The check passes")


def test_a_changed_cell_is_shown_before_and_after(folders):
    edit(folders[1], 'Z2:\n    state: "yes"', "Z2:\n    state: partial\n    note: Slow, for want of overlap.")
    found = difference(*folders)
    assert "### frameworks\\/deepspeed\\-chat, changed" in found
    before, after = (
        next(line for line in found.splitlines() if line.startswith(f"| {name} |")) for name in ("before", "after")
    )
    assert before.count("● yes") - after.count("● yes") == 1
    assert after.count("◐ part") - before.count("◐ part") == 1
    assert "| features\\.Z2\\.state | yes | partial |" in found


def test_an_unknown_is_a_symbol_and_a_word(folders):
    path = folders[1] / "frameworks" / NAME
    text = path.read_text(encoding="utf-8")
    start, end = text.index("  Z2:\n"), text.index("  Z3:\n")
    path.write_text(f"{text[:start]}  Z2: {{state: unknown}}\n{text[end:]}", encoding="utf-8")
    after = next(line for line in difference(*folders).splitlines() if line.startswith("| after |"))
    assert "| ? unknown |" in unescape(MarkdownIt().renderInline(after))
    assert "? ?" not in after


@pytest.mark.parametrize(
    ("kind", "name", "old", "new", "columns", "before", "after"),
    [
        ("models", "glm-4.5", "structure: moe", "structure: dense", "structure", "moe", "dense"),
        ("hardware", "l4", "memory_gb: 24", "memory_gb: 48", "memory, GB", "24", "48"),
        ("algorithms", "simpo", "family: dpo", "family: ppo", "family", "dpo", "ppo"),
        ("architectures", "phi-4-14b", "max_context: 16384", "max_context: 32768", "layers", "40", "40"),
        ("features", "DP", "name: Data parallelism", "name: Data", "name", "Data parallelism", "Data"),
    ],
)
def test_every_kind_has_a_row_before_and_after(kind, name, old, new, columns, before, after, tmp_path):
    text = data_path(kind, f"{name}.yml").read_text(encoding="utf-8")
    assert old in text
    for folder, content in (("before", text), ("after", text.replace(old, new, 1))):
        path = tmp_path / folder / kind / f"{name}.yml"
        path.parent.mkdir(parents=True)
        path.write_text(content, encoding="utf-8")
    html = MarkdownIt().enable("table").render(difference(tmp_path / "before", tmp_path / "after"))
    table = unescape(html[html.index("<table>") : html.index("</table>")])
    names = re.findall(r"<th>(.*)</th>", table)
    rows = [re.findall(r"<td>(.*)</td>", row) for row in table.split("<tr>")[2:]]
    found = [dict(zip(names, row, strict=True)) for row in rows]
    assert [(row[""], row[columns]) for row in found] == [("before", before), ("after", after)]


def test_an_added_an_unreadable_and_a_removed_entry(folders):
    edit(folders[1], "id: deepspeed-chat", "id: [")
    broken = difference(*folders)
    assert "to mend" in broken
    assert "Cannot be read" in broken
    (folders[1] / "frameworks" / NAME).unlink()
    assert "removed" in difference(*folders)
    assert "added" in difference(*folders[::-1])


def test_text_of_an_entry_is_no_markup(folders):
    hostile = "<script>x</script> | `y` [z](javascript:x)"
    edit(folders[1], "name: DeepSpeed-Chat", f'name: "{hostile}"')
    html = MarkdownIt().enable("table").render(difference(*folders))
    elements = set(re.findall(r"<([a-z0-9]+)", html))
    assert elements <= {"h2", "h3", "p", "ul", "li", "strong", "em", "table", "thead", "tbody", "tr", "th", "td",
                        "details", "summary", "a"}  # fmt: skip
    assert unescape(html).count(hostile) == 1
    assert re.findall(r'href="(?!https://)', html) == []


def test_a_long_summary_ends_in_time(folders, monkeypatch):
    edit(folders[1], "name: DeepSpeed-Chat", "name: DSC")
    monkeypatch.setattr(module, "LONGEST", 10)
    assert "… and 1 more." in difference(*folders)


def test_the_command_prints_it(folders, capsys):
    assert main([str(folder) for folder in folders]) == 0
    assert capsys.readouterr().out.startswith("## Catalogue: 0 entries")
    assert main([]) == 2
