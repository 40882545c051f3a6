"""What runs would use, told before they are started: reserved at most, and estimated from past ones."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Avg, Count
from django.utils import timezone

from benchmark.catalogue import task_get
from benchmark.models import HELD, Origin, Run, RunState, Worker
from benchmark.services.protocols import protocol_in_force
from grading.models import Evaluation, EvaluationState, TaskStanding

PAST = 200
"""The newest evaluations that an estimate looks at."""


@dataclass(frozen=True)
class RunCost:
    """Of `runs` equal runs, in hours; None: nothing past to estimate from."""

    runs: int
    gpus: float
    """Of each run."""
    budget_s: int
    reserved_gpu_hours: float
    """At most: every run uses its whole budget."""
    grading_hours: float | None
    """Of a grading worker, with its GPU where it has one."""
    graded_before: int
    """Past evaluations that the estimate rests on."""
    provider_usd: float | None
    paid_before: int
    """Past runs that the estimate rests on."""
    baseline_known: bool
    """Else the base model is graded first."""
    waiting_before: int
    starts_at: datetime | None
    """About when the first could start; None: no worker takes runs."""

    def as_data(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def reserved_worker_hours(self) -> float:
        return self.runs * self.budget_s / 3600

    @property
    def starts_in_s(self) -> float | None:
        return None if self.starts_at is None else max(0.0, (self.starts_at - timezone.now()).total_seconds())


def run_cost(*, task: str, base_model: str, budget_s: int, runs: int = 1, agent: str = "", driver: str = "") -> RunCost:
    """A fixed number of queries. Raises: CatalogueError: there is no such task."""
    protocol = protocol_in_force(task_get(task))
    seconds, graded = _evaluation_seconds(protocol)
    known = _baseline_known(protocol, base_model)
    usd, paid = _provider_usd(task, agent, driver)
    waiting, starts = _start(timezone.now())
    submissions = _submissions(task)
    evaluations = None if submissions is None else runs * submissions + (0 if known else 1)
    return RunCost(
        runs=runs,
        gpus=settings.RUN_GPUS,
        budget_s=budget_s,
        reserved_gpu_hours=runs * settings.RUN_GPUS * budget_s / 3600,
        grading_hours=None if seconds is None or evaluations is None else evaluations * seconds / 3600,
        graded_before=graded,
        provider_usd=None if usd is None else runs * usd,
        paid_before=paid,
        baseline_known=known,
        waiting_before=waiting,
        starts_at=starts,
    )


def _evaluation_seconds(protocol: str) -> tuple[float | None, int]:
    """The mean duration of the newest evaluations under that protocol, and how many they are."""
    ended = Evaluation.objects.filter(protocol=protocol, state=EvaluationState.DONE, verdict__seconds__gt=0)
    newest = ended.order_by("-id").values("verdict__seconds")[:PAST]
    told = [row["verdict__seconds"] for row in newest]
    return (sum(told) / len(told) if told else None), len(told)


def _baseline_known(protocol: str, base_model: str) -> bool:
    known = Evaluation.objects.filter(protocol=protocol, base_model=base_model, state=EvaluationState.DONE)
    return known.filter(baselines__isnull=False).exists()


def _submissions(task: str) -> float | None:
    """The mean number of graded submissions of local runs on the task that have ended."""
    past = TaskStanding.objects.filter(task=task, run__origin=Origin.LOCAL, run__state=RunState.FINISHED)
    mean: float | None = past.aggregate(mean=Avg("submissions"))["mean"]
    return mean


def _provider_usd(task: str, agent: str, driver: str) -> tuple[float | None, int]:
    """The mean provider cost of past runs of that stack on the task, and how many they are."""
    past = Run.objects.filter(task=task, agent=agent, cost_usd__isnull=False)
    told = (past.filter(driver=driver) if driver else past).aggregate(mean=Avg("cost_usd"), n=Count("id"))
    return told["mean"], told["n"]


def _start(now: datetime) -> tuple[int, datetime | None]:
    """How many runs wait, and about when a slot is free for one more behind them."""
    waiting = list(
        Run.objects.filter(state=RunState.QUEUED).order_by("created_at", "id").values_list("budget_s", flat=True)
    )
    workers = Worker.objects.live().filter(draining=False)
    slots = sum(worker.slots.get("agents", 0) for worker in workers if "agents" in worker.queues)
    if not slots:
        return len(waiting), None
    held = Run.objects.filter(state__in=HELD).values_list("deadline_at", "budget_s")
    free = sorted(end or now + timedelta(seconds=budget) for end, budget in held)[-slots:]
    free = [now] * (slots - len(free)) + free
    for budget in waiting:
        first = max(free.pop(0), now)
        free = sorted([*free, first + timedelta(seconds=budget)])
    return len(waiting), max(free[0], now)
