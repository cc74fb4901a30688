"""`.ci/book.py`: nothing is built twice, nothing stale stays, and a red build stays red."""

import shutil

import pytest
import yaml

import book
import guards

pytestmark = pytest.mark.slow  # each builds a small site


@pytest.fixture
def root(tmp_path):
    """A small book with the configuration and extension of the real one."""
    for name in ("_config.yml", "data/references.bib", "book/_ext", "book/_templates"):
        source, target = guards.ROOT / name, tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    (tmp_path / "book" / "_static").mkdir()
    for name in ("favicon.svg", "logo.svg", "logo-dark.svg", "design.css", "book.css", "figures.css", "frame.css"):
        shutil.copy(guards.ROOT / "book" / "_static" / name, tmp_path / "book" / "_static")
    (tmp_path / "_toc.yml").write_text(yaml.safe_dump({"format": "jb-book", "root": "book/index"}))
    (tmp_path / "book" / "index.md").write_text("# Book\n\nWords, and [a link](repo:issues).\n")
    return tmp_path


def page(root):
    return root / "_build" / "html" / "book" / "index.html"


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_built_once_then_only_after_a_change(root, capsys):
    assert book.build(root) == 0
    built = page(root).stat().st_mtime_ns
    address = yaml.safe_load((root / "_config.yml").read_text())["repository"]["url"]
    assert f'href="{address}/issues"' in page(root).read_text()
    assert book.build(root) == 0
    assert page(root).stat().st_mtime_ns == built
    assert "up to date" in capsys.readouterr().out
    edit(root / "data" / "references.bib", "2026", "2027")
    assert not book.is_current(root)
    assert book.build(root) == 0
    assert page(root).stat().st_mtime_ns > built


@pytest.mark.parametrize("lost", ["book/index.html", "search.html"])
def test_a_lost_or_edited_page_is_built_again(root, lost):
    assert book.build(root) == 0
    (root / "_build" / "html" / lost).unlink()
    assert not book.is_current(root)
    assert book.build(root) == 0
    edit(root / "_build" / "html" / lost, "</html>", "")
    assert not book.is_current(root)


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        ("book/index.md", "Words", "Words [lost](nowhere.md)", "nowhere"),
        ("book/index.md", "Words", "```{diagram} pipelin\n```", "'pipelin'; there are: pipeline,"),
        ("book/index.md", "Words", "{cite:t}`nobody2026nothing`", "nobody2026nothing"),
        ("_config.yml", "language: en", "langage: en", "langage"),
        ("_config.yml", "show_toc_level", "show_toc_levl", "show_toc_levl"),
        ("_config.yml", "only_build_toc_files", "only_build_toc_file", "only_build_toc_file"),
        ("_toc.yml", "root: book/index", "root: book/index\nchapters: [{file: book/gone}]", "book/gone"),
    ],
)
def test_a_red_build_stays_red(root, capfd, name, old, new, told):
    edit(root / name, old, new)
    for _ in range(2):
        assert book.build(root) == 1
        assert told in capfd.readouterr().err
    assert not book.is_current(root)
