"""A framework whose every text tries to become markup."""

import pytest

from rlmkb.catalogue import entry
from rlmkb.catalogue.features import FEATURES
from rlmkb.catalogue.frameworks import Cells, Framework, Release

HOSTILE = (
    '<script>hacked = 1</script><img src=x onerror="hacked = 1"> "\'> {{x}} `a` $b$ [c](javascript:hacked) </table>'
)


def hostile_framework() -> Framework:
    """An entry that the schema accepts, with hostile text even where the schema asks for known words."""
    evidence = {
        "url": f"https://github.com/a/b/blob/{'0' * 40}/<script>.py#L1-L2".replace("<", "%3C").replace(">", "%3E"),
        "section": HOSTILE,
        "says": HOSTILE,
        "secondary": True,
    }
    cell = {
        "state": "partial",
        "note": HOSTILE,
        "evidence": [evidence],
        "verified": {"on": "2026-11-29", "version": HOSTILE},
    }
    accepted = Framework.model_validate(
        {
            "id": "hostile",
            "name": HOSTILE,
            "description": HOSTILE,
            "organisation": HOSTILE,
            "repository": None,
            "no_repository": HOSTILE,
            "license": None,
            "centre": "library",
            "in_paper": "no",
            "status": "unknown",
            "backends": {"training": [HOSTILE], "rollout": [HOSTILE]},
            "algorithms": [HOSTILE],
            "features": dict.fromkeys(FEATURES, cell),
        }
    )
    release = Release(version=HOSTILE, date="2026-09-01", notes="https://example.org/?a=1&b=2")
    words = {"license": HOSTILE, "in_paper": "table_xi", "remark": HOSTILE, "status": "active", "releases": (release,)}
    return accepted.model_copy(update=words)


@pytest.fixture(scope="session")
def hostile() -> Framework:
    return hostile_framework()


def framework(id: str, states: dict[str, str]) -> Framework:
    """A framework of the given states, all others no."""
    given = entry("frameworks", "verl")
    cells = {
        name: given.features[name].model_copy(update={"state": states.get(name, "no"), "note": "What is missing."})
        for name in FEATURES
    }
    return given.model_copy(update={"id": id, "name": id, "features": Cells.model_construct(**cells)})
