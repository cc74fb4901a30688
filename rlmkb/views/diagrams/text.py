"""Labels: a tiny mathematical markup, measured with a width table and written as SVG text.

Inside dollar signs single letters are italic, words are upright, and `_` and `^` lower and raise the
next character or braced group: ``"$π_θ$ reads $d_{ff}$ columns"``.
"""

import re
from dataclasses import dataclass
from unicodedata import lookup
from xml.sax.saxutils import escape

# Advance widths of DejaVu Sans in hundredths of the type size, rounded up. Among the common sans-serif faces it
# is the widest, so text that fits by this table fits in the reader's font as well.
_REGULAR = {
    20: "\N{THIN SPACE}", 23: "′", 28: "'ijl", 30: "IJ", 32: " ,.·’", 34: "/:;\\|", 36: "f",
    37: "-", 40: "()[]t", 42: "rℓ", 50: "*_–°‖§", 52: "∂", 53: "sz", 54: "?", 55: "cεζ", 56: "LνΓ",
    58: "Fk", 59: "κ", 60: "vxyγλ", 61: "Pπτ", 62: "TYaeoδθé", 64: "0123456789ESbdghnpqu{}βημρσΣ√",
    66: "Kαφψ", 67: "∇", 68: "∑", 69: "ABVXZΔ", 70: "CR", 74: "U", 75: "N", 76: "H", 78: "&DG",
    79: "OQΘΦ", 82: "w", 84: "#+<=>~ω×÷±−←→↑↓≤≥≈≠∞⊕⊙", 87: "M", 88: "∈", 96: "%", 98: "m", 99: "W",
    100: "@—…",
}  # fmt: skip
_BOLD = {
    20: "\N{THIN SPACE}", 27: "′", 35: "' ijl", 37: "/\\|", 38: ",.IJ·’", 40: ":;", 42: "-",
    44: "f", 46: "()[]", 48: "tℓ", 50: "_r–°‖§", 53: "*", 55: "∂", 56: "ε", 59: "?z", 60: "csζ",
    64: "LλτΓ", 65: "x", 66: "vy", 67: "k√", 68: "aeé", 69: "EFToαγδθνΣ", 70: "0123456789∇",
    72: "bdghnpqu{}βηκρ∑", 73: "SYZ", 74: "CPμ", 77: "B", 78: "AKRVXσΔ", 79: "φ", 80: "πψ", 82: "U",
    83: "G", 84: "#+<=>DHN~×÷±−←→↑↓≤≥≈≠∞⊕⊙", 86: "OQΘΦ", 87: "ω", 88: "&", 90: "∈", 93: "w",
    100: "@M—…", 101: "%", 105: "m", 111: "W",
}  # fmt: skip
_ADVANCE = {
    bold: {letter: hundredths / 100 for hundredths, letters in table.items() for letter in letters}
    for bold, table in ((False, _REGULAR), (True, _BOLD))
}

_THIN = "\N{THIN SPACE}"  # between two factors
SCRIPT_SCALE = 0.76  # size of a subscript or superscript against its line
_SHIFT = {"sub": 0.2, "": 0.0, "sup": -0.36}  # baseline shift against the type size
_LINE = 1.36  # distance of baselines against the type size
_MATH = re.compile(r"(?P<script>[_^])(?:\{(?P<group>[^}]*)\}|(?P<single>.))|(?P<word>[^\W\d_]+|[^_^\w]+|\d+)")


@dataclass(frozen=True)
class Span:
    """A run of text in one style: `script` is "sub", "sup" or empty."""

    text: str
    italic: bool = False
    script: str = ""


def _is_variable(word: str) -> bool:
    return len(word) == 1 and word.isalpha() and (word.isascii() or word.islower())  # capital sigma stays upright


def _math(source: str, script: str = "") -> list[Span]:
    spans = []
    for match in _MATH.finditer(source):
        if match["script"]:
            spans += _math(match["group"] or match["single"], "sub" if match["script"] == "_" else "sup")
        else:
            word = _THIN if match["word"] == " " else match["word"]
            spans.append(Span(word, italic=_is_variable(word), script=script))
    return spans


def parse(markup: str) -> tuple[Span, ...]:
    """The styled runs of a label.

    Examples
    --------
    >>> [(span.text, span.script) for span in parse("reads $d_{ff}$")]
    [('reads ', ''), ('d', ''), ('ff', 'sub')]
    """
    spans: list[Span] = []
    for index, part in enumerate(markup.split("$")):
        spans += _math(part) if index % 2 else [Span(part)] if part else []
    return tuple(spans)


def from_latex(latex: str) -> str:
    """The markup of a model's LaTeX name.

    Examples
    --------
    >>> from_latex(r"\\pi_{\\mathrm{ref}}")
    '$π_{ref}$'
    """
    plain = re.sub(r"\\mathrm\{(\w+)\}", r"\1", latex)
    greek = re.sub(r"\\(\w+?)(?=_|\W|$)", lambda name: lookup(f"GREEK SMALL LETTER {name[1].upper()}"), plain)
    return f"${greek}$"


def width(markup: str, size: float, bold: bool = False) -> float:
    """Width of a label set in `size`, by the width table; a character outside of it raises KeyError.

    Examples
    --------
    >>> width("m = 2", 100)  # 98 + 32 + 84 + 32 + 64
    310.0
    """
    advance = _ADVANCE[bold]
    ems = sum(
        (SCRIPT_SCALE if span.script else 1) * sum(advance[letter] for letter in span.text) for span in parse(markup)
    )
    return round(ems * size, 2)


def wrap(markup: str, room: float, size: float, bold: bool = False) -> list[str]:
    """Break a label into lines of at most `room`, never inside a formula.

    Examples
    --------
    >>> wrap("one two three", 60, 14)
    ['one two', 'three']
    """
    lines: list[str] = []
    for word in re.findall(r"(?:\$[^$]*\$|[^\s$])+", markup):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width(longer, size, bold) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def line_height(size: float) -> float:
    """Distance between the baselines of two lines."""
    return _LINE * size


def tspans(markup: str, size: float) -> str:
    """The inside of an SVG `text` element; scripts are shifted with `dy`, which every browser supports."""
    parts, level = [], 0.0
    for span in parse(markup):
        attributes = ' font-style="italic"' if span.italic else ""
        if span.script:
            attributes += f' font-size="{SCRIPT_SCALE * size:.4g}"'
        target = _SHIFT[span.script] * size
        if target != level:
            attributes += f' dy="{target - level:.3g}"'
            level = target
        text = escape(span.text)
        parts.append(f"<tspan{attributes}>{text}</tspan>" if attributes else text)
    return "".join(parts)
