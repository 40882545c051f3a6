"""The evaluation queue: claim one, execute it in the sandbox, store what came of it."""

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Max, Q
from django.utils import timezone

from benchmark.models import EventKind
from benchmark.services.events import event_record
from benchmark.services.holding import STOPPING
from benchmark.services.pulse import repeated
from benchmark.services.runs import run_settle, worker_name
from grading.contract import Finding, RunnerVerdict
from grading.models import Baseline, Evaluation, EvaluationState, Submission, SubmissionState, Verdict
from grading.ports import HoldLost, grading_runner
from grading.services.baselines import baseline_announce
from grading.services.submissions import submission_announce, submission_end, verdict_of_failure

log = logging.getLogger(__name__)
PROGRESS_EVERY_S, BEAT_EVERY_S = 1.0, 0.5


@dataclass
class Claim:
    """One worker's hold on one evaluation, and the pulse that keeps it."""

    evaluation: Evaluation
    lease: str
    told_at: float = 0.0
    beat_at: float = 0.0
    told: tuple[Any, ...] = field(default=())

    def beat(self) -> None:
        """Keep the hold while nothing is told, as before the runner has started."""
        Evaluation.objects.filter(pk=self.evaluation.pk, lease=self.lease).update(heartbeat_at=timezone.now())

    def pulse(self, phase: str = "", done: int = 0, of: int = 0) -> bool:
        """Keep the hold and pass progress on. False: it is no longer ours, stop."""
        facts_now = (phase, done, of)
        if time.monotonic() - self.beat_at < BEAT_EVERY_S and facts_now == self.told and not STOPPING.is_set():
            return True
        self.beat_at = time.monotonic()
        values: dict[str, Any] = {"heartbeat_at": timezone.now()}
        if phase:
            values |= {"phase": phase, "n_done": done, "n_expected": of}
        held = Evaluation.objects.filter(pk=self.evaluation.pk, state=EvaluationState.RUNNING, lease=self.lease)
        if STOPPING.is_set() or not held.update(**values):
            return False
        now = time.monotonic()
        new_phase = not self.told or phase != self.told[0]
        if phase and facts_now != self.told and (new_phase or now - self.told_at >= PROGRESS_EVERY_S):
            self.told_at, self.told = now, facts_now
            for run_id, number in _watchers(self.evaluation):
                event_record(run_id, EventKind.PROGRESS, number=number, phase=phase, done=done, of=of)
        return _wanted(self.evaluation)


def _wanted(evaluation: Evaluation) -> bool:
    """Whether anybody still waits for it; the runs of a cancelled submission do not."""
    waiting = Baseline.objects.filter(evaluation=evaluation, run__state="preparing")
    return evaluation.submissions.pending().exists() or waiting.exists()


def _watchers(evaluation: Evaluation) -> Iterator[tuple[int, int | None]]:
    """Runs that wait for this evaluation, with the submission's number, or None for the baseline."""
    yield from evaluation.submissions.filter(state=SubmissionState.GRADING).values_list("run_id", "number")
    if evaluation.is_baseline:
        waiting = Baseline.objects.filter(evaluation=evaluation, run__state="preparing")
        yield from ((run_id, None) for run_id in waiting.values_list("run_id", flat=True))


def work_waits() -> bool:
    """Whether something could be claimed now."""
    return _baselines().exists() or bool(_submissions()[:1])


def _baselines() -> Any:
    return Evaluation.objects.filter(state=EvaluationState.QUEUED, baselines__run__state="preparing").distinct()


def _submissions() -> Any:
    """Queued submissions of runs that have none in grading; the run that was served longest ago comes first."""
    busy = Submission.objects.filter(state=SubmissionState.GRADING).values("run_id")
    waiting = Submission.objects.filter(state=SubmissionState.QUEUED).exclude(run_id__in=busy)
    served = Max("run__submissions__ended_at", filter=Q(run__submissions__same_as=""))
    return waiting.annotate(served=served).order_by(F("served").asc(nulls_first=True), "received_at", "id")


def evaluation_claim() -> Claim | None:
    """Take the next piece of grading work, or None when there is none to take."""
    for evaluation in _baselines().order_by("id")[:5]:
        if claim := _hold(evaluation):
            return claim
    for submission in _submissions().select_related("evaluation", "evaluation__verdict")[:50]:
        if not _begin(submission):
            continue
        evaluation = submission.evaluation
        evaluation.refresh_from_db()
        if evaluation.state == EvaluationState.FAULTED:
            evaluation_revive(evaluation)
        if evaluation.state == EvaluationState.DONE:
            evaluation_close(evaluation)
        elif claim := _hold(evaluation):
            return claim
    return None


def _begin(submission: Submission) -> bool:
    """Move a submission to grading; the database allows one per run."""
    try:
        with transaction.atomic():
            moved = Submission.objects.move(submission.pk, before=SubmissionState.QUEUED, after=SubmissionState.GRADING)
            if moved:
                submission.state = SubmissionState.GRADING
                submission_announce(submission)
            return moved
    except IntegrityError:
        return False


def evaluation_revive(evaluation: Evaluation) -> None:
    """Somebody asks again for what every attempt had failed at: the attempts start anew."""
    before, after = EvaluationState.FAULTED, EvaluationState.QUEUED
    if Evaluation.objects.move(evaluation.pk, before=before, after=after, attempts=0, fault={}):
        evaluation.refresh_from_db()


def _hold(evaluation: Evaluation) -> Claim | None:
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


def evaluation_execute(claim: Claim) -> None:
    """Run the grading runner for a claimed evaluation and store what came of it."""
    try:
        with repeated(claim.beat, every_s=settings.HEARTBEAT_S, name=f"evaluation-{claim.evaluation.pk}"):
            verdict = grading_runner().run(evaluation=claim.evaluation, pulse=claim.pulse)
    except HoldLost:
        evaluation_release(claim)
        return
    except Exception as error:
        log.exception("evaluation %s failed", claim.evaluation.pk)
        fault = Finding("I_GRADER", f"{type(error).__name__}: {error}", "Nothing to mend: the fault is the platform's.")
        evaluation_fault(claim.evaluation, claim.lease, fault)
        return
    finding = verdict.finding if verdict.fault == "infra" else verdict_problem(verdict)
    if finding is not None:
        evaluation_fault(claim.evaluation, claim.lease, finding)
    else:
        _store(claim, verdict)


def verdict_problem(verdict: RunnerVerdict) -> Finding | None:
    """Why a runner's verdict cannot be believed: no finite score in 0..100, or not every item behind it."""
    if verdict.finding is not None:
        return None
    if verdict.score is None or not 0.0 <= verdict.score <= 100.0:
        return Finding("I_VERDICT", f"The grading runner reported the score {verdict.score}, which is none.")
    if verdict.n_scored != verdict.n_expected or not verdict.n_scored:
        return Finding("I_VERDICT", f"Only {verdict.n_scored} of {verdict.n_expected} items were scored.")
    return None


def evaluation_release(claim: Claim) -> None:
    """Give up the hold, because this worker stops, without using up an attempt. Nothing if it is not ours any more."""
    with transaction.atomic():
        moved = Evaluation.objects.move(
            claim.evaluation.pk,
            before=EvaluationState.RUNNING,
            after=EvaluationState.QUEUED,
            held_under=claim.lease,
            lease="",
            attempts=claim.evaluation.attempts - 1,
        )
        if moved:
            _requeue(claim.evaluation)


def _requeue(evaluation: Evaluation) -> None:
    for submission in evaluation.submissions.filter(state=SubmissionState.GRADING).select_related("run"):
        if Submission.objects.move(submission.pk, before=SubmissionState.GRADING, after=SubmissionState.QUEUED):
            submission.refresh_from_db()
            submission_announce(submission)


def _store(claim: Claim, told: RunnerVerdict) -> None:
    """The verdict, its evaluation and every waiting submission change together."""
    evaluation = claim.evaluation
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
    with transaction.atomic():
        if told.finding is not None:
            protocol = str(common.pop("protocol"))
            verdict = verdict_of_failure(protocol=protocol, finding=told.finding, **common)
        else:
            verdict = Verdict.objects.create(score=told.score, **common)
        moved = Evaluation.objects.move(
            evaluation.pk,
            before=EvaluationState.RUNNING,
            after=EvaluationState.DONE,
            held_under=claim.lease,
            verdict=verdict,
            ended_at=timezone.now(),
        )
        if not moved:
            transaction.set_rollback(True)
            return
    evaluation.refresh_from_db()
    evaluation_close(evaluation)


def evaluation_close(evaluation: Evaluation) -> None:
    """Answer everybody who waits for a finished evaluation."""
    verdict = evaluation.verdict
    assert verdict is not None
    after = SubmissionState.REJECTED if verdict.score is None else SubmissionState.GRADED
    runs = set()
    with transaction.atomic():
        if evaluation.is_baseline:
            for run_id in Baseline.objects.filter(evaluation=evaluation, run__state="preparing").values_list(
                "run_id", flat=True
            ):
                baseline_announce(run_id, evaluation)
        for submission in evaluation.submissions.pending().select_related("run").order_by("id"):
            submission_end(submission, after=after, verdict=verdict, same_as=_same_as(submission, evaluation))
            runs.add(submission.run_id)
    for run_id in runs:
        run_settle(run_id)


def _same_as(submission: Submission, evaluation: Evaluation) -> str:
    """Whose verdict this is, when the submission was not itself the one that was graded."""
    if evaluation.is_baseline:
        return "baseline"
    first = evaluation.submissions.select_related("run").order_by("id").first()
    if first is None or first.pk == submission.pk:
        return ""
    return f"#{first.number}" if first.run_id == submission.run_id else f"{first.run.slug} #{first.number}"


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
    for run_id in Baseline.objects.filter(evaluation=evaluation, run__state="preparing").values_list(
        "run_id", flat=True
    ):
        baseline_announce(run_id, evaluation)
