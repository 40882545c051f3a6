"""The intake of a submission: snapshot and static checks, then the stored verdict, a rejection, or the queue."""

import logging
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from benchmark.services.protocols import engine_in_force
from benchmark.services.pulse import repeated
from benchmark.services.queueing import job_send_on_commit
from benchmark.services.runs import run_settle
from grading.contract import Finding
from grading.intake import IntakeLimits, IntakeReport, checkpoint_take
from grading.models import Evaluation, Submission, SubmissionState
from grading.services.baselines import baseline_evaluation
from grading.services.places import checkpoint_store, submitted_from
from grading.services.standings import protocol_of
from grading.services.submissions import lease_new, submission_announce, submission_end, verdict_of_failure
from traces.services.snapshots import snapshot_take

log = logging.getLogger(__name__)
INTAKE_LEASE_S = 1800


def submission_take(submission_id: int) -> Submission | None:
    """Take in one received submission, unless another worker does. The submission, if it now waits to be graded."""
    submission = _claim(submission_id)
    if submission is None:
        return None
    try:
        with repeated(partial(_beat, submission), every_s=settings.HEARTBEAT_S, name=f"intake-{submission.pk}"):
            # While an agent that waits for its answer can change nothing.
            snapshot_take(run=submission.run, number=submission.number, model_path=submission.model_path)
            report = _report(submission)
    except Exception as error:
        log.exception("intake of %s failed", submission)
        finding = Finding("I_INTAKE", f"The platform could not read the submission: {error}", "Submit it again.")
        _fault(submission, finding, None)
        return None
    refusal = next((f for f in report.findings if f.refuses), None)
    ours = next((f for f in report.findings if f.code.startswith("I_")), None)
    if refusal is not None:
        _end(submission, SubmissionState.REJECTED, refusal, report)
    elif ours is not None:
        _fault(submission, ours, report)
    elif _accept(submission, report):
        return submission
    return None


def submission_intake_lost(submission: Submission) -> None:
    """The worker that took it in is silent. What ends each worker that reads it is not tried for ever."""
    text = "The worker that took the submission in was lost."
    _fault(submission, Finding("I_WORKER_LOST", text, "Submit it again."), None)


def _fault(submission: Submission, finding: Finding, report: IntakeReport | None) -> None:
    """A fault of ours: the sweep rings again while attempts are left, else errored."""
    attempts = submission.intake.get("attempts", 0) + 1
    if attempts >= settings.EVALUATION_ATTEMPTS:
        _end(submission, SubmissionState.ERRORED, finding, report)
        return
    log.warning("intake of %s failed, attempt %s: %s", submission, attempts, finding.message)
    mine = Submission.objects.filter(pk=submission.pk, state=SubmissionState.RECEIVED, lease=submission.lease)
    mine.update(lease="", intake={"attempts": attempts, "fault": finding.as_dict()})


def _claim(submission_id: int) -> Submission | None:
    free = Q(lease="") | Q(lease_at__lt=timezone.now() - timedelta(seconds=INTAKE_LEASE_S))
    rows = Submission.objects.filter(free, pk=submission_id, state=SubmissionState.RECEIVED)
    if not rows.update(lease=lease_new(), lease_at=timezone.now()):
        return None
    return Submission.objects.select_related("run").get(pk=submission_id)


def _beat(submission: Submission) -> None:
    """Keep the lease while a large checkpoint is copied."""
    Submission.objects.filter(pk=submission.pk, lease=submission.lease).update(lease_at=timezone.now())


def _report(submission: Submission) -> IntakeReport:
    place = submitted_from(submission.run)
    return checkpoint_take(
        view=place.view,
        workspace=place.workspace,
        model_path=submission.model_path,
        base=place.base,
        store=checkpoint_store(),
        owner=str(submission.pk),
        limits=IntakeLimits(total_bytes=int(settings.CHECKPOINT_MAX_GB * 1024**3)),
    )


def _facts(report: IntakeReport | None) -> dict[str, Any]:
    if report is None:
        return {}
    told: dict[str, Any] = report.as_dict()
    told["warnings"] = [f.as_dict() for f in report.findings if f.code.startswith("W_")]
    return told


def _end(submission: Submission, after: SubmissionState, finding: Finding, report: IntakeReport | None) -> None:
    with transaction.atomic():
        mine = Submission.objects.filter(pk=submission.pk, state=SubmissionState.RECEIVED, lease=submission.lease)
        if not mine.select_for_update().exists():
            return
        verdict = verdict_of_failure(
            protocol=protocol_of(submission.run, submission.task),
            finding=finding,
            digest=(report and report.digest) or "",
        )
        submission_end(submission, after=after, verdict=verdict, intake=_facts(report))
    run_settle(submission.run_id)


def _accept(submission: Submission, report: IntakeReport) -> bool:
    """Queue the submission with the evaluation of its files, which may be done already."""
    with transaction.atomic():
        evaluation = baseline_evaluation(submission.run_id, submission.task) if report.equals_base else None
        values = {
            "evaluation": evaluation or _evaluation(submission, report),
            "digest": report.digest or "",
            "size_bytes": report.bytes,
            "intake": _facts(report),
            "lease": "",
        }
        if not submission.move(before=SubmissionState.RECEIVED, after=SubmissionState.QUEUED, **values):
            return False
        submission_announce(submission)
        if not settings.EMBEDDED:
            job_send_on_commit("grading.jobs.evaluation_execute")
        return True


def _evaluation(submission: Submission, report: IntakeReport) -> Evaluation:
    """The one evaluation of these files under this protocol and engine."""
    run = submission.run
    evaluation = Evaluation(
        task=submission.task or run.task,
        base_model=run.base_model,
        digest=report.digest or "",
        base_digest=run.base_digest,
        protocol=protocol_of(run, submission.task),
        engine=engine_in_force(),
    )
    # One that is there stays as it is, but for a field that has the same value: so the database tells its key.
    Evaluation.objects.bulk_create(
        [evaluation],
        update_conflicts=True,
        unique_fields=["digest", "base_digest", "protocol", "engine", "repeat"],
        update_fields=["task"],
    )
    return evaluation
