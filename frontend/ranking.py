"""The one ranking: pages, API and files all rank through `ranks`."""

import math
from collections.abc import Sequence

DIGITS = 9
"""Scores are compared after rounding here, so that a mean's order of addition never decides a tie."""


def rankable(value: float | None) -> bool:
    """Only finite numbers are ranked: `None`, NaN and infinities never, 0.0 always."""
    return value is not None and math.isfinite(value)


def ranks(values: Sequence[float | None]) -> list[int | None]:
    """Rank from 1 for each value, the highest first; equal values share a rank and the next one is skipped.

    `None` for what is not ranked, in either direction.
    """
    known = [round(value, DIGITS) for value in values if value is not None and math.isfinite(value)]
    first = {value: place for place, value in reversed(list(enumerate(sorted(known, reverse=True), start=1)))}
    return [first[round(value, DIGITS)] if value is not None and math.isfinite(value) else None for value in values]


def mean(values: Sequence[float | None]) -> float | None:
    """The mean, or `None` when there is nothing or anything is unscored: no average over unscored."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    return math.fsum(known) / len(known) if known and len(known) == len(values) else None
