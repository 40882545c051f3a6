"""The append-only event log of a run, and the tail of its agent's log."""

from typing import Any

from django.db import models, transaction
from django.utils import timezone

from benchmark.models.run import Run


class EventKind(models.TextChoices):
    """What an event reports; `data` is JSON whose keys each writer documents."""

    RUN_STATE = "run.state"
    RUN_STEP = "run.step"
    BASELINE = "run.baseline"
    SUBMISSION = "submission"
    PROGRESS = "grading.progress"
    TOKENS = "tokens"


class RunEventManager(models.Manager["RunEvent"]):
    def append(self, run_id: int, kind: EventKind, /, *, at_seq: int | None = None, **data: Any) -> "RunEvent":
        """Append one event under the run's next sequence number, or under one that `count_up` has just given.

        The counter's row is locked until the surrounding transaction ends, so numbers are gapless, distinct, and
        become visible in order. Raises: Run.DoesNotExist.
        """
        with transaction.atomic(savepoint=False):
            if at_seq is None:
                _, (at_seq,) = Run.objects.count_up(run_id, "event_seq")
            return self.create(run_id=run_id, seq=at_seq, kind=kind, data=data)


class RunEvent(models.Model):
    """One fact, never changed."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    seq = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=32, choices=EventKind.choices)
    at = models.DateTimeField(default=timezone.now)
    data = models.JSONField(default=dict)

    objects = RunEventManager()

    class Meta:
        ordering = ("run", "seq")
        constraints = (models.UniqueConstraint(fields=("run", "seq"), name="event_seq_once"),)

    def __str__(self) -> str:
        return f"{self.run_id}/{self.seq} {self.kind}"


class AgentLog(models.Model):
    """The last part of what the agent printed, for the live page; the whole lies in the run's folder."""

    TAIL_CHARS = 16_384

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="agent_log")
    tail = models.TextField(blank=True)
    size = models.PositiveBigIntegerField(default=0)
    """Characters printed so far; the tail ends there."""
    updated_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"log of {self.run_id}"
