"""Scores by themselves and against each other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from bundles.dialects.facts import Claim
from bundles.dialects.values import number
from bundles.format.words import SCORE_LIMIT
from bundles.rules.case import Case
from bundles.rules.findings import TOLD, Finding, found

CLOSE = 0.011
"""Two numbers with two decimals, each rounded, differ by no more."""


def score_findings(case: Case) -> Iterator[Finding]:
    run = case.run
    for claim in run.submissions:
        yield from _one_score(claim)
    yield from _numbers(case)
    yield from _equal(run.submissions)
    yield from _best(case)
    yield from _baseline(case)
    yield from _against_files(case)
    yield from _metrics(case)
    if not run.submissions and not run.claimed_count:
        yield found("nothing_submitted", "The run has no score, and is shown as one without.")


def _one_score(claim: Claim) -> Iterator[Finding]:
    place = f"submission {claim.number}"
    if isinstance(claim.stated, float) and not math.isfinite(claim.stated):
        yield found("score_not_finite", f"The score of submission {claim.number} is {claim.stated}.", place)
    if claim.score is not None and not 0 <= claim.score <= SCORE_LIMIT:
        yield found("score_range", f"The score of submission {claim.number} is {claim.score:g}.", place)


def _numbers(case: Case) -> Iterator[Finding]:
    numbers = Counter(claim.number for claim in case.run.submissions)
    for each in sorted(each for each, times in numbers.items() if times > 1)[:TOLD]:
        yield found("number_twice", f"Number {each} stands {numbers[each]} times.", f"submission {each}")
    count = case.run.claimed_count
    if count is not None and count != len(case.run.submissions):
        yield found(
            "count_differs", f"results.csv says {count}, scores.json lists {len(case.run.submissions)}.", "results.csv"
        )
    scores = [claim.score for claim in case.run.scored if claim.score]
    if len(scores) >= 2 and max(scores) <= 1:
        yield found("scores_look_like_shares", f"The highest is {max(scores):g} of 100.", "scores")


def _equal(claims: list[Claim]) -> Iterator[Finding]:
    by_score: dict[tuple[str, float], list[Claim]] = {}
    by_digest: dict[tuple[str, str], list[Claim]] = {}
    for claim in claims:
        if claim.score is not None:
            by_score.setdefault((claim.task, claim.score), []).append(claim)
            if claim.digest:
                by_digest.setdefault((claim.task, claim.digest), []).append(claim)
    for (_, score), same in by_score.items():
        if len(same) > 1 and not all(claim.digest for claim in same) and len({claim.model_path for claim in same}) > 1:
            named = " and ".join(str(claim.number) for claim in same[:5])
            text = f"{score:g}, from different folders. Without digests a copy cannot be told from a coincidence."
            title = f"Submissions {named} have the same score"
            yield found("same_score", text, f"submissions {named}", title=title)
    for (_, digest), same in by_digest.items():
        if len({claim.score for claim in same}) > 1:
            told = ", ".join(f"#{claim.number} {claim.score:g}" for claim in same[:5])
            yield found("same_digest", f"{digest[:12]}… was given {told}.", "digest")


def _best(case: Case) -> Iterator[Finding]:
    run = case.run
    best = run.best.score if run.best else None
    told = run.claimed_best
    if told is not None and run.submissions:
        if best is None and told != 0:
            yield found("best_differs", f"The best is said to be {told:g}; no submission has a score.", "best")
        elif best is not None and abs(told - best) > CLOSE:
            yield found("best_differs", f"The best is said to be {told:g}; the list's highest is {best:g}.", "best")
    baseline = run.baselines.get(run.task)
    gain = None if told is None or baseline is None else told - baseline
    if gain is not None and run.claimed_improvement is not None and abs(gain - run.claimed_improvement) > 2 * CLOSE:
        text = f"{told:g} − {baseline:g} is {gain:.2f}, not {run.claimed_improvement:g}."
        yield found("improvement_differs", text, "results.csv")


def _baseline(case: Case) -> Iterator[Finding]:
    run = case.run
    if not run.baselines and run.submissions:
        yield found("baseline_missing", "No improvement can be told.")
    told = 0
    for claim in run.scored:
        baseline = claim.baseline if claim.baseline is not None else run.baselines.get(claim.task)
        if claim.improvement is None or baseline is None or claim.score is None:
            continue
        if abs(claim.score - baseline - claim.improvement) > 2 * CLOSE and told < TOLD:
            told += 1
            text = f"Submission {claim.number}: {claim.score:g} − {baseline:g} is not {claim.improvement:g}."
            yield found("improvement_differs", text, f"submission {claim.number}")
    for task, value in run.baselines.items():
        if not 0 <= value <= SCORE_LIMIT:
            yield found("score_range", f"The baseline of {task} is {value:g}.", "baselines")


def _against_files(case: Case) -> Iterator[Finding]:
    """The manifest against the files that it was made from."""
    if case.inner is None:
        return
    ours = {claim.number: claim.score for claim in case.run.submissions}
    theirs = {claim.number: claim.score for claim in case.inner.submissions}
    for each in sorted(ours.keys() | theirs.keys())[:1000]:
        if each not in ours or each not in theirs:
            where = "the manifest" if each in ours else "the run's own files"
            yield found("manifest_differs", f"Submission {each} stands only in {where}.", f"submission {each}")
        elif not _agree(ours[each], theirs[each]):
            text = f"Submission {each} has {ours[each]} in the manifest, {theirs[each]} in the run's own files."
            yield found("manifest_differs", text, f"submission {each}")


def _agree(first: Any, second: Any) -> bool:
    if first is None or second is None:
        return first is second
    return abs(float(first) - float(second)) <= CLOSE


def _metrics(case: Case) -> Iterator[Finding]:
    """The reference's process metrics, recomputed where the scores alone decide them."""
    told, claims = case.run.metrics, case.run.submissions
    if not claims:
        return
    scores = [claim.score or 0.0 for claim in claims]
    scored = [claim.score for claim in case.run.scored if claim.score is not None]
    ours = {
        "valid_submission_rate": sum(score > 0 for score in scores) / len(scores),
        "monotonic_ratio": _monotonic(scored),
    }
    for key, value in ours.items():
        stated = number(told.get(key))
        if stated is not None and value is not None and abs(stated - value) > 0.006:
            theirs = _monotonic(scores) if key == "monotonic_ratio" else None
            why = (
                " counts what was not scored as a zero;" if theirs is not None and abs(theirs - stated) < 0.006 else ":"
            )
            text = f"{key} {stated:.2f}{why} without that it is {value:.2f}. Both are shown."
            yield found("metric_differs", text, "metrics.json")


def _monotonic(scores: list[float]) -> Any:
    """The share of steps upwards."""
    if len(scores) < 2:
        return None
    return sum(after > before for before, after in zip(scores, scores[1:])) / (len(scores) - 1)
