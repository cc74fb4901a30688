"""What is new since the paper: releases, frameworks and models that it could not know."""

from collections.abc import Mapping
from html import escape
from urllib.parse import urlencode

from rlmkb.catalogue.frameworks import Framework
from rlmkb.catalogue.models import Model
from rlmkb.views.catalogue.models import FAMILIES
from rlmkb.views.catalogue.states import centric
from rlmkb.views.catalogue.text import To, external, internal, items, page_of, paragraph, small

PAPER = "2026-08"  # the month of besta2026performance on arXiv


def releases_since_html(frameworks: Mapping[str, Framework], to: To) -> str:
    """Releases listed in entries that are dated in the month of the paper or later, the newest first."""
    found = [
        (release.date, one.name.casefold(), one, release)
        for one in frameworks.values()
        for release in one.releases
        if release.date >= PAPER
    ]
    lines = [
        f"{release.date}: {internal(to(page_of(one.id)), one.name)} {external(release.notes, release.version)}"
        for _, _, one, release in sorted(found, key=lambda line: line[:2], reverse=True)
    ]
    return items(lines) or paragraph("None is listed yet.")


def newer_frameworks_html(frameworks: Mapping[str, Framework], to: To) -> str:
    """Frameworks that neither table XI nor the text names."""
    lines = [
        f"{internal(to(page_of(one.id)), one.name)}, {centric(one.centre).lower()}. "
        f"{small(escape(one.description))}"
        for one in frameworks.values()
        if one.in_paper == "no"
    ]
    return items(lines) or paragraph("None yet.")


def newer_models_html(models: Mapping[str, Model], to: To) -> str:
    """Models that table X does not have, the newest first."""
    found = sorted(
        (one for one in models.values() if one.in_paper == "no"), key=lambda one: one.released or "", reverse=True
    )
    page = to("book/catalogue/models")
    lines = [
        f"{one.released or 'undated'}: {internal(_found(page, one.name), one.name)}, {FAMILIES[one.signal.family]}"
        for one in found
    ]
    return items(lines) or paragraph("None yet.")


def _found(page: str, name: str) -> str:
    """The address of a live table that shows what it finds for a name."""
    return f"{page}#{urlencode({'q': name})}"
