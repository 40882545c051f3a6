"""Who labels which run: queues of runs, and each person's labelling of one run from claim to submission."""

from datetime import timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from benchmark.models import Run

CLAIM_DAYS = 14
"""A claim that is not submitted by then no longer keeps the run from others."""


class LabellingQueue(models.Model):
    """Runs that `annotators` people each are to label, in order."""

    name = models.CharField(max_length=120, unique=True)
    annotators = models.PositiveSmallIntegerField(default=2)
    runs = models.ManyToManyField(Run, through="QueuedRun", related_name="labelling_queues")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("id",)
        constraints = (models.CheckConstraint(condition=Q(annotators__gte=1), name="queue_annotators"),)

    def __str__(self) -> str:
        return self.name


class QueuedRun(models.Model):
    """A run's place in a queue."""

    queue = models.ForeignKey(LabellingQueue, on_delete=models.CASCADE, related_name="places")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ("queue", "position")
        constraints = (models.UniqueConstraint(fields=("queue", "run"), name="queued_once"),)

    def __str__(self) -> str:
        return f"{self.queue_id}/{self.position}"


class LabellingQuerySet(models.QuerySet["Labelling"]):
    def submitted(self) -> Self:
        return self.filter(submitted_at__isnull=False)

    def open(self) -> Self:
        return self.filter(submitted_at=None)

    def counted(self) -> Self:
        """Submitted, or claimed so lately that a submission is to be expected."""
        return self.filter(
            Q(submitted_at__isnull=False) | Q(claimed_at__gte=timezone.now() - timedelta(days=CLAIM_DAYS))
        )


class Labelling(models.Model):
    """One person's labelling of one run: claimed → submitted. Until it is submitted its author works blind."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="labellings")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="labellings")
    claimed_at = models.DateTimeField(default=timezone.now)
    submitted_at = models.DateTimeField(null=True)

    objects = LabellingQuerySet.as_manager()

    class Meta:
        ordering = ("id",)
        constraints = (models.UniqueConstraint(fields=("run", "author"), name="labelling_once"),)

    def __str__(self) -> str:
        return f"{self.run_id} by {self.author_id}"
