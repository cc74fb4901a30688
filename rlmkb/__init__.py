"""Executable cost models for reinforcement-learning post-training of reasoning language models.

The names below are what the command line calls too. They load when used, so that the import stays instant.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlmkb import architecture, catalogue
    from rlmkb.api import cost, table

__version__ = "0.1.0"
__all__ = ["__version__", "architecture", "catalogue", "cost", "table"]

_LAZY = {"table": "rlmkb.api", "cost": "rlmkb.api"}


def __getattr__(name: str):
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    if name in ("architecture", "catalogue"):
        return import_module(f"rlmkb.{name}")
    raise AttributeError(f"module 'rlmkb' has no attribute {name!r}; it has: {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
