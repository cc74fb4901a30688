"""The drawing layer: shapes, labels and lines, and how to place drawings beside and below each other.

A `Drawing` is a tuple of items and knows its extent. Drawings are values: placing one returns a moved copy.
A shape may carry a `key`; `drawing[key]` then gives its rectangle where it has come to lie, so that arrows
are drawn after the layout is known and no coordinate is typed twice.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

from rlmkb.views import design
from rlmkb.views.diagrams import text

TEXT, SMALL, HEADING = 14, 13, 15  # type sizes
PAD = 10  # between a box and its text
GAP = 14  # between neighbours

Point = tuple[float, float]

HUES = (*design.ROLES, *design.STAGES, *design.QUANTITIES)


@cache
def colour(name: str) -> str:
    """A colour as CSS: the page's variable, with its light value for a drawing that stands alone.

    Examples
    --------
    >>> colour("policy")
    'var(--rl-policy, #1a6fbd)'
    """
    return f"var(--rl-{name}, {design.tokens('light')[name]})"


def _n(value: float) -> str:
    """A coordinate with at most two decimals and no trailing zeros."""
    return f"{round(value, 2) + 0:.2f}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Rect:
    """An extent: left upper corner, width and height."""

    x: float = 0
    y: float = 0
    w: float = 0
    h: float = 0

    right = property(lambda self: self.x + self.w)
    bottom = property(lambda self: self.y + self.h)
    centre = property(lambda self: self.x + self.w / 2)
    middle = property(lambda self: self.y + self.h / 2)

    def top_at(self, share: float = 0.5) -> Point:
        """The point at a share of the upper side's length."""
        return self.x + share * self.w, self.y

    def bottom_at(self, share: float = 0.5) -> Point:
        """The point at a share of the lower side's length."""
        return self.x + share * self.w, self.bottom

    def left_at(self, share: float = 0.5) -> Point:
        """The point at a share of the left side's length."""
        return self.x, self.y + share * self.h

    def right_at(self, share: float = 0.5) -> Point:
        """The point at a share of the right side's length."""
        return self.right, self.y + share * self.h

    def moved(self, dx: float, dy: float) -> "Rect":
        """The same extent elsewhere."""
        return replace(self, x=self.x + dx, y=self.y + dy)

    def grown(self, by: float) -> "Rect":
        """An extent larger by the same margin on each side."""
        return Rect(self.x - by, self.y - by, self.w + 2 * by, self.h + 2 * by)

    def holds(self, other: "Rect") -> bool:
        """Whether the other extent lies inside this one."""
        return self.x <= other.x and other.right <= self.right and self.y <= other.y and other.bottom <= self.bottom

    def meets(self, other: "Rect") -> bool:
        """Whether the two extents share area."""
        return self.x < other.right and other.x < self.right and self.y < other.bottom and other.y < self.bottom


def around(extents: Iterable[Rect]) -> Rect:
    """The smallest extent that holds all of the given ones.

    Examples
    --------
    >>> around([Rect(0, 0, 10, 10), Rect(20, 5, 10, 10)])
    Rect(x=0, y=0, w=30, h=15)
    """
    extents = list(extents)
    x, y = min(e.x for e in extents), min(e.y for e in extents)
    return Rect(x, y, max(e.right for e in extents) - x, max(e.bottom for e in extents) - y)


@dataclass(frozen=True)
class Shape:
    """A rectangle with round corners; `radius` of half its side makes it a circle."""

    extent: Rect
    fill: str = "none"
    stroke: str = "none"
    weight: float = 1.25
    radius: float = 5
    dashed: bool = False
    bar: bool = False  # only the upper corners are round
    key: str = ""

    def moved(self, dx: float, dy: float) -> "Shape":
        """The same shape elsewhere."""
        return replace(self, extent=self.extent.moved(dx, dy))

    def svg(self) -> str:
        """The shape as an SVG element."""
        e, r = self.extent, _n(self.radius)
        fill = "none" if self.fill == "none" else colour(self.fill)
        if self.bar:
            path = f"M{_n(e.x)} {_n(e.bottom)}v-{_n(e.h - self.radius)}q0-{r} {r}-{r}h{_n(e.w - 2 * self.radius)}"
            parts = [f'<path d="{path}q{r} 0 {r} {r}v{_n(e.h - self.radius)}z" fill="{fill}"']
        else:
            parts = [f'<rect x="{_n(e.x)}" y="{_n(e.y)}" width="{_n(e.w)}" height="{_n(e.h)}" fill="{fill}"']
            parts += [f'rx="{r}"'] if self.radius else []
        if self.stroke != "none":
            parts.append(f'stroke="{colour(self.stroke)}" stroke-width="{_n(self.weight)}"')
        if self.dashed:
            parts.append('stroke-dasharray="4 3"')
        return " ".join(parts) + "/>"


@dataclass(frozen=True)
class Label:
    """One line of text around the point (x, y): y is the middle of its height, `anchor` says what x is."""

    x: float
    y: float
    markup: str
    size: float = TEXT
    bold: bool = False
    ink: str = "ink"
    anchor: str = "middle"  # start, middle or end

    @property
    def extent(self) -> Rect:
        """The extent of the letters, by the width table."""
        w = text.width(self.markup, self.size, self.bold)
        left = {"start": self.x, "middle": self.x - w / 2, "end": self.x - w}[self.anchor]
        return Rect(left, self.y - 0.54 * self.size, w, 1.08 * self.size)

    def moved(self, dx: float, dy: float) -> "Label":
        """The same label elsewhere."""
        return replace(self, x=self.x + dx, y=self.y + dy)

    def svg(self) -> str:
        """The label as an SVG element."""
        weight = ' font-weight="600"' if self.bold else ""
        anchor = "" if self.anchor == "start" else f' text-anchor="{self.anchor}"'
        return (
            f'<text x="{_n(self.x)}" y="{_n(self.y + 0.36 * self.size)}" font-size="{_n(self.size)}"'
            f'{weight}{anchor} fill="{colour(self.ink)}">{text.tspans(self.markup, self.size)}</text>'
        )


@dataclass(frozen=True)
class Line:
    """A polyline with round corners, and an arrow head at its end if `head`."""

    points: tuple[Point, ...]
    stroke: str = "muted"
    weight: float = 1.5
    head: bool = False
    dashed: bool = False
    bend: float = 7  # corner radius

    @property
    def extent(self) -> Rect:
        """The extent of the points."""
        return around(Rect(x, y, 0, 0) for x, y in self.points)

    def moved(self, dx: float, dy: float) -> "Line":
        """The same line elsewhere."""
        return replace(self, points=tuple((x + dx, y + dy) for x, y in self.points))

    def svg(self) -> str:
        """The line as SVG: a path, and a triangle for the head."""
        points, head = list(self.points), ""
        if self.head:
            (x, y), tip = points[-2], points[-1]
            ux, uy = _unit((x, y), tip)
            long, wide = 5 + 2 * self.weight, 2.2 + 1.2 * self.weight
            base = (tip[0] - long * ux, tip[1] - long * uy)
            corners = (tip, (base[0] - wide * uy, base[1] + wide * ux), (base[0] + wide * uy, base[1] - wide * ux))
            ends = " ".join(f"{_n(a)},{_n(b)}" for a, b in corners)
            head = f'<polygon points="{ends}" fill="{colour(self.stroke)}"/>'
            points[-1] = (base[0] + ux, base[1] + uy)  # one unit into the head, so that no gap shows
        dash = ' stroke-dasharray="4 3"' if self.dashed else ""
        return (
            f'<path d="{_path(points, self.bend)}" fill="none" stroke="{colour(self.stroke)}"'
            f' stroke-width="{_n(self.weight)}"{dash}/>{head}'
        )


def _unit(start: Point, end: Point) -> Point:
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = (dx * dx + dy * dy) ** 0.5
    return dx / length, dy / length


def _path(points: list[Point], bend: float) -> str:
    """SVG path data: straight pieces, joined by quadratic curves."""
    parts = [f"M{_n(points[0][0])} {_n(points[0][1])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        (ax, ay), (bx, by) = _unit(before, corner), _unit(corner, after)
        x, y = corner
        parts.append(
            f"L{_n(x - bend * ax)} {_n(y - bend * ay)}Q{_n(x)} {_n(y)} {_n(x + bend * bx)} {_n(y + bend * by)}"
        )
    return "".join([*parts, f"L{_n(points[-1][0])} {_n(points[-1][1])}"])


Item = Shape | Label | Line


@dataclass(frozen=True)
class Drawing:
    """Items in painting order. `drawing + drawing` paints one over the other."""

    items: tuple[Item, ...] = ()
    space: Rect | None = None  # an extent larger than the items, to align with others

    @property
    def extent(self) -> Rect:
        """The smallest extent of all items, or the space given to them."""
        return self.space or around(item.extent for item in self.items)

    def moved(self, dx: float, dy: float) -> "Drawing":
        """The same drawing elsewhere."""
        space = self.space and self.space.moved(dx, dy)
        return Drawing(tuple(item.moved(dx, dy) for item in self.items), space)

    def at(self, x: float, y: float) -> "Drawing":
        """The drawing with its left upper corner at (x, y)."""
        return self.moved(x - self.extent.x, y - self.extent.y)

    def __add__(self, other: "Drawing | Item") -> "Drawing":
        space = self.space and around([self.space, other.extent])
        return Drawing(self.items + (other.items if isinstance(other, Drawing) else (other,)), space)

    def __getitem__(self, key: str) -> Rect:
        return next(item.extent for item in self.items if isinstance(item, Shape) and item.key == key)


def column(*drawings: Drawing, gap: float = GAP, align: str = "start") -> Drawing:
    """Drawings below each other; `align` their left edges ("start"), centres ("middle") or right edges ("end")."""
    share = {"start": 0.0, "middle": 0.5, "end": 1.0}[align]
    widest, y, placed = max(drawing.extent.w for drawing in drawings), 0.0, ()
    for drawing in drawings:
        placed += drawing.at(share * (widest - drawing.extent.w), y).items
        y += drawing.extent.h + gap
    return Drawing(placed, Rect(0, 0, widest, y - gap))


def row(*drawings: Drawing, gap: float = GAP, align: str = "start") -> Drawing:
    """Drawings beside each other; `align` their upper edges ("start"), middles ("middle") or lower edges ("end")."""
    share = {"start": 0.0, "middle": 0.5, "end": 1.0}[align]
    highest, x, placed = max(drawing.extent.h for drawing in drawings), 0.0, ()
    for drawing in drawings:
        placed += drawing.at(x, share * (highest - drawing.extent.h)).items
        x += drawing.extent.w + gap
    return Drawing(placed, Rect(0, 0, x - gap, highest))


def inks(tone: str) -> tuple[str, str, str]:
    """Fill, outline and text colour of a tone: one of the hues, or one of those below.

    Examples
    --------
    >>> inks("policy"), inks("bare")
    (('policy-soft', 'policy', 'policy-ink'), ('none', 'none', 'ink'))
    """
    if tone in HUES:
        return f"{tone}-soft", tone, f"{tone}-ink"
    return {
        "neutral": ("surface", "line", "ink"),
        "quiet": ("surface", "line", "muted"),
        "bare": ("none", "none", "ink"),
        "accent": ("accent-soft", "accent", "ink"),
        "empty": ("none", "hairline", "muted"),
        "faint": ("none", "line", "muted"),
        "coming": ("none", "memory", "memory-ink"),
        "absent": ("none", "none", "muted"),
    }[tone]
