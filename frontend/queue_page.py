"""What waits, for how long, and which workers there are."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Min, QuerySet
from django.utils import timezone

from benchmark.models import HELD, Run, RunState, Worker
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


QUEUED_SHOWN = 50
ENDED_SHOWN = timedelta(minutes=10)
"""How long a worker that said it ends stays on the page."""


@dataclass(frozen=True)
class WorkerRow:
    """One worker: its own report, None where it only shows by what it holds, and that."""

    name: str
    report: Worker | None
    busy: tuple[Busy, ...]

    @property
    def standing(self) -> str:
        """`lost`, `ended`, `draining`, `running` (busy) or `idle`: words and classes of the state mark."""
        told = self.report.standing if self.report else ("silent" if all(b.silent for b in self.busy) else "live")
        if told == "live":
            return "running" if self.busy else "idle"
        return "lost" if told == "silent" else told

    @property
    def word(self) -> str:
        return {"running": "busy", "lost": "silent"}.get(self.standing, self.standing)

    @property
    def seen_at(self) -> datetime | None:
        moments = [busy.heartbeat_at for busy in self.busy if busy.heartbeat_at]
        return max([*moments, *([self.report.seen_at] if self.report else [])], default=None)

    @property
    def gpus(self) -> list[dict[str, Any]]:
        """Each with `memory_gb` and `total_gb`."""
        told = self.report.gpus if self.report and self.standing != "lost" else []
        return [
            gpu | {"memory_gb": _gb(gpu.get("memory_bytes")), "total_gb": _gb(gpu.get("memory_total"))} for gpu in told
        ]

    @property
    def queues(self) -> list[tuple[str, int | None]]:
        """Each with its slots, None where it has no number of its own."""
        return [(name, self.report.slots.get(name)) for name in self.report.queues] if self.report else []

    @property
    def can_drain(self) -> bool:
        return self.report is not None and self.standing not in ("lost", "ended")


def _gb(size: int | None) -> int | None:
    return None if size is None else round(size / 1e9)


@dataclass(frozen=True)
class QueuePage:
    waiting: tuple[Waiting, ...]
    busy: tuple[Busy, ...]
    workers: tuple[WorkerRow, ...]
    queued: tuple[Run, ...]
    """The runs that wait, the next one first."""

    @property
    def depth(self) -> int:
        return sum(kind.depth for kind in self.waiting)

    @property
    def oldest(self) -> datetime | None:
        return min((kind.oldest for kind in self.waiting if kind.oldest), default=None)

    @property
    def live(self) -> int:
        return sum(row.standing in ("running", "idle", "draining") for row in self.workers)

    @property
    def working(self) -> int:
        """Live ones that hold something."""
        return sum(row.standing in ("running", "draining") and bool(row.busy) for row in self.workers)

    @property
    def silent(self) -> list[WorkerRow]:
        return [row for row in self.workers if row.standing == "lost"]

    @property
    def gpus(self) -> tuple[int, int]:
        """Busy above a twentieth, and all that are reported."""
        told = [gpu for row in self.workers for gpu in row.gpus]
        return sum((gpu.get("percent") or 0) > 5 for gpu in told), len(told)


def queue_page(user: AbstractBaseUser | AnonymousUser | None = None) -> QueuePage:
    """A fixed number of queries. Runs hidden from the reader (None: anybody) are counted and not named."""
    user = user or AnonymousUser()
    busy = (*_agents(), *_graders())
    seen = set(
        Run.objects.visible_to(user).filter(pk__in=[b.run.pk for b in busy if b.run]).values_list("pk", flat=True)
    )
    busy = tuple(b if b.run is None or b.run.pk in seen else replace(b, run=None) for b in busy)
    queued = Run.objects.visible_to(user).filter(state=RunState.QUEUED).select_related("created_by")
    waiting = tuple(queued.order_by("created_at", "id")[:QUEUED_SHOWN])
    return QueuePage(tuple(_waiting()), busy, tuple(worker_rows(busy)), waiting)


def worker_rows(busy: Sequence[Busy]) -> Iterable[WorkerRow]:
    """Those that report, those that were lost, those that ended just now; then names that only hold something."""
    held: dict[str, list[Busy]] = defaultdict(list)
    for each in busy:
        held[each.worker].append(each)
    lately = timezone.now() - ENDED_SHOWN
    for report in Worker.objects.recent():
        if report.ended_at is None or report.ended_at > lately or report.name in held:
            yield WorkerRow(report.name, report, tuple(held.pop(report.name, ())))
    for name, rest in held.items():
        yield WorkerRow(name, None, tuple(rest))


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
        if evaluation.repeat:
            told = f"grades once more, time {evaluation.repeat + 1}"
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
