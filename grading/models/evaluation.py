"""One execution of the grading runner on one checkpoint under one protocol. It has attempts."""

from datetime import timedelta
from typing import Any, Self

from django.db import models
from django.utils import timezone

from grading.models.verdict import Verdict


class EvaluationState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAULTED = "faulted"
    """Every attempt ended in a fault of ours."""


class EvaluationQuerySet(models.QuerySet["Evaluation"]):
    def stale(self, age_s: float) -> Self:
        return self.filter(state=EvaluationState.RUNNING, heartbeat_at__lt=timezone.now() - timedelta(seconds=age_s))

    def repeats_of(self, first: "Evaluation") -> Self:
        """Further evaluations of the same files under the same protocol and engine, in order."""
        same = ("digest", "base_digest", "protocol", "engine")
        return self.filter(repeat__gt=0, **{name: getattr(first, name) for name in same}).order_by("repeat")

    def move(
        self, pk: int, *, before: EvaluationState, after: EvaluationState, held_under: str = "", **values: Any
    ) -> bool:
        """Move one evaluation if it is still in `before` (and held under that lease, if given)."""
        rows = self.filter(pk=pk, state=before)
        if held_under:
            rows = rows.filter(lease=held_under)
        return rows.update(state=after, **values) == 1


class Evaluation(models.Model):
    """The same files under the same protocol and engine are evaluated once, whoever submits them.

    Unless an operator asks for it again, to see how far the score repeats (grading/services/repeating.py). The first
    evaluation's verdict stays the one that counts.

    A baseline is the evaluation of a base model's own files (`digest` = the run's `base_digest`).
    """

    task = models.CharField(max_length=64)
    protocol = models.CharField(max_length=128)
    engine = models.CharField(max_length=64)
    """Engine, device and dtype, such as `transformers/cpu/float32`."""
    digest = models.CharField(max_length=64)
    base_model = models.CharField(max_length=256)
    base_digest = models.CharField(max_length=64)
    repeat = models.PositiveSmallIntegerField(default=0)
    """0: the first, which submissions wait for; from 1 on it was asked for once more."""
    state = models.CharField(max_length=16, choices=EvaluationState.choices, default=EvaluationState.QUEUED)
    attempts = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=128, blank=True)
    lease = models.CharField(max_length=32, blank=True)
    heartbeat_at = models.DateTimeField(null=True)
    phase = models.CharField(max_length=40, blank=True)
    n_done = models.PositiveIntegerField(default=0)
    n_expected = models.PositiveIntegerField(default=0)
    fault = models.JSONField(default=dict)
    """The last attempt's fault, as a finding."""
    verdict = models.OneToOneField(Verdict, null=True, on_delete=models.PROTECT, related_name="evaluation")
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    objects = EvaluationQuerySet.as_manager()

    class Meta:
        ordering = ("id",)
        indexes = (
            models.Index(
                fields=("state", "id"), condition=models.Q(state__in=("queued", "running")), name="evaluation_waiting"
            ),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("digest", "base_digest", "protocol", "engine", "repeat"), name="evaluation_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.protocol} {self.digest[:12]}"

    @property
    def is_baseline(self) -> bool:
        return self.digest == self.base_digest
