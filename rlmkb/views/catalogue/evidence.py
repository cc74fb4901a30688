"""The content of a cell: state, note, since when, where it can be seen, and who looked when."""

import re
from html import escape

from rlmkb.catalogue.frameworks import Cell, Evidence
from rlmkb.views.catalogue.states import state_html
from rlmkb.views.catalogue.text import external, items, paragraph, small

_FILE = re.compile(
    r"https://github\.com/(?P<project>[^/]+/[^/]+)/(?:blob|tree)/(?P<commit>[0-9a-f]{40})/?(?P<path>[^#]*)"
)
_LINES = re.compile(r"#L(\d+)(?:-L(\d+))?$")
_ARXIV = re.compile(r"https://arxiv\.org/abs/(.+)")


def cell_html(cell: Cell) -> str:
    """A cell in full, without a heading.

    Examples
    --------
    >>> cell_html(Cell(state="unknown"))
    '<p class="rl-answer"><span class="rl-state s-unknown">unknown</span></p>'
    """
    since = small(f"since {escape(cell.since)}") if cell.since else ""
    verified = cell.verified
    looked = f"Checked on {verified.on} against {escape(verified.version)}." if verified else ""
    tracker = f"What is missing is tracked in {external(cell.tracker, 'this issue')}." if cell.tracker else ""
    return (
        paragraph(state_html(cell.state) + since, "rl-answer")
        + paragraph(escape(cell.note or ""))
        + items(map(evidence_html, cell.evidence), "rl-evidence")
        + paragraph(" ".join(filter(None, (looked, tracker))), "rl-note")
    )


def evidence_html(evidence: Evidence) -> str:
    """What a source says, and where in it."""
    where = ", ".join(filter(None, (source_name(evidence.url), evidence.section)))
    second = '<b class="rl-flag">second-hand</b> ' if evidence.secondary else ""
    searched = f" Searched without success for <code>{escape(evidence.searched)}</code>." if evidence.searched else ""
    return f"{second}{escape(evidence.says)}{searched} {small(external(evidence.url, where))}"


def source_name(url: str) -> str:
    """A source as a reader knows it: project, file, lines and commit; or the paper; or the site.

    Examples
    --------
    >>> source_name("https://github.com/a/b/blob/0123456789012345678901234567890123456789/c/d.py#L1-L9")
    'a/b at 0123456, c/d.py, lines 1–9'
    >>> source_name("https://arxiv.org/abs/2409.19256")
    'arXiv:2409.19256'
    """
    file, paper = _FILE.match(url), _ARXIV.fullmatch(url)
    if file:
        lines = _LINES.search(url)
        parts = [f"{file['project']} at {file['commit'][:7]}", file["path"]]
        if lines:
            parts.append(f"lines {lines[1]}–{lines[2]}" if lines[2] else f"line {lines[1]}")
        return ", ".join(filter(None, parts))
    if paper:
        return f"arXiv:{paper[1]}"
    return re.sub(r"^https?://(www\.)?", "", url).rstrip("/")
