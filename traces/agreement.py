"""Agreement between people who label the same runs: per tag over all of them, and for each pair of them.

Alpha is Krippendorff's, nominal, for any number of observers and missing values (Krippendorff 2011, “Computing
Krippendorff's Alpha-Reliability”, section C); kappa is Cohen's (1960, “A Coefficient of Agreement for Nominal Scales”).
A tag is present or absent in a label, so each tag is a nominal variable of its own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

LEAST_OVERLAP = 10
"""Units that two people or more labelled, below which no number is given."""
RESAMPLES = 10_000
UNDEFINED_MOST = 0.05
"""Resamples without variation have no alpha; with more of them than this share there is no interval."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Label:
    """What one person says of one unit (a run): the tags that apply; none is a label too."""

    unit: int
    author: str
    tags: frozenset[str]


@dataclass(frozen=True)
class TagAgreement:
    """One tag over all people. Numbers are None where `reason` says why."""

    tag: str
    units: int
    """Labelled by two or more; only they count."""
    labels: int
    prevalence: float | None = None
    """The share of these labels that have the tag."""
    raw: float | None = None
    """The share of agreeing pairs of labels."""
    alpha: float | None = None
    low: float | None = None
    high: float | None = None
    """A 95 % percentile interval over resampled units; None where they cannot tell."""
    reason: str = ""


@dataclass(frozen=True)
class PairAgreement:
    """One tag for two people, over the units that both labelled."""

    tag: str
    first: str
    second: str
    units: int
    prevalence: float | None = None
    raw: float | None = None
    kappa: float | None = None
    reason: str = ""


def tag_agreements(labels: Iterable[Label], tags: Sequence[str], *, least: int = LEAST_OVERLAP) -> list[TagAgreement]:
    """One entry a tag, in order."""
    by_unit: dict[int, list[frozenset[str]]] = {}
    for label in labels:
        by_unit.setdefault(label.unit, []).append(label.tags)
    shared = [found for found in by_unit.values() if len(found) > 1]
    return [_tag_agreement(tag, shared, least) for tag in tags]


def _tag_agreement(tag: str, shared: Sequence[Sequence[frozenset[str]]], least: int) -> TagAgreement:
    units, labels = len(shared), sum(map(len, shared))
    if units < least:
        return TagAgreement(tag, units, labels, reason=_too_few(units, least))
    present = [sum(tag in tags for tags in found) for found in shared]
    counts = np.array([(yes, len(found) - yes) for yes, found in zip(present, shared, strict=True)], dtype=np.float64)
    alpha = float(nominal_alpha(counts))
    low, high = (None, None) if np.isnan(alpha) else alpha_interval(counts)
    return TagAgreement(
        tag,
        units,
        labels,
        prevalence=sum(present) / labels,
        raw=raw_agreement(counts),
        alpha=None if np.isnan(alpha) else alpha,
        low=low,
        high=high,
        reason=_no_variation(sum(present) > 0) if np.isnan(alpha) else "",
    )


def pair_agreements(labels: Iterable[Label], tags: Sequence[str], *, least: int = LEAST_OVERLAP) -> list[PairAgreement]:
    """For each tag every pair of people who labelled at least one unit both."""
    by_author: dict[str, dict[int, frozenset[str]]] = {}
    for label in labels:
        by_author.setdefault(label.author, {})[label.unit] = label.tags
    found = []
    for tag in tags:
        for first, second in combinations(sorted(by_author), 2):
            common = sorted(by_author[first].keys() & by_author[second].keys())
            if common:
                one, other = ([tag in by_author[each][unit] for unit in common] for each in (first, second))
                found.append(_pair_agreement(tag, (first, second), (one, other), least))
    return found


def _pair_agreement(
    tag: str, authors: tuple[str, str], values: tuple[list[bool], list[bool]], least: int
) -> PairAgreement:
    one, other = values
    units = len(one)
    if units < least:
        return PairAgreement(tag, *authors, units, reason=_too_few(units, least))
    kappa = cohen_kappa(one, other)
    return PairAgreement(
        tag,
        *authors,
        units,
        prevalence=(sum(one) + sum(other)) / (2 * units),
        raw=sum(a == b for a, b in zip(one, other, strict=True)) / units,
        kappa=kappa,
        reason=_no_variation(one[0]) if kappa is None else "",
    )


def nominal_alpha(counts: Floats, weights: Floats | None = None) -> Floats:
    """Krippendorff's nominal alpha of `counts[unit, category]`: how many labels say that of the unit.

    `weights[..., unit]` says how often each unit counts, once by default, and gives one alpha a row. Units with fewer
    than two labels play no part. NaN where all labels that count are the same.
    """
    sizes = counts.sum(axis=1, keepdims=True)
    paired = np.where(sizes > 1, counts, 0.0)
    matches = (paired * (paired - 1) / np.maximum(sizes - 1, 1)).sum(axis=1)
    weights = np.ones(len(counts)) if weights is None else weights
    totals = weights @ paired
    n = totals.sum(axis=-1)
    by_chance = (totals * (totals - 1)).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        alpha: Floats = ((n - 1) * (weights @ matches) - by_chance) / (n * (n - 1) - by_chance)
    return alpha


def alpha_interval(counts: Floats, *, resamples: int = RESAMPLES, seed: int = 0) -> tuple[float | None, float | None]:
    """The 2.5th and 97.5th percentile of alpha over units drawn with replacement.

    None: the units cannot tell, because none of them shows a disagreement or because too many draws have no variation.
    """
    if raw_agreement(counts) == 1:
        return None, None
    patterns, often = np.unique(counts, axis=0, return_counts=True)
    drawn = np.random.default_rng(seed).multinomial(len(counts), often / len(counts), size=resamples)
    alphas = nominal_alpha(patterns, drawn.astype(np.float64))
    known = alphas[~np.isnan(alphas)]
    if len(known) < (1 - UNDEFINED_MOST) * resamples:
        return None, None
    low, high = np.percentile(known, [2.5, 97.5])
    return float(low), float(high)


def raw_agreement(counts: Floats) -> float:
    """The share of agreeing pairs among all pairs of labels of the same unit."""
    sizes = counts.sum(axis=-1)
    return float((counts * (counts - 1)).sum() / (sizes * (sizes - 1)).sum())


def cohen_kappa(one: Sequence[object], other: Sequence[object]) -> float | None:
    """Cohen's kappa of two people's labels of the same units, in the same order; None when all labels are the same."""
    n = len(one)
    observed = sum(a == b for a, b in zip(one, other, strict=True)) / n
    expected = sum(one.count(each) * other.count(each) for each in {*one, *other}) / n**2
    return None if expected == 1 else (observed - expected) / (1 - expected)


def _too_few(units: int, least: int) -> str:
    return f"too few overlapping labels ({units} of at least {least})"


def _no_variation(present: bool) -> str:
    return f"no variation: every label {'has' if present else 'lacks'} the tag"
