"""Sphinx extension of the book: the theme's icons drawn into the pages.

The theme loads a script of 1.5 MB that holds two thousand icons and draws them one by one. The book uses a few; they
are taken from that script when the pages are built, and the script is left out.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

SCRIPT = Path("_static", "scripts", "fontawesome.js")
LOADED = re.compile(r'\s*<script[^>]*src="[^"]*scripts/fontawesome\.js[^"]*"></script>')
ICON = re.compile(r'<(i|span) class="((?:[^"]* )?fa-?(?:s|b|solid|brands) [^"]*)"([^>]*)>\s*</\1>')
NAME = re.compile(r"\bfa-([a-z-]+)\b")
SIZES = {"solid", "brands", "lg"}


def draw_icons(app: Any, exception: Exception | None) -> None:
    """Put drawings in place of icons in every page, then drop the script."""
    out = Path(app.outdir)
    if exception is not None or app.builder.name != "html" or not (out / SCRIPT).is_file():
        return
    shapes = Shapes((out / SCRIPT).read_text(encoding="utf-8"))
    for path in out.rglob("*.html"):
        if "_static" not in path.parts:
            text = path.read_text(encoding="utf-8")
            path.write_text(ICON.sub(shapes.drawn, LOADED.sub("", text)), encoding="utf-8")
    for path in (out / SCRIPT).parent.glob("fontawesome.js*"):
        path.unlink()


class Shapes:
    """The icons of Font Awesome's script, found by name when asked for."""

    def __init__(self, script: str) -> None:
        self.script = script
        self.shape = cache(self._shape)

    def drawn(self, match: re.Match) -> str:
        """The SVG in place of one element; it keeps the element's classes and attributes."""
        classes, others = match[2], match[3]
        name = next(name for name in NAME.findall(classes) if name not in SIZES)
        width, height, path = self.shape(name, "fab" in classes.split())
        return (
            f'<svg class="svg-inline--fa {classes}"{others} viewBox="0 0 {width} {height}" aria-hidden="true"'
            f' focusable="false"><path fill="currentColor" d="{path}"></path></svg>'
        )

    def _shape(self, name: str, brand: bool) -> tuple[str, str, str]:
        """Width, height and path; an alias stands in the list of the icon that it means."""
        rest = r'\[(\d+),(\d+),\[[^\]]*\],"[0-9a-f]+","([^"]+)"'
        alias = r'\[(\d+),(\d+),\[[^\]]*"' + re.escape(name) + r'"[^\]]*\],"[0-9a-f]+","([^"]+)"'
        found = re.findall(rf'[{{,]"?{re.escape(name)}"?:{rest}', self.script) or re.findall(alias, self.script)
        if not found:
            raise ValueError(f"the theme's script has no icon {name!r}")
        return found[0] if brand else found[-1]  # brands come first, solid shapes last


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", draw_icons, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
