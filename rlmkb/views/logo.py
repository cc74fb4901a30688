"""The mark of the project: the three stages of an iteration as a timeline, closed to a loop by the policy."""

from rlmkb.views import design

# On a 64 x 64 grid. Bars: stage, left, width; each starts where the one above it ends.
_BARS = (("generation", 14, 22), ("assessment", 32, 12), ("training", 40, 11))
_LOOP = "M19 55h-4a9 9 0 0 1-9-9V15a9 9 0 0 1 9-9h34a9 9 0 0 1 9 9v31a9 9 0 0 1-9 9H31"
_HEAD = "M36.5 49.5 31 55l5.5 5.5"
_OPEN = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="64" height="64">'


def _shapes(mode: str) -> str:
    colour = design.tokens(mode)
    loop = (
        f'<path d="{_LOOP}{_HEAD}" fill="none" stroke="{colour["policy"]}" stroke-width="4" '
        'stroke-linecap="round" stroke-linejoin="round"/>'
    )
    return loop + "".join(
        f'<rect x="{left}" y="{14.5 + 10.5 * row}" width="{width}" height="8" rx="4" fill="{colour[stage]}"/>'
        for row, (stage, left, width) in enumerate(_BARS)
    )


def svg(mode: str) -> str:
    """The mark as an SVG document in the colours of one mode (``"light"`` or ``"dark"``).

    Examples
    --------
    >>> svg("light").startswith("<svg")
    True
    """
    return f"{_OPEN}{_shapes(mode)}</svg>\n"


def favicon() -> str:
    """The mark as an icon that follows the browser's own mode."""
    style = (
        "<style>.dark{display:none}@media (prefers-color-scheme:dark)"
        "{.light{display:none}.dark{display:inline}}</style>"
    )
    both = "".join(f'<g class="{mode}">{_shapes(mode)}</g>' for mode in design.MODES)
    return f"{_OPEN}{style}{both}</svg>\n"
