"""Rules that every page, the table of contents and the configuration must keep; each closes a silent trap.

    python .ci/guards.py        print every breach, exit 1 if there is one

Jupyter Book accepts misspelt keys and pages that no one lists; nbval accepts a notebook that was never run. The
functions take plain data or a folder and return one line per breach, so the tests can hand them broken examples.
"""

import ast
import difflib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
MAX_CELL_LINES = 20
ALLOWED_TAGS = {
    "hide-input", "hide-output", "hide-cell", "remove-input", "remove-output", "full-width", "margin",
    "raises-exception", "nbval-ignore-output",
}  # fmt: skip
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "pygments_lexer": "ipython3"},
}
NETWORK = {"requests", "urllib", "urllib3", "httpx", "aiohttp", "socket", "http", "ftplib", "huggingface_hub"}
ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,}")
BARE_OBJECT = re.compile(r"^\[?<.*>\]?$|^alt\.\w+Chart\(|^alt\.Chart\(", re.DOTALL)
NUMPY_SCALAR = re.compile(r"\bnp\.(float|int|bool|str)\w*\(")
BARE_REPOSITORY = re.compile(r"\]\((https?://github\.com/[^/\s)]+/[^/\s)]+?)/?\)")
FILE_NAME = re.compile(r"^(\.{1,2}/|~/|/\w)|\.(csv|json|ya?ml|txt|npz?|parquet|ipynb|bib|md|py|svg|png)$")
SKIPPED = {"_ext", "_static", "_build", ".ipynb_checkpoints"}


def all_problems(root: Path = ROOT) -> list[str]:
    """Every breach of the repository, one line each."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    found = config_problems(config) + toc_problems(root)
    for path in _pages(root):
        problems = [*(notebook_problems(path) if path.suffix == ".ipynb" else []), *link_problems(path)]
        found += [f"{path.relative_to(root).as_posix()}: {line}" for line in problems]
    return found


def notebooks(root: Path = ROOT) -> list[Path]:
    """The notebooks of the book."""
    return [path for path in _pages(root) if path.suffix == ".ipynb"]


# --- text ------------------------------------------------------------------------------------------------------------


def link_problems(path: Path) -> list[str]:
    """Links in a page's text that name a repository and nothing in it: no reader can check a figure there."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        try:
            cells = json.loads(text)["cells"]
        except (ValueError, KeyError):
            return []  # `notebook_problems` says so
        text = "\n".join(_text(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return [f"links to {link} as a whole; name commit and file" for link in BARE_REPOSITORY.findall(text)]


# --- notebooks -------------------------------------------------------------------------------------------------------


def notebook_problems(path: Path) -> list[str]:
    """Breaches in one notebook, each with the number of the code cell, counted from 1."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    except (ValueError, KeyError) as error:
        return [f"not a notebook ({error})"]
    found = list(_format_problems(notebook))
    if not cells:
        found.append("has no code cell; write the page as .md")
    if cells and not any(_compared(cell) for cell in cells):
        found.append("no output is compared; show at least one result")
    unrun = [number for number, cell in enumerate(cells, start=1) if cell.get("execution_count") != number]
    if unrun:
        found.append(f"was not executed from top to bottom (code cells {unrun}); run `make execute`")
    for number, cell in enumerate(cells, start=1):
        found += [f"code cell {number}: {line}" for line in _cell_problems(cell)]
    return found


def _format_problems(notebook: dict) -> Iterator[str]:
    if (notebook.get("nbformat"), notebook.get("nbformat_minor")) != (4, 5):
        yield "is not in format 4.5; run `make execute`"
    if notebook.get("metadata") != METADATA:
        yield "metadata is not in the common form (kernel, versions, timestamps); run `make execute`"
    ids = [cell.get("id") for cell in notebook["cells"]]
    if None in ids or len(set(ids)) != len(ids):
        yield "cell ids are missing or repeated; run `make execute`"


def _cell_problems(cell: dict) -> Iterator[str]:
    source, outputs = _text(cell["source"]), cell.get("outputs", [])
    yield from _tag_problems(cell)
    if not source.strip():
        yield "is empty; delete it"
        return
    if len(source.splitlines()) > MAX_CELL_LINES:
        yield f"has {len(source.splitlines())} lines, at most {MAX_CELL_LINES} are allowed; move code to rlmkb or split"
    yield from _source_problems(source)
    for output in outputs:
        yield from _output_problems(output, tags=_tags(cell))


def _tag_problems(cell: dict) -> Iterator[str]:
    unknown = cell["metadata"].keys() - {"tags"}
    if unknown:
        yield f"has metadata {sorted(unknown)}; run `make execute`"
    for tag in sorted(_tags(cell) - ALLOWED_TAGS):
        yield f"tag {tag!r} is not one of {sorted(ALLOWED_TAGS)}"
    source = _text(cell["source"])
    if "nbval-ignore-output" in _tags(cell) and "# not compared:" not in source:
        yield "tag 'nbval-ignore-output' needs a comment `# not compared: reason`"
    if re.search(r"^\s*#\s*(NBVAL_|PYTEST_VALIDATE)", source, re.MULTILINE):
        yield "a comment switches off the comparison; use a tag, with its reason"


def _source_problems(source: str) -> Iterator[str]:
    """What would not run elsewhere: shell commands, files, the network, an edited search path."""
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        yield f"is not plain Python ({error.msg}); magics and shell commands are not allowed"
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
            for name in names:
                if name.split(".")[0] in NETWORK:
                    yield f"imports {name}; a chapter must run without a network"
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if re.match(r"https?://", node.value):
                yield f"names {node.value!r}; a chapter must run without a network"
            elif FILE_NAME.search(node.value) and " " not in node.value:
                yield f"names the file {node.value!r}; use rlmkb.data.data_path, not a path"
        if isinstance(node, ast.Name) and node.id == "open":
            yield "opens a file; use the functions of rlmkb"
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.path":
            yield "edits sys.path; rlmkb is installed"


def _output_problems(output: dict, tags: set[str]) -> Iterator[str]:
    kind = output["output_type"]
    if kind == "error" and "raises-exception" not in tags:
        yield f"failed: {output.get('ename')}: {output.get('evalue')}"
    if kind == "stream" and output.get("name") == "stderr":
        first = (_text(output["text"]).strip().splitlines() or [""])[0]
        yield f"wrote to stderr ({first[:60]!r}); mend the warning"
    data = output.get("data", {})
    plain = _text(data.get("text/plain", output.get("text", "")))
    if ADDRESS.search(plain):
        yield "shows a memory address, which differs in every run; end the cell with something meant to be read"
    elif data.keys() == {"text/plain"} and BARE_OBJECT.search(plain.strip()):
        yield f"shows a bare object ({plain.strip()[:40]!r}); end the cell with `;` or show something readable"
    if NUMPY_SCALAR.search(plain):
        yield "shows a NumPy scalar's type; convert it with float() or int(), or format it"


def _compared(cell: dict) -> bool:
    return bool(cell.get("outputs")) and "nbval-ignore-output" not in _tags(cell)


def _tags(cell: dict) -> set[str]:
    return set(cell["metadata"].get("tags", []))


def _text(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)


# --- table of contents -----------------------------------------------------------------------------------------------


def toc_problems(root: Path = ROOT) -> list[str]:
    """Pages that are listed but missing, listed twice, or present but not listed."""
    listed = toc_pages(root)
    names = [path.relative_to(root).with_suffix("").as_posix() for path in _pages(root)]
    present = {*names, *(name for name in listed if (root / f"{name}.yml").is_file())}
    found = [f"_toc.yml: {name} has no .md or .ipynb file" for name in listed if name not in present]
    found += [f"_toc.yml: {name} is listed twice" for name in sorted(set(listed)) if listed.count(name) > 1]
    found += [f"{name} exists as .md and as .ipynb" for name in sorted(set(names)) if names.count(name) > 1]
    return found + [f"_toc.yml: {name} is not listed, so it would not be built" for name in sorted(present - {*listed})]


def toc_pages(root: Path = ROOT) -> list[str]:
    """Page names of `_toc.yml`, in reading order."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    return [toc["root"], *_toc_files(toc, root)]


def _toc_files(node: dict | list, root: Path) -> Iterator[str]:
    if isinstance(node, dict):
        if "file" in node:
            yield node["file"]
        if "glob" in node:
            yield from _entries(node["glob"], root)
        node = [value for key, value in node.items() if key not in ("file", "glob")]
    if isinstance(node, list):
        for child in node:
            yield from _toc_files(child, root)


def _entries(pattern: str, root: Path) -> list[str]:
    """Entries of the catalogue that are pages, as a pattern of `_toc.yml` names them."""
    return sorted(path.relative_to(root).with_suffix("").as_posix() for path in root.glob(f"{pattern}.yml"))


def _pages(root: Path) -> list[Path]:
    return [
        path
        for path in sorted((root / "book").rglob("*"))
        if path.suffix in {".md", ".ipynb"} and not SKIPPED & set(path.relative_to(root).parts)
    ]


# --- configuration ---------------------------------------------------------------------------------------------------


def config_problems(config: dict) -> list[str]:
    """Keys of `_config.yml` that Jupyter Book does not know and would ignore without a word.

    Keys below `sphinx: config:` and theme options are left to Sphinx, which warns about each unknown one.
    """
    found = list(_unknown_keys(config, _known_keys(), ""))
    context = config.get("sphinx", {}).get("config", {}).get("html_context", {})
    return found + list(_unknown_keys(context, {"default_mode": {}}, "sphinx: config: html_context: "))


def _unknown_keys(config: dict, known: dict, where: str) -> Iterator[str]:
    for key, value in config.items():
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; known are {sorted(known)}"
            yield f"_config.yml: {where}{key} is not a key of Jupyter Book{hint}"
        elif isinstance(value, dict) and known[key]:
            yield from _unknown_keys(value, known[key], f"{where}{key}: ")


def _known_keys() -> dict:
    """The keys of Jupyter Book's default configuration and of its JSON Schema, nested; {} accepts anything below."""
    import jupyter_book

    package = Path(jupyter_book.__file__).parent
    known = _nested(yaml.safe_load((package / "default_config.yml").read_text(encoding="utf-8")))
    schema = json.loads((package / "config_schema.json").read_text(encoding="utf-8"))
    _merge(known, _schema_keys(schema))
    return known


def _nested(default: dict) -> dict:
    return {key: _nested(value) if isinstance(value, dict) else {} for key, value in default.items()}


def _schema_keys(schema: dict) -> dict:
    return {key: _schema_keys(child) for key, child in schema.get("properties", {}).items()}


def _merge(target: dict, other: dict) -> None:
    for key, value in other.items():
        _merge(target.setdefault(key, {}), value)


def report(problems: Iterable[str]) -> int:
    """Print the breaches on standard error; 1 if there is one, else 0."""
    problems = list(problems)
    for line in problems:
        print(f"error: {line}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(report(all_problems()))
