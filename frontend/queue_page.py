"""What waits, for how long, and which workers are busy."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Count, Min, QuerySet
from django.utils import timezone

from benchmark.models import HELD, Run, RunState
from grading.models import Evaluation, EvaluationState, Submission, SubmissionState


@dataclass(frozen=True)
class Waiting:
    """One kind of work in the queue."""

    kind: str
    meaning: str
    depth: int
    oldest: datetime | None
    running: int


@dataclass(frozen=True)
class Busy:
    """One piece of work that a worker holds."""

    worker: str
    doing: str
    run: Run | None
    heartbeat_at: datetime | None
    started_at: datetime | None
    phase: str = ""
    done: int = 0
    expected: int = 0

    @property
    def silent(self) -> bool:
        """Not heard of for two heartbeats: the next sweep takes its work away."""
        if self.heartbeat_at is None:
            return True
        return (timezone.now() - self.heartbeat_at).total_seconds() > 2 * settings.HEARTBEAT_S


@dataclass(frozen=True)
class QueuePage:
    waiting: tuple[Waiting, ...]
    busy: tuple[Busy, ...]

    @property
    def depth(self) -> int:
        return sum(kind.depth for kind in self.waiting)

    @property
    def oldest(self) -> datetime | None:
        return min((kind.oldest for kind in self.waiting if kind.oldest), default=None)

    @property
    def workers(self) -> int:
        return len({busy.worker for busy in self.busy if not busy.silent})

    @property
    def silent_workers(self) -> list[Busy]:
        """One piece of work of each worker that has not reported."""
        return list({busy.worker: busy for busy in self.busy if busy.silent}.values())


def queue_page() -> QueuePage:
    return QueuePage(waiting=tuple(_waiting()), busy=(*_agents(), *_graders()))


def _waiting() -> Iterable[Waiting]:
    submissions = Submission.objects.filter(run__origin="local")
    baselines = Evaluation.objects.filter(state=EvaluationState.QUEUED, baselines__isnull=False).distinct()
    yield Waiting(
        "Runs",
        "wait for a worker that runs agents",
        *_depth(Run.objects.filter(state=RunState.QUEUED), "created_at"),
        running=Run.objects.filter(state__in=HELD).count(),
    )
    yield Waiting(
        "Intake",
        "submissions whose files are not yet checked",
        *_depth(submissions.filter(state=SubmissionState.RECEIVED), "received_at"),
        running=0,
    )
    yield Waiting(
        "Grading",
        "submissions that wait for a grading worker, one at a time in a run",
        *_depth(submissions.filter(state=SubmissionState.QUEUED), "received_at"),
        running=submissions.filter(state=SubmissionState.GRADING).count(),
    )
    yield Waiting(
        "Baselines",
        "base models whose own score is not yet known",
        *_depth(baselines, "created_at"),
        running=Evaluation.objects.filter(state=EvaluationState.RUNNING, baselines__isnull=False).distinct().count(),
    )


def _depth(rows: QuerySet[Any], since: str) -> tuple[int, datetime | None]:
    told = rows.aggregate(depth=Count("pk", distinct=True), oldest=Min(since))
    return told["depth"], told["oldest"]


def _agents() -> Iterable[Busy]:
    for run in Run.objects.filter(state__in=HELD).order_by("worker", "id"):
        yield Busy(
            worker=run.worker,
            doing=run.step or "runs the agent",
            run=run,
            heartbeat_at=run.heartbeat_at,
            started_at=run.started_at,
        )


def _graders() -> Iterable[Busy]:
    running = Evaluation.objects.filter(state=EvaluationState.RUNNING).prefetch_related("submissions__run")
    for evaluation in running.order_by("worker", "id"):
        waiting = [row for row in evaluation.submissions.all() if row.state == SubmissionState.GRADING]
        told = f"grades #{waiting[0].number}" if waiting else f"grades the base model {evaluation.base_model}"
        yield Busy(
            worker=evaluation.worker,
            doing=told,
            run=waiting[0].run if waiting else None,
            heartbeat_at=evaluation.heartbeat_at,
            started_at=evaluation.started_at,
            phase=evaluation.phase,
            done=evaluation.n_done,
            expected=evaluation.n_expected,
        )
