"""Grading the same checkpoint again, to see how far its score repeats. The first verdict stays the one that counts."""

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from benchmark.services.audit import audit_record
from benchmark.services.queueing import job_send_on_commit
from grading.models import Evaluation, EvaluationState
from grading.services.claims import evaluation_revive

REPEATS_MOST = 20


def evaluation_repeat(*, evaluation: Evaluation, times: int, actor: User | None) -> int:
    """Queue `times` further evaluations of the same files under the same protocol and engine; how many there are then.

    Repeats that every attempt had failed at are tried again, too. Raises: ValidationError.
    """
    if evaluation.state != EvaluationState.DONE or evaluation.verdict is None or evaluation.verdict.score is None:
        raise ValidationError({"times": "Only what was graded can be graded again: there is no score yet."})
    with transaction.atomic():
        rows = list(Evaluation.objects.select_for_update().repeats_of(evaluation))
        room = REPEATS_MOST - len(rows)
        if not 1 <= times <= room:
            told = f"It was repeated {len(rows)} times" if rows else "It was not repeated yet"
            raise ValidationError({"times": f"{told}; up to {room} further times are possible."})
        for row in rows:
            evaluation_revive(row)
        for number in range(len(rows) + 1, len(rows) + times + 1):
            _repeat(evaluation, number)
        audit_record(actor=actor, action="evaluation.repeat", subject=evaluation, times=times)
        job_send_on_commit("grading.jobs.evaluation_execute")
    return len(rows) + times


def _repeat(first: Evaluation, number: int) -> None:
    same = ("task", "protocol", "engine", "digest", "base_model", "base_digest")
    Evaluation.objects.create(repeat=number, **{name: getattr(first, name) for name in same})
