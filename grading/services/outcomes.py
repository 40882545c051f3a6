"""What comes of an evaluation: its verdict, another try, or giving up, told to everybody who waits for it."""

from math import isfinite
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from benchmark.services.runs import run_settle
from grading.contract import Finding, RunnerVerdict
from grading.models import Baseline, Evaluation, EvaluationState, Submission, SubmissionState, Verdict
from grading.services.baselines import baseline_announce
from grading.services.submissions import submission_announce, submission_end, verdict_of_failure


def evaluation_store(evaluation: Evaluation, lease: str, told: RunnerVerdict) -> None:
    """The verdict, its evaluation, every waiting submission and their events change in one transaction."""
    with transaction.atomic():
        verdict = _verdict(evaluation, told)
        values: dict[str, Any] = {"verdict": verdict, "ended_at": timezone.now()}
        before, after = EvaluationState.RUNNING, EvaluationState.DONE
        if not Evaluation.objects.move(evaluation.pk, before=before, after=after, held_under=lease, **values):
            transaction.set_rollback(True)
            return
        evaluation.state, evaluation.verdict = after, verdict
        runs = _close(evaluation)
    for run_id in runs:
        run_settle(run_id)


def _verdict(evaluation: Evaluation, told: RunnerVerdict) -> Verdict:
    common: dict[str, Any] = {
        "protocol": told.protocol,
        "digest": evaluation.digest,
        "warnings": [finding.as_dict() for finding in told.warnings],
        "metrics": {name: value for name, value in told.metrics.items() if value is None or isfinite(value)},
        "versions": dict(told.versions),
        "sampling": dict(told.sampling),
        "n_expected": told.n_expected,
        "n_scored": told.n_scored,
        "tokens": told.tokens,
        "seconds": told.seconds,
        "records": f"evaluations/{evaluation.pk}/out/samples.jsonl",
        "records_sha256": told.samples_sha256,
    }
    if told.finding is not None:
        return verdict_of_failure(finding=told.finding, **common)
    return Verdict.objects.create(score=told.score, **common)


def evaluation_close(evaluation: Evaluation) -> None:
    """Answer everybody who waits for a finished evaluation."""
    with transaction.atomic():
        runs = _close(evaluation)
    for run_id in runs:
        run_settle(run_id)


def _close(evaluation: Evaluation) -> set[int]:
    """The runs whose submissions ended."""
    verdict = evaluation.verdict
    assert verdict is not None
    after = SubmissionState.REJECTED if verdict.score is None else SubmissionState.GRADED
    runs = set()
    if evaluation.is_baseline:
        _announce_baseline(evaluation)
    for submission in evaluation.submissions.pending().select_related("run").order_by("id"):
        submission_end(submission, after=after, verdict=verdict, same_as=_same_as(submission, evaluation))
        runs.add(submission.run_id)
    return runs


def _announce_baseline(evaluation: Evaluation) -> None:
    waiting = Baseline.objects.filter(evaluation=evaluation, run__state="preparing")
    for run_id in waiting.values_list("run_id", flat=True):
        baseline_announce(run_id, evaluation)


def _same_as(submission: Submission, evaluation: Evaluation) -> str:
    """Whose verdict this is, when the submission was not itself the one that was graded."""
    if evaluation.is_baseline:
        return "baseline"
    ids = evaluation.submissions.order_by("id").values_list("pk", "number", "run_id", "run__slug")
    first = ids.first()
    if first is None or first[0] == submission.pk:
        return ""
    _, number, run_id, slug = first
    return f"#{number}" if run_id == submission.run_id else f"{slug} #{number}"


def evaluation_release(evaluation: Evaluation, lease: str) -> None:
    """Give up the hold, because this worker stops, without using up an attempt. Nothing if it is not ours any more."""
    with transaction.atomic():
        moved = Evaluation.objects.move(
            evaluation.pk,
            before=EvaluationState.RUNNING,
            after=EvaluationState.QUEUED,
            held_under=lease,
            lease="",
            attempts=evaluation.attempts - 1,
        )
        if moved:
            _requeue(evaluation)


def _requeue(evaluation: Evaluation) -> None:
    for submission in evaluation.submissions.filter(state=SubmissionState.GRADING).select_related("run"):
        if submission.move(before=SubmissionState.GRADING, after=SubmissionState.QUEUED):
            submission_announce(submission)


def evaluation_fault(evaluation: Evaluation, lease: str, finding: Finding) -> None:
    """A fault of ours: back to the queue while attempts are left, else errored. Never a score."""
    again = evaluation.attempts < settings.EVALUATION_ATTEMPTS
    with transaction.atomic():
        moved = Evaluation.objects.move(
            evaluation.pk,
            before=EvaluationState.RUNNING,
            after=EvaluationState.QUEUED if again else EvaluationState.FAULTED,
            held_under=lease,
            lease="",
            fault=finding.as_dict(),
            ended_at=timezone.now(),
        )
        if not moved:
            return
        if again:
            _requeue(evaluation)
        else:
            _give_up(evaluation, finding)


def _give_up(evaluation: Evaluation, finding: Finding) -> None:
    evaluation.refresh_from_db()
    for submission in evaluation.submissions.pending().select_related("run"):
        verdict = verdict_of_failure(protocol=evaluation.protocol, finding=finding, digest=evaluation.digest)
        submission_end(submission, after=SubmissionState.ERRORED, verdict=verdict)
    _announce_baseline(evaluation)
