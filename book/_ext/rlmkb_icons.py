"""Sphinx extension of the book: the theme's icons as a small stylesheet.

The theme loads a script of 1.5 MB that holds two thousand icons and draws them one by one. The book uses twenty. They
are taken out of that script when the pages are built, into `_static/icons.css`, and the script is left out.
"""

import hashlib
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

SCRIPT = Path("_static", "scripts", "fontawesome.js")
STYLE = Path("_static", "icons.css")
LOADED = re.compile(r'<script[^>]*src="([^"]*)_static/scripts/fontawesome\.js[^"]*"></script>')
ICON = re.compile(r'<(i|span) class="((?:[^"]* )?fa-?(?:s|b|solid|brands) [^"]*)"([^>]*)>\s*</\1>')
NAME = re.compile(r"\bfa-([a-z-]+)\b")
SAFE = " =:/'-.,"  # in a data address between double quotes
SIZES = {"solid", "brands", "lg"}
# The shape is a mask over the colour of the text; the element is an <svg> because the theme's styles expect one.
RULES = """.svg-inline--fa {
  background: currentcolor;
  display: inline-block;
  height: 1em;
  mask: var(--rl-icon) center / contain no-repeat;
  vertical-align: -0.125em;
}
.svg-inline--fa.fa-lg { font-size: 1.25em; line-height: 0.05em; vertical-align: -0.2em; }
@media (forced-colors: active) { .svg-inline--fa { background: ButtonText; forced-color-adjust: none; } }
"""


def draw_icons(app: Any, exception: Exception | None) -> None:
    """Make every page use the stylesheet, then drop the script."""
    out = Path(app.outdir)
    if exception is not None or app.builder.name != "html" or not (out / SCRIPT).is_file():
        return
    pages = {
        path: path.read_text(encoding="utf-8") for path in sorted(out.rglob("*.html")) if "_static" not in path.parts
    }
    used = sorted({icon(classes) for text in pages.values() for _, classes, _ in ICON.findall(text)})
    style = stylesheet(used, (out / SCRIPT).read_text(encoding="utf-8"))
    (out / STYLE).write_text(style, encoding="utf-8")
    version = hashlib.sha256(style.encode()).hexdigest()[:8]
    link = rf'<link rel="stylesheet" type="text/css" href="\1{STYLE.as_posix()}?v={version}" />'
    element = r'<svg class="svg-inline--fa \2"\3 aria-hidden="true" focusable="false"></svg>'
    for path, text in pages.items():
        path.write_text(ICON.sub(element, LOADED.sub(link, text)), encoding="utf-8")
    for path in (out / SCRIPT).parent.glob("fontawesome.js*"):
        path.unlink()


def icon(classes: str) -> tuple[str, bool]:
    """Name of an icon, and whether it is the mark of a brand."""
    return next(name for name in NAME.findall(classes) if name not in SIZES), "fab" in classes.split()


def stylesheet(used: list[tuple[str, bool]], script: str) -> str:
    """The rules of some icons."""
    rules = [RULES]
    for name, brand in used:
        width, height, path = shape(name, brand, script)
        svg = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}'><path d='{path}'/></svg>"
        image = f'url("data:image/svg+xml,{quote(svg, safe=SAFE)}")'
        rules.append(f".fa-{name} {{ --rl-icon: {image}; width: {int(width) / int(height):.4g}em; }}\n")
    return "".join(rules)


def shape(name: str, brand: bool, script: str) -> tuple[str, str, str]:
    """Width, height and path; an alias stands in the list of the icon that it means."""
    drawn = r'"[0-9a-f]+","([^"]+)"'
    own = rf'[{{,]"?{re.escape(name)}"?:\[(\d+),(\d+),\[[^\]]*\],{drawn}'
    alias = rf'\[(\d+),(\d+),\[[^\]]*"{re.escape(name)}"[^\]]*\],{drawn}'
    found = re.findall(own, script) or re.findall(alias, script)
    if not found:
        raise ValueError(f"the theme's script has no icon {name!r}")
    return found[0] if brand else found[-1]  # brands come first in the script, solid shapes last


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", draw_icons, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
