"""Algorithms as a notebook shows them: the lines beside their parallelism, and the code with the paper's numbers."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from rlmkb.algorithms.listings import Line, Listing, listing
from rlmkb.algorithms.sources import numbers
from rlmkb.views.listing import Listing as Rows
from rlmkb.views.markup import Html, chip, join, small, table_html, text_html

if TYPE_CHECKING:
    from rlmkb.algorithms.invocations import Run
    from rlmkb.theory.algorithms import Algorithm

_COLUMNS = ("Line", "What it does", "Path", "Parallelism", "Needs")
_NUMBERS = re.compile(r"^ lines? [\d, and-]+:?")
_LEGEND = (
    "Strategies in bold are usual, the others possible; struck out is what the paper prints and we drop."
    " A need that is the line's own number or a later one comes from an earlier turn of a loop."
)


class Shown:
    """A listing as the last line of a cell.

    Examples
    --------
    >>> Shown(listing("grpo"))
    Algorithm 3, GRPO: 23 lines
    """

    def __init__(self, shown: Listing):
        self.listing = shown

    def __repr__(self) -> str:
        return f"{self.listing.source}, {self.listing.title}: {len(self.listing.lines)} lines"

    def _repr_html_(self) -> str:
        return listing_html(self.listing)


def show(id: str) -> Shown:
    """The listing of an algorithm: ``rollout``, ``ppo``, ``grpo`` or ``dpo``.

    Raises
    ------
    InputError
        If there is no such listing.

    Examples
    --------
    >>> show("dpo")
    Algorithm 4, DPO: 11 lines
    """
    return Shown(listing(id))


def listing_html(shown: Listing) -> str:
    """The lines as a table grouped by stage, and under it why printed tags were dropped.

    Examples
    --------
    >>> listing_html(listing("ppo")).count("<s>SP</s>")
    3
    """
    groups = [
        (chip(stage), [_row(shown, line) for line in lines])
        for stage, lines in groupby(shown.lines, key=lambda line: line.stage.value)
    ]
    caption = f"{shown.source} of the paper, {shown.title}, in our words under its numbers"
    table = table_html(_COLUMNS, name=caption, caption=caption, groups=groups)
    reasons = "".join(f"<li>{text_html(reason)}</li>" for reason in departures(shown))
    return f"{table}<p>{escape(_LEGEND)}</p>" + (f"<ul>{reasons}</ul>" if reasons else "")


def departures(shown: Listing) -> list[str]:
    """Why printed tags are dropped, one sentence or two for each kind.

    Examples
    --------
    >>> departures(listing("rollout"))
    ['Line 11: SP saves activations of passes that train; this one does not train.']
    """
    found = [
        f"Line {line.number}: the paper prints {_and([*line.dropped])}, but its turns follow each other. {line.note}"
        for line in shown.departures()
        if line.loop
    ]
    frozen = [str(line.number) for line in shown.departures() if not line.loop]
    if frozen:
        many = len(frozen) > 1
        which = "these do not train" if many else "this one does not train"
        found.append(f"Line{'s' * many} {_and(frozen)}: SP saves activations of passes that train; {which}.")
    return found


def _row(shown: Listing, line: Line) -> list[object]:
    style = f"display:block;min-width:19rem;padding-left:{1.25 * line.indent:g}rem"
    text = f'<span style="{style}">{text_html(line.text)}</span>'
    lane = chip(line.lane.value) if line.lane else None
    needs = ", ".join(map(str, line.needs))
    return [line.number, Html(text), lane, _parallelism(shown, line), needs]


def _parallelism(shown: Listing, line: Line) -> Html | None:
    parts = [Html(f"<strong>{tag}</strong>") for tag in line.tags.usual]
    parts += [Html(tag) for tag in line.tags.possible]
    parts += [Html(f"<s>{tag}</s>") for tag in line.dropped]
    if line.loop:
        parts.append(small("in turn" if shown.is_sequential(line) else "side by side"))
    return join(parts) if parts else None


def _and(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


class Source:
    """Functions as text, each line behind the numbers of the paper's lines that it carries out."""

    def __init__(self, *functions: Callable):
        blocks = [_numbered(function) for function in functions]
        margin = max(len(mark) for block in blocks for mark, _ in block)
        self.blocks = [[(f"{mark:>{margin}}  ", line) for mark, line in block] for block in blocks]

    def __repr__(self) -> str:
        return "\n\n".join("\n".join(f"{mark}{line}".rstrip() for mark, line in block) for block in self.blocks)

    def _repr_html_(self) -> str:
        from pygments import highlight
        from pygments.formatters import HtmlFormatter
        from pygments.lexers import PythonLexer

        shown = []
        for block in self.blocks:
            text = "\n".join(line for _, line in block)
            coloured = highlight(text, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)).splitlines()
            for (mark, _), line in zip(block, coloured, strict=True):
                shown.append(f'<span style="user-select:none;color:var(--rl-muted)">{mark}</span>{line}')
            shown.append("")
        text = "\n".join(shown[:-1])
        label = "Source code; in the margin the numbers of the paper's lines"
        opened = f'<pre role="group" tabindex="0" aria-label="{label}" style="font-size:12.5px">'
        return f'<div class="highlight">{opened}{text}</pre></div>'


def source(*functions: Callable) -> Source:
    """The source of functions without their documentation, with the paper's line numbers in the margin.

    Parameters
    ----------
    *functions : callable
        Functions whose comments name lines of the paper, jitted or not.

    Examples
    --------
    >>> from rlmkb.algorithms import updates
    >>> print(source(updates.token_mean))
      def token_mean(array: jax.Array, mask: jax.Array) -> jax.Array:
          return jnp.sum(jnp.where(mask, array, 0)) / jnp.sum(mask)
    """
    return Source(*functions)


def _numbered(function: Callable) -> list[tuple[str, str]]:
    """The lines of a function, without its docstring, and the numbers that each one's comment names."""
    text = textwrap.dedent(inspect.getsource(inspect.unwrap(function)))
    body = ast.parse(text).body[0].body
    rows = text.rstrip().splitlines()
    if ast.get_docstring(ast.parse(text).body[0]):
        rows[body[0].lineno - 1 : body[0].end_lineno] = []
    shown = []
    for row in rows:
        statement, _, comment = row.replace("  # fmt: skip", "").partition("  #")
        words = _NUMBERS.sub("", comment)
        shown.append((_ranges(numbers(f"#{comment}")), f"{statement}  #{words}" if words.strip() else statement))
    return [(margin, line) for margin, line in shown if margin or line.strip()]


def _ranges(found: tuple[int, ...]) -> str:
    """Numbers as a margin shows them.

    Examples
    --------
    >>> _ranges((57, 64, 65))
    '57,64-65'
    """
    if not found:
        return ""
    groups: list[list[int]] = []
    for number in found:
        if groups and number == groups[-1][-1] + 1:
            groups[-1].append(number)
        else:
            groups.append([number])
    return ",".join(str(group[0]) if len(group) == 1 else f"{group[0]}-{group[-1]}" for group in groups)


def invocation_table(runs: "Iterable[Run]", algorithm: "Algorithm", caption: str, **at: int) -> Rows:
    """The invocations of one iteration: sequences and traced FLOPs, and whether theory says the same.

    Parameters
    ----------
    runs : iterable of Run
        As `rlmkb.algorithms.invocations.rehearsed` gives them.
    algorithm : Algorithm
        The list of `rlmkb.theory.algorithms` to hold them against.
    caption : str
        Shown above the table.
    **at : int
        Values of the theory's symbols, with ``B`` and ``K``, or ``B_pairs``.
    """
    from rlmkb.algorithms import invocations

    runs = list(runs)
    sequences, work = invocations.sequences_run(runs), invocations.work_run(runs)
    listed, formula = invocations.sequences_by_theory(algorithm, **at), invocations.work_by_theory(algorithm, **at)
    rows = []
    for one in dict.fromkeys([*listed, *sequences]):
        run, by_list = (sequences.get(one, 0), work.get(one, 0)), (listed.get(one, 0), formula.get(one, 0))
        rows.append((one.stage.value, one.role.value, one.call.value, *run, "exact" if run == by_list else "differs"))
    return Rows(caption, ("Stage", "Model", "Call", "Sequences", "FLOP traced", "Theory"), tuple(rows))
