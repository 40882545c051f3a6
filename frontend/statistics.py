"""What can be said about scores of few runs.

Two noises are kept apart. **Decoding noise** is how far one checkpoint's score would move on other items: the standard
error that its evaluator reports. **Run-to-run noise** is how far an agent's runs lie apart: nothing can be said about
it from one run, so one run never gets an interval.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

RESAMPLES = 4000
SEED = 20260412
LEVEL = 0.95
KEPT_SIZES = 64
"""Resamplings are kept for samples up to this size."""


@dataclass(frozen=True)
class Interval:
    """A percentile bootstrap interval of a mean over `n` runs, in the values' unit."""

    low: float
    high: float
    n: int


def finite(value: float | None) -> float | None:
    """The number, or None for what a score cannot be: NaN and infinities are no scores."""
    return value if value is not None and math.isfinite(value) else None


def bootstrap(values: Sequence[float]) -> Interval | None:
    """The 95 % percentile bootstrap interval of the mean; None for fewer than two finite values.

    Efron and Tibshirani (1993), section 13.3, with 4,000 resamples. The same values give the same interval, in any
    order. Of two runs it is simply the lower and the higher.
    """
    known = tuple(sorted(value for value in values if math.isfinite(value)))
    return _bootstrap(known) if len(known) > 1 else None


@lru_cache(maxsize=16384)
def _bootstrap(values: tuple[float, ...]) -> Interval:
    means = _weights(len(values)) @ np.asarray(values)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high), len(values))


def _weights(size: int) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    """How often each value is drawn in each resample, over `size`: RESAMPLES x size."""
    return _kept_weights(size) if size <= KEPT_SIZES else _drawn_weights(size)


def _drawn_weights(size: int) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    drawn = np.random.default_rng(SEED + size).multinomial(size, [1 / size] * size, size=RESAMPLES)
    return np.asarray(drawn / size)


_kept_weights = lru_cache(maxsize=KEPT_SIZES)(_drawn_weights)


def run_deviation(values: Sequence[float]) -> float | None:
    """Run-to-run noise: the sample standard deviation over runs; None for fewer than two."""
    known = [value for value in values if math.isfinite(value)]
    if len(known) < 2:
        return None
    centre = sum(known) / len(known)
    return math.sqrt(sum((value - centre) ** 2 for value in known) / (len(known) - 1))


def decoding_error(errors: Sequence[float | None]) -> float | None:
    """Decoding noise of a mean: its standard error from those of its scores; None when any is unknown."""
    known = [error for error in errors if error is not None and math.isfinite(error)]
    if not known or len(known) < len(errors):
        return None
    return math.sqrt(sum([error * error for error in known])) / len(known)


def noise_of_mean(values: Sequence[float], decoding: float | None) -> float | None:
    """The standard error to judge a mean by: the larger of its two noises. One run has its decoding noise alone."""
    spread = run_deviation(values)
    between = None if spread is None else spread / math.sqrt(len(values))
    known = [noise for noise in (between, decoding) if noise is not None]
    return max(known, default=None)


def noise_of_average(noises: Sequence[float | None]) -> float | None:
    """The standard error of a plain average over independent values; None when any is unknown."""
    return decoding_error(noises)
