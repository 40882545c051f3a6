"""Celery jobs of the grading room: parse, call one service."""

from functools import partial

from celery import shared_task
from django.conf import settings

from benchmark.log_context import log_about
from benchmark.services.slots import Slots
from benchmark.services.worker_beat import takes_work
from grading.models import Submission
from grading.services.claims import evaluation_claim
from grading.services.evaluations import evaluation_execute as execute
from grading.services.intake import submission_take
from grading.services.sweeping import grading_mend

_slots = Slots(settings.GRADING_SLOTS)


@shared_task
def submission_intake(submission_id: int) -> None:
    """Take in one submission. Where one worker serves every queue, it goes on to grade at once."""
    submission = submission_take(submission_id)
    if submission is not None and settings.EMBEDDED:
        _slots.drain(partial(_execute_next, submission))


@shared_task
def evaluation_execute() -> None:
    """Execute waiting evaluations as long as this worker has a slot."""
    _slots.drain(_execute_next)


def _execute_next(fresh: Submission | None = None) -> bool:
    if not takes_work():
        return False
    claim = evaluation_claim(fresh)
    if claim is None:
        return False
    with log_about(evaluation=claim.evaluation.pk, task=claim.evaluation.task):
        execute(claim)
    return True


@shared_task
def grading_sweep() -> None:
    """Mend what was left behind."""
    grading_mend()
