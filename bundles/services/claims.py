"""Claimed scores as rows that can never be taken for ours.

A claimed verdict's protocol begins with `claimed:`, it belongs to no evaluation and carries no digest: so nothing that
looks for a stored verdict finds it. Where a run stands (`TaskStanding`) carries the claimed score under the protocol
that the bundle states, and the run's trust stands beside it wherever it is shown.
"""

from datetime import datetime, timedelta
from math import isfinite
from typing import Any

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from benchmark.models import Run
from bundles.checking.report import Claim, ClaimedSubmission
from grading.models import Submission, SubmissionState, TaskStanding, Verdict
from grading.models.verdict import CLAIMED
from grading.services.standings import standing_rebuild
from traces.services.ingest_rows import storable

NOT_SCORED = "C_NOT_SCORED"
SECONDS_MOST = 1e9


def submissions_claim(run: Run, claim: Claim) -> None:
    """The run's submissions with their claimed verdicts, and where it stands by them. In the caller's transaction."""
    ordered = sorted(claim.submissions, key=lambda each: each.number)
    verdicts = Verdict.objects.bulk_create([_verdict(run, each) for each in ordered])
    Submission.objects.bulk_create(
        [_submission(run, each, verdict) for each, verdict in zip(ordered, verdicts, strict=True)]
    )
    baselines = dict(run.source.get("baselines", {}))
    for task in run.tasks:
        standing_rebuild(run, task)
        TaskStanding.objects.filter(run=run, task=task).update(baseline=_score(baselines.get(task)))


def _verdict(run: Run, each: ClaimedSubmission) -> Verdict:
    protocol = f"{CLAIMED}{run.protocol}"[:128]
    score = _score(each.score)
    if score is None:
        told = storable(each.error)[:2000] or "The bundle gives no score for this submission."
        return Verdict(protocol=protocol, code=NOT_SCORED, message=told)
    error = _score(each.standard_error)
    return Verdict(protocol=protocol, score=score, metrics={} if error is None else {"standard_error": error})


def _submission(run: Run, each: ClaimedSubmission, verdict: Verdict) -> Submission:
    elapsed = min(max(each.elapsed_s or 0.0, 0.0), SECONDS_MOST)
    at = _moment(run, each, elapsed)
    return Submission(
        run=run,
        task=storable(each.task)[:64] if run.task_list else "",
        number=each.number,
        model_path=storable(each.model_path)[:1024],
        key=f"claimed-{each.number}",
        state=SubmissionState.ERRORED if verdict.score is None else SubmissionState.GRADED,
        received_at=at,
        ended_at=at,
        elapsed_s=elapsed,
        digest=each.digest[:64],
        verdict=verdict,
    )


def _moment(run: Run, each: ClaimedSubmission, elapsed: float) -> datetime:
    stated = moment(each.at)
    if stated is not None:
        return stated
    start: datetime = run.started_at or run.ended_at or timezone.now()
    return start + timedelta(seconds=elapsed)


def moment(text: str) -> datetime | None:
    """A time with its zone, or None."""
    try:
        found = parse_datetime(text)
    except ValueError:
        return None
    return None if found is None or timezone.is_naive(found) else found


def _score(value: Any) -> float | None:
    """Only a number from 0 to 100 is a score."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if isfinite(value) and 0.0 <= value <= 100.0 else None
