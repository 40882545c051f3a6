"""Mending what a lost worker or broker left behind."""

from contextlib import suppress
from datetime import timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from benchmark.sandbox.contract import SandboxFault
from benchmark.services.queueing import job_send
from benchmark.services.reach import REACH
from benchmark.services.sandboxes import sandbox_name, sandbox_reap
from benchmark.services.sweeping import sweep
from grading.contract import Finding
from grading.models import Evaluation, EvaluationState, Submission, SubmissionState
from grading.services.claims import work_waits
from grading.services.intake import submission_intake_lost
from grading.services.outcomes import evaluation_fault

RECEIVED_GRACE_S = 5


def grading_mend() -> None:
    """Requeue evaluations whose worker is silent, ring for submissions that nobody took in, and for waiting work."""
    sweep(Evaluation.objects.stale(2 * settings.HEARTBEAT_S) if REACH.tells() else (), _end_lost)
    _unstick()
    late = timezone.now() - timedelta(seconds=RECEIVED_GRACE_S)
    stale_intake = timezone.now() - timedelta(seconds=4 * settings.HEARTBEAT_S)
    late_ones = Submission.objects.filter(state=SubmissionState.RECEIVED, received_at__lt=late)

    def take_in(submission: Submission) -> None:
        stale = submission.lease and submission.lease_at and submission.lease_at < stale_intake
        if stale and REACH.tells():
            submission_intake_lost(submission)
        job_send("grading.jobs.submission_intake", submission.pk, place=submission.run.place)

    sweep(late_ones.select_related("run"), take_in)
    if work_waits():
        job_send("grading.jobs.evaluation_execute")


def _end_lost(evaluation: Evaluation) -> None:
    lost = Finding("I_WORKER_LOST", f"The grading worker {evaluation.worker} was lost.", "Nothing to mend.")
    # On another host its own workers clear it away.
    with suppress(SandboxFault):
        sandbox_reap(sandbox_name("evaluation", evaluation.pk))
    evaluation_fault(evaluation, evaluation.lease, lost)


def _unstick() -> None:
    """A submission in grading whose evaluation is not running goes back to the queue."""
    idle = Submission.objects.filter(state=SubmissionState.GRADING).exclude(evaluation__state=EvaluationState.RUNNING)
    settled = Q(evaluation__ended_at=None) | Q(evaluation__ended_at__lt=timezone.now() - timedelta(seconds=2))
    for pk in idle.filter(settled).values_list("pk", flat=True):
        Submission.objects.move(pk, before=SubmissionState.GRADING, after=SubmissionState.QUEUED)
