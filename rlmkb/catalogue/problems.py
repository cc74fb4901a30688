"""What a check can find: every rule once, with what it means and how to mend it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

ADVICE = "A"  # codes with this letter never fail a check
MOST = 200  # problems of one file that are listed; the rest is counted

COUNTERS = ("F122", "A414")


class Rule(NamedTuple):
    """A rule of the catalogue: its title, and how to mend a breach."""

    title: str
    mend: str


RULES: dict[str, Rule] = {
    # F: the file as text and as YAML
    "F101": Rule("The file cannot be read", "Put a plain file there that everyone may read."),
    "F102": Rule("The file is too large", "Keep facts only; long text belongs into a chapter, tables into a CSV file."),
    "F103": Rule("The file is not text", "Save it as UTF-8, without control characters."),
    "F104": Rule("A byte order mark", "Save as UTF-8 without it; `--fix` removes it."),
    "F105": Rule("Line ends of another system", "End lines with a line feed alone; `--fix` does."),
    "F106": Rule("A tab in front of a line", "Indent with two spaces; `--fix` does."),
    "F107": Rule("Not YAML", "Mend the syntax at the line named; quote text that has a colon or a number sign in it."),
    "F108": Rule("More than one document", "One file is one entry: remove the line `---`."),
    "F109": Rule("An anchor or alias", "Write the value out where it is needed."),
    "F110": Rule(
        "A YAML tag or directive",
        "Remove the word with the exclamation mark or the line with the percent sign; quote text that starts with one.",
    ),
    "F111": Rule("Nested too deep", "No entry needs more than a few levels."),
    "F112": Rule("A key given twice", "Keep one of them."),
    "F113": Rule("A key that is not text", "Keys are the words that the reference of fields lists."),
    "F114": Rule("Not a mapping of keys to values", "Start from `rlmkb catalogue new KIND ID`."),
    "F115": Rule(
        "A word that YAML readers take for different things",
        "Put it in quotes: some read an unquoted no as false, 12:30 as 750, a date as a date; `--fix` does.",
    ),
    "F116": Rule("A file that nobody reads", "Entries are data/KIND/ID.yml, with the ending .yml and no folder below."),
    "F117": Rule("A character that cannot be seen", "Remove it; it can make text read differently from what it is."),
    "F118": Rule("A row that does not fit the header", "Give it as many cells as the first line has."),
    "F119": Rule("An id given twice", "Give each row an id of its own."),
    "F120": Rule("A table with other columns", "Keep the header of the file; for a new table open an issue."),
    "F121": Rule("A row without its source", "Name the repository, the commit if there is one, and the place."),
    "F122": Rule("More problems than are listed", "Mend those that are listed first, and check again."),
    # V: values
    "V201": Rule("A key is missing", "Add it; `unknown` or `null` where the key allows it is an honest answer."),
    "V202": Rule("A key that the kind does not have", "Use the nearest known key, or remove it."),
    "V203": Rule("Not one of the allowed words", "Use one of the words listed."),
    "V204": Rule("A value of the wrong type", "Text stands in quotes, numbers and true or false do not."),
    "V205": Rule("A value out of range or of the wrong form", "Follow the form named in the message."),
    "V206": Rule("Not a link", "Only links that start with https:// are shown; `--fix` turns http into https."),
    "V207": Rule("The entry contradicts itself", "Change one of the values named."),
    "V208": Rule("The id is not the file's name", "Rename the file, or change the id."),
    # R: what an entry says about others
    "R301": Rule("A reference that does not exist", "Add the work to data/references.bib, or use a key that is there."),
    "R302": Rule("An id that does not exist", "Use the id of an entry of that kind, or add the entry first."),
    "R303": Rule("Two entries that cannot be told apart", "Give each its own name and description, or merge them."),
    "R304": Rule("An algorithm unlike its list of calls", "Change the edits, or what it says of models and setting."),
    "R305": Rule("A count that the shape contradicts", "Look the shape and the count up again, or say what is extra."),
    # A: advice
    "A401": Rule("Spaces at the end of a line", "Remove them; `--fix` does."),
    "A402": Rule("Keys in another order", "Use the order of the reference of fields; `--fix` does."),
    "A403": Rule("The last line does not end", "End the file with one line feed; `--fix` does."),
    "A404": Rule("Markup in text", "Text is shown as it is written; describe the thing in words."),
    "A405": Rule("A link to code that can change", "Link to a commit: press y on GitHub, and copy the address."),
    "A406": Rule("Still as the template left it", "Fill it in when you know it."),
    "A407": Rule("A letter written in two characters", "Save the text in Unicode's composed form; `--fix` does."),
    "A408": Rule("A link in a longer form than needed", "Use the short form; `--fix` does."),
    "A409": Rule("Text that is not whole sentences", "Start with a capital, end with a full stop, use single spaces."),
    "A410": Rule("Unknown, and not said why", "Write a note: what was looked at, so that nobody looks there again."),
    "A411": Rule("An id that is not the name", "Use the name in lower case with hyphens, or shorten the name."),
    "A412": Rule("An unlikely figure", "Look it up again: unit, one way or both, sparsity, decimal or binary prefix."),
    "A413": Rule("Nothing cited", "Add the paper or report to data/references.bib, and name its key."),
    "A414": Rule("More advice than is listed", "Follow what is listed first, and check again."),
    "A415": Rule("A long file", "Shorten notes and evidence to what decides the state of a cell."),
}


class Edit(NamedTuple):
    """Replace a stretch of a file's text."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, order=True)
class Problem:
    """One breach of a rule.

    Attributes
    ----------
    path, line
        Where; lines count from 1.
    code : str
        A key of `RULES`.
    message : str
        What is wrong, the value seen, and what is allowed, the nearest first.
    write : str, optional
        A line to paste.
    edits : tuple of Edit
        What `--fix` would do; empty where only a person can tell.
    where : tuple
        The keys and numbers that lead to the value, if it is about one.
    count : int
        How many problems it stands for; more than one where a file has too many to list.
    """

    path: str
    line: int
    code: str
    message: str
    write: str | None = field(default=None, compare=False)
    edits: tuple[Edit, ...] = field(default=(), compare=False)
    where: tuple = field(default=(), compare=False)
    count: int = field(default=1, compare=False)

    @property
    def must_fix(self) -> bool:
        """Whether it fails a check.

        Examples
        --------
        >>> Problem("x.yml", 1, "A401", "spaces at the end").must_fix
        False
        """
        return not self.code.startswith(ADVICE)

    def __str__(self) -> str:
        told = printable(f"{self.path}:{self.line}: {self.code} {self.message}")
        return f"{told}\n    write: {printable(self.write)}" if self.write else told

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        names = ("path", "line", "code", "message", "write", "count")
        return {name: getattr(self, name) for name in names} | {"must_fix": self.must_fix, "fixable": bool(self.edits)}


def listed(problems: Iterable[Problem]) -> list[Problem]:
    """The problems of one file, those first that must be mended; what is too many to list as one that counts them.

    Examples
    --------
    >>> found = listed(Problem("x.yml", line, "F117", "unseen") for line in range(1, 301))
    >>> len(found), str(found[-1])
    (201, 'x.yml:201: F122 and 100 more')
    """
    found = sorted(problems, key=lambda problem: (not problem.must_fix, problem.code in COUNTERS, problem))
    kept, rest = found[:MOST], found[MOST:]
    return kept if not rest else [*kept, counter(rest[0], sum(problem.count for problem in rest))]


def counter(first: Problem, count: int) -> Problem:
    """One problem in place of `count`, the first of which is given."""
    code = "F122" if first.must_fix else "A414"
    return Problem(first.path, first.line, code, f"and {count:,} more", count=count)


def printable(text: str) -> str:
    """Text of a file or a file's name for a terminal, on one line: what would steer it is spelt out.

    Examples
    --------
    >>> printable("é" + chr(27) + "[31m")
    'é\\\\x1b[31m'
    """
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def rules_text() -> str:
    """All rules as text for a terminal."""
    return "\n".join(f"{code}  {rule.title}\n      {rule.mend}" for code, rule in RULES.items())


def rules_markdown() -> str:
    """All rules as a table for a page."""
    lines = ["| code | what is found | how to mend it |", "| --- | --- | --- |"]
    lines += [f"| {code} | {rule.title} | {rule.mend} |" for code, rule in RULES.items()]
    return "\n".join(lines)
