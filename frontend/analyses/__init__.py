"""Analyses over runs: each module in `kinds` is one, found by itself."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from frontend.analyses import kinds
from frontend.analyses.contract import Analysis, Asked, Cell, Column, Kind, Table

__all__ = ["Analysis", "Asked", "Cell", "Column", "Kind", "Table", "analyses"]


@cache
def analyses() -> dict[str, Kind]:
    """By id, in the order in which they are listed."""
    modules = [import_module(f"{kinds.__name__}.{module.name}") for module in iter_modules(kinds.__path__)]
    found: list[Kind] = sorted((module.ANALYSIS for module in modules), key=lambda kind: kind.place)
    return {kind.id: kind for kind in found}
