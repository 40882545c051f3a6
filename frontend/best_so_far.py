"""The best so far over a run's submissions: what the curve, the table and the CSV agree on."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from grading.models import Submission, SubmissionState


@dataclass(frozen=True)
class Point:
    """One submission on the curve. `best` is the running maximum including it; None: nothing scored yet."""

    submission: Submission
    score: float | None
    best: float | None
    new_best: bool

    @property
    def waiting(self) -> bool:
        return not self.submission.ended


def points(submissions: Iterable[Submission]) -> list[Point]:
    """In the order of their numbers. Only graded, finite scores count; an equal score is not a new best."""
    found: list[Point] = []
    best: float | None = None
    for submission in sorted(submissions, key=lambda row: row.number):
        score = submission.score if submission.state == SubmissionState.GRADED else None
        if score is not None and not math.isfinite(score):
            score = None
        new = score is not None and (best is None or score > best)
        best = score if new else best
        found.append(Point(submission, score, best, new))
    return found
