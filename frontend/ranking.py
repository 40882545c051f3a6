"""The one ranking: pages, API and files all rank through `bands`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

DIGITS = 9
"""Scores are compared after rounding here, so that a mean's order of addition never decides a tie."""
APART = 1.959964
"""Two values differ when they lie further apart than this many standard errors of their difference: 95 %, two-sided,
without a correction for looking at many pairs. Where a noise is unknown, values that differ at all do."""


@dataclass(frozen=True)
class Band:
    """The ranks, from 1, that a row may have: `low` counts the rows clearly above it, `high` those clearly below."""

    low: int
    high: int

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low}–{self.high}"


def rankable(value: float | None) -> bool:
    """Only finite numbers are ranked: `None`, NaN and infinities never, 0.0 always."""
    return value is not None and math.isfinite(value)


def mean(values: Sequence[float | None]) -> float | None:
    """The mean, or `None` when there is nothing or anything is unscored: no average over unscored."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    return math.fsum(known) / len(known) if known and len(known) == len(values) else None


def bands(values: Sequence[float | None], noises: Sequence[float | None]) -> list[Band | None]:
    """The rank band of each value, the highest first; None for what is not scored.

    A row's best rank is one more than the number of rows clearly above it, its worst leaves room for those clearly
    below it. Rows that cannot be told apart share ranks; telling apart is not transitive, so bands may overlap.
    """
    score = np.array([math.nan if value is None else value for value in values], dtype=float)
    noise = np.array([math.nan if each is None else each for each in noises], dtype=float)
    known = np.isfinite(score)
    score, noise = np.round(score[known], DIGITS), noise[known]
    lead = score[:, None] - score[None, :]
    needed = APART * np.hypot(noise[:, None], noise[None, :])
    clear = np.where(np.isnan(needed), lead != 0, np.abs(lead) > needed)
    above, below = (clear & (lead < 0)).sum(axis=1), (clear & (lead > 0)).sum(axis=1)
    found = iter(Band(int(low) + 1, len(score) - int(high)) for low, high in zip(above, below, strict=True))
    return [next(found) if is_known else None for is_known in known]
