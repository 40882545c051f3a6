"""A run: one agent × driver × task × base model × mode, within one budget."""

from datetime import timedelta
from typing import Any, Literal, Self
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser, User
from django.db import connections, models
from django.db.models import Q
from django.utils import timezone


class Mode(models.TextChoices):
    """What the instructions allow."""

    FREE = "free", "Free"
    SFT_ONLY = "sft-only", "SFT-only"
    RL_ORIENTED = "rl-oriented", "RL-oriented"
    MULTI = "multi", "Multi"


class RunState(models.TextChoices):
    """queued → preparing → running → finishing → one of the last four."""

    QUEUED = "queued"
    PREPARING = "preparing"
    RUNNING = "running"
    FINISHING = "finishing"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out", "timed out"


TERMINAL = (RunState.FINISHED, RunState.FAILED, RunState.CANCELLED, RunState.TIMED_OUT)
HELD = (RunState.PREPARING, RunState.RUNNING)
"""States in which a worker holds the run and must keep its heartbeat."""


class Origin(models.TextChoices):
    """Where a run was made."""

    LOCAL = "local"
    EXTERNAL = "external"
    PUBLISHED = "published"


class Trust(models.TextChoices):
    """How far the numbers of a run made elsewhere can be trusted; empty for what was graded here."""

    CLAIMED = "claimed"
    CHECKED = "checked"
    REVIEWED = "reviewed"
    REGRADED = "regraded", "re-graded"
    FLAGGED = "flagged"


class RunQuerySet(models.QuerySet["Run"]):
    """Reusable filters, and the conditional updates that move a run."""

    def shown(self) -> Self:
        """What everybody may see."""
        return self.filter(hidden=False)

    def visible_to(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """What is shown, the user's own, and everything for those who moderate."""
        if not isinstance(user, User):
            return self.shown()
        return self if user.has_perm("benchmark.moderate_run") else self.filter(Q(hidden=False) | Q(created_by=user))

    def active(self) -> Self:
        """Not ended. Said by the states it may be in, for which there is an index."""
        return self.filter(state__in=[state for state in RunState if state not in TERMINAL])

    def stale(self, age_s: float) -> Self:
        """Held by a worker that has not been heard of for `age_s` seconds."""
        return self.filter(state__in=HELD, heartbeat_at__lt=timezone.now() - timedelta(seconds=age_s))

    def move(self, run_id: int, *, before: RunState, after: RunState, held_under: str = "", **values: Any) -> bool:
        """Move one run if it is still in `before` (and under that lease, if given); False: somebody was first."""
        rows = self.filter(pk=run_id, state=before)
        if held_under:
            rows = rows.filter(lease=held_under)
        return rows.update(state=after, **values) == 1

    def count_up(self, run_id: int, *counters: Literal["event_seq", "submission_count"]) -> tuple[str, list[int]]:
        """The run's state and each counter's next number, in one statement that locks the row until the commit.

        Raises: Run.DoesNotExist.
        """
        table = self.model._meta.db_table
        ups = ", ".join(f"{counter} = {counter} + 1" for counter in counters)
        sql = f"UPDATE {table} SET {ups} WHERE id = %s RETURNING state, {', '.join(counters)}"  # noqa: S608
        with connections[self.db].cursor() as cursor:
            cursor.execute(sql, [run_id])
            row = cursor.fetchone()
        if row is None:
            raise Run.DoesNotExist(f"run {run_id}")
        return str(row[0]), [int(number) for number in row[1:]]


def new_slug() -> str:
    """A public run id that sorts by time: `20261129-0214-3f9a1c`."""
    return f"{timezone.now():%Y%m%d-%H%M}-{uuid4().hex[:6]}"


class Run(models.Model):
    """One run. Times are UTC; `budget_s` is wall clock for the agent alone, counted from `started_at`."""

    slug = models.CharField(max_length=40, unique=True, default=new_slug)
    agent = models.CharField(max_length=64)
    agent_version = models.CharField(max_length=64, blank=True)
    driver = models.CharField(max_length=128, default="none")
    task = models.CharField(max_length=64)
    protocol = models.CharField(max_length=128)
    base_model = models.CharField(max_length=256)
    base_digest = models.CharField(max_length=64, blank=True)
    mode = models.CharField(max_length=16, choices=Mode.choices, default=Mode.FREE)
    budget_s = models.PositiveIntegerField()
    token_budget = models.PositiveBigIntegerField(null=True)
    """Of the driver, counted by the gateway; None: none."""
    cost_budget_usd = models.FloatField(null=True)
    resumes = models.PositiveSmallIntegerField(default=0)
    """How often an agent that ends early is started again: policy, set when the run is created."""
    resumed = models.PositiveSmallIntegerField(default=0)
    task_list = models.JSONField(default=list)
    """Of a multi run: its tasks, `task` being the first; else empty."""
    origin = models.CharField(max_length=16, choices=Origin.choices, default=Origin.LOCAL)
    trust = models.CharField(max_length=16, choices=Trust.choices, blank=True)
    hidden = models.BooleanField(default=False)
    """Seen by its owner and by moderators alone, and never ranked."""
    source = models.JSONField(default=dict)
    """Where a run that was not made here comes from: a paper's table, or a bundle."""
    state = models.CharField(max_length=16, choices=RunState.choices, default=RunState.QUEUED)
    outcome = models.CharField(max_length=16, choices=RunState.choices, blank=True)
    """The terminal state that `finishing` leads to."""
    step = models.CharField(max_length=120, blank=True)
    """What `preparing` is doing, for people."""
    sandbox = models.CharField(max_length=16, blank=True)
    sandbox_note = models.CharField(max_length=200, blank=True)
    exit_code = models.IntegerField(null=True)
    fault_code = models.CharField(max_length=40, blank=True)
    fault_detail = models.TextField(blank=True)
    token_hash = models.CharField(max_length=64, blank=True, db_index=True)
    worker = models.CharField(max_length=128, blank=True)
    place = models.CharField(max_length=40, blank=True)
    """The disk that holds its workspace and checkpoints: a host's name, or empty for the web server's."""
    lease = models.CharField(max_length=32, blank=True)
    heartbeat_at = models.DateTimeField(null=True)
    cancel_requested_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="runs")
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True)
    deadline_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    versions = models.JSONField(default=dict)
    submission_count = models.PositiveIntegerField(default=0)
    event_seq = models.PositiveBigIntegerField(default=0)
    tokens = models.PositiveBigIntegerField(null=True)
    """As the gateway counted them from the provider's own usage fields, caches included."""
    cost_usd = models.FloatField(null=True)
    """Of the same requests; None: a model without a price, or nothing asked."""

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-id")
        indexes = (
            models.Index(fields=("state", "heartbeat_at")),
            models.Index(fields=("task", "base_model")),
            models.Index(fields=("-created_at", "-id"), name="run_newest_first"),
        )
        permissions = (
            ("operate_run", "Can start and cancel runs"),
            ("moderate_run", "Can publish, hide and flag runs"),
        )

    def __str__(self) -> str:
        return self.slug

    @property
    def tasks(self) -> list[str]:
        """One, or those of a multi run."""
        return list(self.task_list) or [self.task]

    def task_named(self, task: str) -> str:
        """How rows of one of its tasks name it: a run with only one leaves that out."""
        return task if self.task_list else ""

    @property
    def terminal(self) -> bool:
        return self.state in TERMINAL

    @property
    def accepts_submissions(self) -> bool:
        """True while the agent may submit: it runs and its budget is not used up."""
        return self.state == RunState.RUNNING and self.deadline_at is not None and timezone.now() < self.deadline_at

    def elapsed_s(self, moment: Any = None) -> float | None:
        """Seconds of the budget used at `moment` (default: now, or the agent's end); None before its start."""
        if self.started_at is None:
            return None
        end = moment or self.ended_at or timezone.now()
        return float(max(0.0, (end - self.started_at).total_seconds()))
