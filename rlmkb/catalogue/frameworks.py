"""Frameworks of RL post-training: what each one supports, where that can be seen, and who looked when.

Every framework answers every feature of `rlmkb.catalogue.features`. A state other than `unknown` needs evidence that
cannot change under the reader: a file at a commit, or a section of a paper.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Literal, Self, get_args

from pydantic import BaseModel, create_model, model_validator

from rlmkb.catalogue.features import FEATURES
from rlmkb.catalogue.fields import BibKey, Day, Licence, Link, host_of, moves
from rlmkb.catalogue.loading import Entry, Facts, Many, Prose, Sentences, Some, Text

State = Literal["yes", "partial", "no", "unknown", "not_applicable"]
STATES: tuple[str, ...] = get_args(State)

# the rows of the paper's table, which gets no others
TABLE_XI = (
    *("trl", "colossalchat", "deepspeed-chat", "openrlhf", "verl", "nemo-rl", "real", "rlhfuse", "flexrlhf", "areal"),
    *("mindspeed-rl", "slime", "roll", "streamrl", "asyncflow", "laminar", "staleflow"),
)

_REPOSITORY = r"https://github\.com/[A-Za-z0-9-]+/[A-Za-z0-9._-]+"
_FILE = re.compile(rf"{_REPOSITORY}/blob/[0-9a-f]{{40}}/[^#?]+(?P<lines>#L[1-9]\d*(-L[1-9]\d*)?)?")
_TREE = re.compile(rf"{_REPOSITORY}/tree/[0-9a-f]{{40}}(/[^#?]+)?")
_ARXIV = re.compile(r"https://arxiv\.org/abs/\d{4}\.\d{4,5}(v\d+)?")


class Evidence(Facts):
    """Where a statement can be seen.

    A file of a repository is cited at a commit, with its lines or, where lines cannot be had, a section. A search
    that found nothing is cited by the tree that it ran in. A paper or page is cited by its address and a section.
    """

    url: Link
    """A permalink (the commit with all 40 digits), a paper's arXiv page, or another page."""
    section: Text | None = None
    """The section, heading or key, for everything that is not cited by lines."""
    searched: Text | None = None
    """The pattern that was searched for without success, as for `git grep -iE`."""
    secondary: bool = False
    """True for a source that is known only through somebody else's account of it."""
    says: Prose
    """What can be seen there, in our own words."""

    @model_validator(mode="after")
    def _can_be_found_again(self) -> Self:
        host = host_of(self.url)
        if re.fullmatch(r"(raw\.|gist\.|api\.)?github\.com|.*githubusercontent\.com", host):
            self._check_permalink()
        elif moves(self.url):
            raise ValueError("a link to a commit, with all 40 digits, in place of the branch or tag")
        elif self.searched:
            raise ValueError("searched only with a repository's tree at a commit")
        elif host.endswith("arxiv.org") and not _ARXIV.fullmatch(self.url):
            raise ValueError("the paper's page, https://arxiv.org/abs/NUMBER, with the section beside it")
        elif not self.section:
            raise ValueError("a section, because a page is too long to look through")
        return self

    def _check_permalink(self) -> None:
        if self.searched:
            if not _TREE.fullmatch(self.url):
                raise ValueError("a search in https://github.com/OWNER/NAME/tree/COMMIT, the commit with all 40 digits")
            self._check_pattern()
            return
        file = _FILE.fullmatch(self.url)
        if not file:
            raise ValueError(
                "a permalink, https://github.com/OWNER/NAME/blob/COMMIT/PATH#L1-L9, the commit with all 40 digits"
            )
        if not file["lines"] and not self.section:
            raise ValueError("lines at the end of the permalink (#L1-L9), or a section")
        lines = [int(number) for number in re.findall(r"\d+", file["lines"] or "")]
        if lines != sorted(lines):
            raise ValueError("lines that run forwards, such as #L1-L9")

    def _check_pattern(self) -> None:
        try:
            re.compile(self.searched)
        except (re.error, RecursionError, OverflowError) as error:
            raise ValueError(f"searched with a regular expression; this one is wrong ({error})") from None


class Verified(Facts):
    """When somebody looked, and at what."""

    on: Day
    """The day."""
    version: Text
    """The release and the first digits of the commit that was read, or the version of a paper."""


class Cell(Facts):
    """What one framework does about one feature."""

    state: State
    """yes, partial or no by the feature's tests; unknown if sources do not tell, or nobody has looked;
    not_applicable if the framework has no part that the question is about."""
    note: Prose | None = None
    """The consequence for performance first, then what is missing; needed for partial and not_applicable. For unknown,
    what was looked at."""
    since: Text | None = None
    """The earliest listed release in which the cited setting is found."""
    evidence: Many[Evidence] = ()
    """Where it can be seen; needed for every state but unknown."""
    tracker: Link | None = None
    """A public issue about what is missing."""
    verified: Verified | None = None
    """When and against what it was checked; needed for every state but unknown."""

    @model_validator(mode="after")
    def _is_grounded(self) -> Self:
        if self.state != "unknown" and not self.evidence:
            raise ValueError(f"evidence for {self.state}, or the state unknown")
        if self.state != "unknown" and not self.verified:
            raise ValueError(f"verified for {self.state}, the day and the version that was read")
        if self.state == "partial" and not self.note:
            raise ValueError("a note for partial, what is missing and what that costs")
        if self.state == "not_applicable" and not self.note:
            raise ValueError("a note for not_applicable, which part there is not")
        if self.since and self.state not in ("yes", "partial"):
            raise ValueError(f"since only for yes and partial, not for {self.state}")
        return self


class _Cells(Facts):
    def __getitem__(self, feature: str) -> Cell:
        if feature not in FEATURES:
            raise KeyError(feature)
        return getattr(self, feature)

    def items(self) -> Iterator[tuple[str, Cell]]:
        """Features and cells in the order of `FEATURES`."""
        return ((feature, self[feature]) for feature in FEATURES)


# fields and not a dict, so that a missing or misspelt feature is reported like any other key
Cells: type[BaseModel] = create_model("Cells", __base__=_Cells, **dict.fromkeys(FEATURES, (Cell, ...)))


class Release(Facts):
    """A version that a cell may name in `since`."""

    version: Text
    """In quotes: 1.10 is not a number."""
    date: Day
    """The day of its tag."""
    notes: Link
    """Its page."""


class Backends(Facts):
    """The engines that compute."""

    training: Many[Text]
    """What trains; empty if nothing does."""
    rollout: Many[Text]
    """What generates."""


class Framework(Entry):
    """One file of `data/frameworks`."""

    description: Annotated[Text, Sentences(most=1)]
    """One sentence that would fit no other framework."""
    organisation: Text
    """Who makes it."""
    repository: Link | None
    """Where its code is; null if none is public."""
    no_repository: Text | None = None
    """Why there is no repository."""
    license: Licence | None
    """SPDX identifier of the code's licence, LicenseRef-NAME if it has none; null without code."""
    centre: Literal["library", "orchestrator", "scheduling", "unknown"]
    """The class of section VI-B, where the paper names one, ours elsewhere."""
    in_paper: Literal["table_xi", "text", "no"]
    """Whether table XI has it, only the text, or neither."""
    remark: Prose | None = None
    """What table XI remarks, in our own words; for its frameworks only."""
    status: Literal["active", "maintenance", "dormant", "archived", "paper_only", "unknown"]
    """dormant: no commit for half a year; maintenance and archived: by the authors' word; paper_only: no code."""
    releases: Many[Release] = ()
    """The first, the latest, and those that cells name."""
    backends: Backends
    """What trains and what generates."""
    algorithms: Some[Text]
    """The RL and preference algorithms that it names."""
    upstream: Text | None = None
    """Id of the framework that this one is a fork of, or runs on."""
    references: Many[BibKey] = ()
    """Keys of data/references.bib."""
    features: Cells
    """One cell for each feature."""

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        if (self.repository is None) != (self.no_repository is not None):
            raise ValueError("repository, or no_repository with the reason, and not both")
        if (self.remark is not None) != (self.in_paper == "table_xi"):
            raise ValueError("remark for a framework of table XI, and only there")
        if self.upstream == self.id:
            raise ValueError("upstream another framework, or nothing")
        if (self.id in TABLE_XI) != (self.in_paper == "table_xi"):
            raise ValueError(f"in_paper table_xi for the {len(TABLE_XI)} frameworks of that table, and only there")
        if self.in_paper != "no" and not self.references:
            raise ValueError("references for a framework that the paper cites")
        if self.repository is None and (self.releases or self.status not in ("paper_only", "unknown")):
            raise ValueError("no releases, and status paper_only or unknown, where there is no repository")
        if self.repository and self.status == "paper_only":
            raise ValueError("status paper_only where there is no repository, and only there")
        known = [release.version for release in self.releases]
        if len(set(known)) < len(known):
            raise ValueError(f"each version once among the releases, not {', '.join(known)}")
        for feature, cell in self.features.items():
            if cell.since and cell.since not in known:
                raise ValueError(f"features.{feature}.since among the releases ({', '.join(known) or 'none listed'})")
        return self

    @property
    def states(self) -> dict[str, str]:
        """Feature to state, in the order of `FEATURES`.

        Examples
        --------
        >>> from rlmkb.catalogue import entry
        >>> entry("frameworks", "deepspeed-chat").states["hybrid"]
        'yes'
        """
        return {feature: cell.state for feature, cell in self.features.items()}


SCHEMA = Framework
