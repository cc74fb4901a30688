"""Tables X and XI: the catalogue's models and frameworks as tables of text."""

from rlmkb.catalogue import entries
from rlmkb.theory.cells import TextTable


def models_table() -> TextTable:
    """Table X: every model of the catalogue.

    Examples
    --------
    >>> models_table().rows["athene-70b"]["scale"]
    '70B'
    """
    columns = ("model", "organisation", "group", "access", "scale", "structure", "signal", "system", "references")
    rows = {
        id: {
            "model": model.name, "organisation": model.organisation or "", "group": str(model.group),
            "access": str(model.access), "scale": model.scale or "", "structure": str(model.structure or ""),
            "signal": model.signal.says, "system": model.system or "", "references": ", ".join(model.references),
        }
        for id, model in entries("models").items()
    }  # fmt: skip
    return TextTable("X", "Models and how they were post-trained", columns, rows)


def frameworks_table() -> TextTable:
    """Table XI: every framework of the catalogue, with the state of each feature.

    Examples
    --------
    >>> frameworks_table().rows["verl"]["DP"]
    'yes'
    """
    from rlmkb.catalogue.features import FEATURES

    rows = {
        id: {
            "framework": framework.name,
            **{feature: str(framework.features[feature].state) for feature in FEATURES},
            "remark": framework.remark or "",
        }
        for id, framework in entries("frameworks").items()
    }
    return TextTable("XI", "Frameworks and what they support", ("framework", *FEATURES, "remark"), rows)


TABLES = {"X": models_table, "XI": frameworks_table}
