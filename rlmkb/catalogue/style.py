"""The form of a file: what a machine can mend, and what makes an entry worse without making it wrong."""

import re
import unicodedata
from collections.abc import Iterator

from pydantic import BaseModel

from rlmkb.catalogue.annotations import annotation_at, fields_at, mappings, words
from rlmkb.catalogue.fields import moves
from rlmkb.catalogue.problems import Edit, Problem
from rlmkb.catalogue.syntax import Mapping, Node, Scalar, Sequence, scalars
from rlmkb.catalogue.validation import alike, misread, quoted

# everything but line feed and tab below U+0020, what turns or breaks text, and what Unicode lets a reader not show:
# joiners, fillers, selectors of variants, the blank of Braille, tags, and code points that are no characters
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_MARKUP = re.compile(
    r"<\s{0,9}/?\s{0,9}(script|style|iframe|object|embed|img|svg|link|meta|form|base|video|audio|a\s)|javascript:|\son\w+\s*=",
    re.IGNORECASE,
)
_ARXIV_FILE = re.compile(r"^https?://(?:www\.)?arxiv\.org/(?:pdf|html)/(\d{4}\.\d{4,5})(v\d+)?(?:\.pdf)?$")
_LINK = re.compile(r"^https?://\S+$")
_TABS = re.compile(r"^ *\t[ \t]*(?=\S)", re.MULTILINE)
_TRAILING = re.compile(r"(?<![ \t])[ \t]+$", re.MULTILINE)  # tried once for each stretch of spaces
_LEFT_OVER = ("unknown", "https://example.org")


def text_problems(raw: str, path: str) -> Iterator[Problem]:
    """What is wrong with a file as text, before it is read as YAML."""
    if raw.startswith("\ufeff"):
        yield Problem(path, 1, "F104", "the file starts with a byte order mark; remove it", None, (Edit(0, 1, ""),))
    if "\r" in raw:
        line = raw[: raw.index("\r")].count("\n") + 1
        ends = tuple(Edit(m.start(), m.end(), "\n") for m in re.finditer(r"\r\n?", raw))
        yield Problem(path, line, "F105", "lines do not end with a line feed alone", None, ends)
    text = raw.removeprefix("\ufeff")
    for line, match in _matches(_UNSEEN, text.replace("\r\n", " \n").replace("\r", "\n")):
        code = "F103" if _CONTROL.match(match[0]) else "F117"
        what = "control character" if code == "F103" else "character that cannot be seen"
        yield Problem(path, line, code, f"{what} U+{ord(match[0]):04X} ({_name(match[0])}); remove it")
        if code == "F103":
            return


def _matches(pattern: re.Pattern, text: str) -> Iterator[tuple[int, re.Match]]:
    """Every match with its line, in one pass over the text."""
    line, place = 1, 0
    for match in pattern.finditer(text):
        line += text.count("\n", place, match.start())
        place = match.start()
        yield line, match


def _name(character: str) -> str:
    return unicodedata.name(character, "control").lower()


def tab_problems(text: str, path: str) -> Iterator[Problem]:
    """Tabs in front of lines; asked for only where YAML cannot be read because of them."""
    for line, match in _matches(_TABS, text):
        edit = Edit(match.start(), match.end(), match[0].replace("\t", "  "))
        yield Problem(path, line, "F106", "a tab in front of the line; indent with two spaces a level", None, (edit,))


def style_problems(
    text: str, tree: Mapping, schema: type[BaseModel], path: str, wrong: set[tuple]
) -> Iterator[Problem]:
    """The form of a file that can be read; `wrong` are the places that a type error was told about."""
    yield from _line_problems(text, path)
    if not unicodedata.is_normalized("NFC", text):
        number = next(n for n, line in enumerate(text.split("\n"), 1) if not unicodedata.is_normalized("NFC", line))
        edit = Edit(0, len(text), unicodedata.normalize("NFC", text))
        yield Problem(path, number, "A407", "a letter is written as two characters", None, (edit,))
    letters = frozenset(text)
    for where, node in scalars(tree):
        if where not in wrong:
            yield from _scalar_problems(letters, where, node, tree, schema, path)
    for where, node in mappings(tree):
        yield from _order_problems(text, where, node, tree, schema, path)


def _line_problems(text: str, path: str) -> Iterator[Problem]:
    for line, match in _matches(_TRAILING, text):
        yield Problem(path, line, "A401", "spaces at the end of the line", None, (Edit(*match.span(), ""),))
    if text and not text.endswith("\n"):
        edit = Edit(len(text), len(text), "\n")
        yield Problem(path, text.count("\n") + 1, "A403", "the last line has no end", None, (edit,))


def _scalar_problems(
    letters: frozenset[str], where: tuple, node: Scalar, tree: Mapping, schema: type[BaseModel], path: str
) -> Iterator[Problem]:
    name, key = ".".join(map(str, where)), where[-1] if where else ""

    def problem(code: str, message: str, new: str | None = None) -> Problem:
        write = None if new is None else f"- {new}" if isinstance(key, int) else f"{key}: {new}"
        edits = () if new is None else (Edit(node.start, node.end, new),)
        return Problem(path, node.line, code, f"{name} {message}", write, edits, where)

    if node.plain and misread(node.raw):
        new = quoted(node.raw) if isinstance(node.value, str) else _number(node.raw)
        yield problem("F115", f"is {node.raw} without quotes, which some readers of YAML take for something else", new)
    match = _UNSEEN.search(node.raw)
    if match and match[0] not in letters:  # written as an escape, so not seen in the file's text either
        yield problem("F117", f"has the character U+{ord(match[0]):04X} ({_name(match[0])}); remove it")
    if match := _MARKUP.search(node.raw):
        yield problem("A404", f"has markup in it ({match[0].strip()!r}); it is shown as text, so use words")
    if _LINK.match(node.raw):
        yield from _link_problems(node, problem)
    if node.raw in _LEFT_OVER and not words(annotation_at(schema, where, tree)):
        yield problem("A406", f"is still {node.raw!r}; fill it in when you know it")


def _link_problems(node: Scalar, problem) -> Iterator[Problem]:
    short = _ARXIV_FILE.sub(r"https://arxiv.org/abs/\1\2", node.raw)
    if short == node.raw and node.raw.startswith("http://"):
        short = "https://" + node.raw.removeprefix("http://")
    if short != node.raw:
        yield problem("A408", f"is {quoted(node.raw)}; allowed: its short and safe form", alike(node, short))
    elif moves(node.raw):
        yield problem("A405", "is a link to code that can change; link to a commit (40 digits) and lines")


def _number(raw: str) -> str:
    """A number in the form that every reader of YAML takes for one.

    Examples
    --------
    >>> _number("1e9"), _number("1.5e3")
    ('1.0e+9', '1.5e+3')
    """
    mantissa, _, exponent = raw.lower().partition("e")
    mantissa = mantissa if "." in mantissa else f"{mantissa}.0"
    sign = "" if exponent.startswith(("+", "-")) or not exponent else "+"
    return f"{mantissa}e{sign}{exponent}" if exponent else mantissa


# ---- the order of keys ----------------------------------------------------------------------------------


def _order_problems(
    text: str, where: tuple, node: Mapping, tree: Mapping, schema: type[BaseModel], path: str
) -> Iterator[Problem]:
    if len(node.pairs) < 2:
        return
    order = list(fields_at(schema, where, tree))
    present = [key.raw for key, _ in node.pairs]
    wanted = [key for key in order if key in present]
    found = [key for key in present if key in wanted]
    if found == wanted or len(set(present)) < len(present):
        return
    first = next(key for key, other in zip(found, wanted, strict=True) if key != other)
    line = node.get(first)[0].line
    inside = f"{'.'.join(map(str, where))}: " if where else ""
    new = None if node.flow or set(present) - set(order) else _reordered(text, node, wanted)
    edits = () if new is None else (new,)
    yield Problem(path, line, "A402", f"{inside}keys in another order; use {', '.join(wanted)}", None, edits)


def _reordered(text: str, node: Mapping, wanted: list[str]) -> Edit | None:
    """The lines of a block mapping in another order, each key with the comments right above it."""
    starts = [key.start for key, _ in node.pairs]
    line_start = text.rfind("\n", 0, starts[0]) + 1
    margin = " " * (starts[0] - line_start)
    heads = [_with_comments(text, start, margin) for start in starts]
    in_list = bool(text[line_start : starts[0]].strip())  # the first key stands after a hyphen
    if in_list:
        heads[0] = starts[0]
    end = text.find("\n", max(_last(node) - 1, starts[-1]))
    end = len(text) if end < 0 else end + 1
    chunks = [text[head:tail] for head, tail in zip(heads, [*heads[1:], end], strict=True)]
    if in_list:
        chunks[0] = margin + chunks[0]
    named = {
        key.raw: chunk if chunk.endswith("\n") else f"{chunk}\n"
        for (key, _), chunk in zip(node.pairs, chunks, strict=True)
    }
    body = "".join(named[key] for key in wanted)
    if in_list and body.startswith(f"{margin}#"):
        return None  # a comment cannot follow the hyphen
    return Edit(heads[0], end, body.removeprefix(margin) if in_list else body)


def _with_comments(text: str, start: int, margin: str) -> int:
    """Where the comment lines right above a key begin, or the key's own line."""
    head = text.rfind("\n", 0, start) + 1
    while head:
        above = text.rfind("\n", 0, head - 1) + 1
        line = text[above:head]
        if not line.startswith(f"{margin}#") or "yaml-language-server" in line:
            break
        head = above
    return head


def _last(node: Node) -> int:
    """Where the last word of a value ends."""
    while isinstance(node, Mapping | Sequence) and not node.flow:
        children = [value for _, value in node.pairs] if isinstance(node, Mapping) else node.items
        if not children:
            break
        node = children[-1]
    return node.end
