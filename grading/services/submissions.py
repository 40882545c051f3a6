"""Receiving submissions and ending them."""

import os
from functools import partial
from typing import Any
from uuid import uuid4

from django.db import IntegrityError, transaction
from django.utils import timezone

from benchmark.models import EventKind, Run, RunState
from benchmark.services.doorbell import doorbell_ring
from benchmark.services.events import event_record
from benchmark.services.queueing import job_send_on_commit
from grading.contract import Finding
from grading.models import ENDED, Submission, SubmissionState, Verdict
from grading.selectors import submission_facts
from grading.services.standings import standing_take

ENDINGS = "submissions"
"""The doorbell's group of those who wait for submissions to end."""


class SubmissionsClosed(Exception):
    """The run takes no more submissions; the message says why."""


def submission_receive(*, run: Run, model_path: str, key: str = "", task: str = "") -> Submission:
    """Store a submission under the run's next number and ring for its intake. The same `key` again is the same one.

    `task`: which of a multi run's; empty in a run with one.
    Raises: SubmissionsClosed: the run has ended or its budget is used up.
    """
    key = key or uuid4().hex
    try:
        with transaction.atomic():
            return _receive(run, model_path, key, task)
    except (IntegrityError, SubmissionsClosed):
        known = Submission.objects.filter(run=run, key=key).first()
        if known is None:
            raise
        return known


def _receive(run: Run, model_path: str, key: str, task: str) -> Submission:
    run.state, (number, seq) = Run.objects.count_up(run.pk, "submission_count", "event_seq")
    if not run.accepts_submissions:
        if run.state == RunState.RUNNING:
            raise SubmissionsClosed(f"The budget of {run.budget_s} s is used up; this run takes no more submissions.")
        raise SubmissionsClosed(f"This run is {run.get_state_display()}; it takes no submissions.")
    now = timezone.now()
    submission = Submission.objects.create(
        run=run,
        task=task,
        number=number,
        model_path=model_path,
        key=key,
        received_at=now,
        elapsed_s=run.elapsed_s(now) or 0.0,
        tokens=run.tokens,
    )
    submission_announce(submission, at_seq=seq)
    job_send_on_commit("grading.jobs.submission_intake", submission.pk, place=run.place)
    return submission


def submission_announce(submission: Submission, *, at_seq: int | None = None, baseline: float | None = None) -> None:
    """Record the submission's present facts as an event; the baseline matters to scored ones alone."""
    event_record(submission.run_id, EventKind.SUBMISSION, at_seq=at_seq, **submission_facts(submission, baseline))


def submission_end(submission: Submission, *, after: SubmissionState, verdict: Verdict, **values: Any) -> bool:
    """End a submission with its verdict and tell the world, in the caller's transaction. False: it had ended."""
    values |= {"state": after, "verdict": verdict, "ended_at": timezone.now(), "lease": ""}
    if not Submission.objects.filter(pk=submission.pk).exclude(state__in=ENDED).update(**values):
        return False
    submission.mirror(**values)
    submission_announce(submission, baseline=standing_take(submission, verdict))
    transaction.on_commit(partial(doorbell_ring, ENDINGS))
    return True


def verdict_of_failure(*, protocol: str, finding: Finding, digest: str = "", **values: Any) -> Verdict:
    """Store a typed failure: never a score."""
    return Verdict.objects.create(
        protocol=protocol,
        digest=digest,
        code=finding.code,
        message=finding.message,
        fix=finding.fix,
        detail=dict(finding.detail),
        **values,
    )


def lease_new() -> str:
    """A lease that names this process."""
    return f"{os.getpid():x}-{uuid4().hex}"[:32]
