"""A named diagram, and its SVG."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from xml.sax.saxutils import escape

from rlmkb.views import design
from rlmkb.views.diagrams.shapes import Drawing, Rect, Shape

MARGIN = 4
FONT = design.SANS.replace('"', "'")
SMALLEST = 0.8  # share of its natural width that a diagram keeps on a small screen; then its figure scrolls


@dataclass(frozen=True)
class Diagram:
    """What a figure is called, what it says in words, and the function that draws it."""

    name: str
    title: str
    description: str
    draw: Callable[[], Drawing]


def svg(diagram: Diagram, standalone: bool = False) -> str:
    """The SVG element of a diagram; `standalone` makes it a picture of fixed size and colours, on a background."""
    drawing = diagram.draw().at(MARGIN, MARGIN)
    w, h = (round(side + 2 * MARGIN) for side in (drawing.extent.w, drawing.extent.h))
    items = (Shape(Rect(0, 0, w, h), "page", radius=0), *drawing.items) if standalone else drawing.items
    fixed = f'width="{w}" height="{h}"'
    fluid = f'width="100%" style="max-width:{w}px;min-width:{round(SMALLEST * w)}px;height:auto"'
    name = f"rl-diagram-{diagram.name}"
    markup = "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="rl-diagram" role="img" viewBox="0 0 {w} {h}"'
            f" {fixed if standalone else fluid}"
            f' font-family="{FONT}" aria-labelledby="{name}-title {name}-description">',
            f'<title id="{name}-title">{escape(diagram.title)}</title>',
            f'<desc id="{name}-description">{escape(diagram.description)}</desc>',
            *(item.svg() for item in items),
            "</svg>",
        ]
    )
    return re.sub(r"var\(--rl-[\w-]+, (#\w+)\)", r"\1", markup) if standalone else markup
