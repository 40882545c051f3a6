"""One thing that a check has to say, and all things that it can say."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from bundles.rules.catalogue import CATALOGUE

TOLD = 10
"""Findings of one kind that are listed."""
SEVERITIES = ("error", "warning", "missing", "info")


@dataclass(frozen=True)
class Finding:
    """`severity` error stops the bundle, warning is shown beside the number, missing and info only tell."""

    code: str
    severity: str
    category: str
    title: str
    text: str
    fix: str = ""
    place: str = ""
    """File, and line or entry where known."""

    def as_data(self) -> dict[str, Any]:
        return asdict(self)


def found(code: str, text: str, place: str = "", *, fix: str = "", title: str = "") -> Finding:
    """A finding of the catalogue. Raises: KeyError: no such code."""
    entry = CATALOGUE[code]
    return Finding(code, entry.severity, entry.category, title or entry.title, text, fix or entry.fix, place)
