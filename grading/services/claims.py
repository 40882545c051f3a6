"""Claiming grading work: one worker's hold on one evaluation, and the pulse that keeps it."""

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.db import IntegrityError, InterfaceError, OperationalError, connection, transaction
from django.db.models import Exists, F, OuterRef, Q, Subquery
from django.utils import timezone

from benchmark.models import EventKind
from benchmark.services.events import event_record
from benchmark.services.holding import STOPPING
from benchmark.services.runs import worker_name
from grading.models import Baseline, Evaluation, EvaluationState, Submission, SubmissionState
from grading.services.outcomes import evaluation_close
from grading.services.submissions import submission_announce

log = logging.getLogger(__name__)
PROGRESS_EVERY_S, BEAT_EVERY_S = 1.0, 0.5
REGRADE = "taken"
"""`intake["regrade"]` of an ended submission whose claimed score is to be reached here as well."""


@dataclass
class Claim:
    """One worker's hold on one evaluation, and the pulse that keeps it. Times are those of `time.monotonic`."""

    evaluation: Evaluation
    lease: str
    told_at: float = 0.0
    beat_at: float = 0.0
    asked_at: float = field(default_factory=time.monotonic)
    told: tuple[Any, ...] = field(default=())

    def beat(self) -> None:
        """Keep the hold while nothing is told, as before the runner has started."""
        Evaluation.objects.filter(pk=self.evaluation.pk, lease=self.lease).update(heartbeat_at=timezone.now())

    def pulse(self, phase: str = "", done: int = 0, of: int = 0) -> bool:
        """Keep the hold and pass progress on. False: it is no longer ours, or nobody waits for it any more; stop.

        A database that is away is no reason to stop: whose it is then shows when it is back.
        """
        try:
            return self._pulse((phase, done, of))
        except (OperationalError, InterfaceError) as error:
            log.warning("the progress of evaluation %s could not be stored: %s", self.evaluation.pk, error)
            connection.close()
            return not STOPPING.is_set()

    def _pulse(self, facts_now: tuple[str, int, int]) -> bool:
        phase, done, of = facts_now
        if time.monotonic() - self.beat_at < BEAT_EVERY_S and facts_now == self.told and not STOPPING.is_set():
            return True
        self.beat_at = time.monotonic()
        values: dict[str, Any] = {"heartbeat_at": timezone.now()}
        if phase:
            values |= {"phase": phase, "n_done": done, "n_expected": of}
        held = Evaluation.objects.filter(pk=self.evaluation.pk, state=EvaluationState.RUNNING, lease=self.lease)
        if STOPPING.is_set() or not held.update(**values):
            return False
        self._tell(facts_now)
        return self._wanted()

    def _tell(self, facts_now: tuple[str, int, int]) -> None:
        phase, done, of = facts_now
        now = time.monotonic()
        new_phase = not self.told or phase != self.told[0]
        if phase and facts_now != self.told and (new_phase or now - self.told_at >= PROGRESS_EVERY_S):
            self.told_at, self.told = now, facts_now
            for run_id, number in _watchers(self.evaluation):
                event_record(run_id, EventKind.PROGRESS, number=number, phase=phase, done=done, of=of)

    def _wanted(self) -> bool:
        """Whether anybody still waits for it; the runs of a cancelled submission do not."""
        if time.monotonic() - self.asked_at < BEAT_EVERY_S:
            return True
        self.asked_at = time.monotonic()
        if self.evaluation.repeat:
            return True
        rows = self.evaluation.submissions
        wanted = rows.pending() | rows.filter(intake__regrade=REGRADE)
        return wanted.exists() or Baseline.objects.filter(_awaited(), evaluation=self.evaluation).exists()


def _watchers(evaluation: Evaluation) -> Iterator[tuple[int, int | None]]:
    """Runs that wait for this evaluation, with the submission's number, or None for the baseline."""
    yield from evaluation.submissions.filter(state=SubmissionState.GRADING).values_list("run_id", "number")
    if evaluation.is_baseline:
        waiting = Baseline.objects.filter(evaluation=evaluation, run__state="preparing")
        yield from ((run_id, None) for run_id in waiting.values_list("run_id", flat=True))


def work_waits() -> bool:
    """Whether something could be claimed now."""
    return bool(_baselines() or _submissions() or _unattended())


def _awaited() -> Q:
    """Baselines that somebody waits for: a run in preparation, or one that is graded here after all."""
    return Q(run__state="preparing") | Q(run__submissions__intake__regrade=REGRADE)


def _baselines() -> list[int]:
    """Baselines that runs wait for, the oldest first."""
    queued = Evaluation.objects.filter(state=EvaluationState.QUEUED, digest=F("base_digest"))
    awaited = Baseline.objects.filter(_awaited(), evaluation=OuterRef("pk"))
    return list(queued.filter(Exists(awaited)).order_by("id").values_list("pk", flat=True)[:5])


def _unattended() -> list[int]:
    """Evaluations that no run waits for: of what was claimed to have been graded elsewhere, and repeats of what lies on
    this disk."""
    queued = Evaluation.objects.filter(state=EvaluationState.QUEUED)
    claimed = Exists(Submission.objects.filter(evaluation=OuterRef("pk"), intake__regrade=REGRADE))
    taken_here = Exists(Submission.objects.filter(digest=OuterRef("digest"), run__place=settings.PLACE))
    again = Q(repeat__gt=0) & (Q(digest=F("base_digest")) | taken_here)
    return list(queued.filter(claimed | again).order_by("id").values_list("pk", flat=True)[:5])


def _submissions() -> list[int]:
    """The first queued submission on this disk of each run that has none in grading; the run that was served longest
    ago comes first."""
    queued = Submission.objects.filter(state=SubmissionState.QUEUED, run__place=settings.PLACE)
    waiting = list(queued.values_list("pk", flat=True)[:2])
    if len(waiting) < 2:
        return waiting
    of_run = Submission.objects.filter(run=OuterRef("run"))
    sooner = of_run.filter(state=SubmissionState.QUEUED, number__lt=OuterRef("number"))
    busy = of_run.filter(state=SubmissionState.GRADING)
    served = of_run.filter(same_as="", ended_at__isnull=False).order_by("-ended_at").values("ended_at")[:1]
    ordered = queued.exclude(Exists(busy) | Exists(sooner)).annotate(served=Subquery(served))
    ordered = ordered.order_by(F("served").asc(nulls_first=True), "received_at", "id")
    return list(ordered.values_list("pk", flat=True)[:50])


def evaluation_claim(fresh: Submission | None = None) -> Claim | None:
    """Take the next piece of grading work, or None when there is none to take.

    `fresh` is a queued submission that the caller has at hand; its turn comes like any other's.
    """
    for pk in _baselines():
        if claim := _hold(Evaluation.objects.get(pk=pk)):
            return claim
    for pk in _submissions():
        known = fresh if fresh is not None and fresh.pk == pk else None
        try:
            with transaction.atomic():
                evaluation = _begin(pk, known)
                claim = _hold(evaluation) if evaluation else None
        except IntegrityError:
            continue
        if claim is None and evaluation is not None:
            claim = _hold_after_all(evaluation)
        if claim is not None:
            return claim
    held = (_hold(Evaluation.objects.get(pk=pk)) for pk in _unattended())
    return next((claim for claim in held if claim is not None), None)


def _begin(pk: int, known: Submission | None) -> Evaluation | None:
    """Move a submission to grading. Raises: IntegrityError: its run has one in grading."""
    before, after = SubmissionState.QUEUED, SubmissionState.GRADING
    submission = known or Submission.objects.select_related("evaluation").get(pk=pk)
    if not submission.move(before=before, after=after):
        return None
    submission_announce(submission)
    return submission.evaluation


def _hold_after_all(evaluation: Evaluation) -> Claim | None:
    """The evaluation is not waiting: it is done, somebody executes it, or every attempt had failed."""
    evaluation.refresh_from_db()
    if evaluation.state == EvaluationState.DONE:
        evaluation_close(evaluation)
    elif evaluation.state == EvaluationState.FAULTED:
        evaluation_revive(evaluation)
        return _hold(evaluation)
    return None


def evaluation_revive(evaluation: Evaluation) -> None:
    """Somebody asks again for what every attempt had failed at: the attempts start anew."""
    before, after = EvaluationState.FAULTED, EvaluationState.QUEUED
    if Evaluation.objects.move(evaluation.pk, before=before, after=after, attempts=0, fault={}):
        evaluation.refresh_from_db()


def _hold(evaluation: Evaluation) -> Claim | None:
    if evaluation.state != EvaluationState.QUEUED:
        return None
    lease, now = uuid4().hex, timezone.now()
    attempts = evaluation.attempts + 1
    moved = Evaluation.objects.move(
        evaluation.pk,
        before=EvaluationState.QUEUED,
        after=EvaluationState.RUNNING,
        lease=lease,
        worker=worker_name(),
        heartbeat_at=now,
        started_at=now,
        attempts=attempts,
    )
    if not moved:
        return None
    evaluation.attempts = attempts
    return Claim(evaluation, lease)
