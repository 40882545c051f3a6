"""What the platform itself recorded of a run: the sealed log, and what its machine did meanwhile."""

from typing import Any, Self

from django.db import models
from django.db.models import Q

from benchmark.models import HELD, Run
from traces.models.trace import Trace

ATTEMPTS = 3


class RecordingQuerySet(models.QuerySet["Recording"]):
    def abandoned(self) -> Self:
        """Not sealed though nobody writes the log any more: the worker was lost."""
        return self.filter(sealed_at=None).exclude(run__state__in=HELD)

    def unread(self) -> Self:
        """Sealed, and not yet read to the end."""
        return self.filter(sealed_at__isnull=False, ingested_at=None, attempts__lt=ATTEMPTS)


class Recording(models.Model):
    """recording → sealed → ingested. `log_sha256` is of the raw log, as it lies on the worker."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="recording")
    trace = models.ForeignKey(Trace, null=True, on_delete=models.SET_NULL, related_name="+")
    log_bytes = models.PositiveBigIntegerField(default=0)
    log_sha256 = models.CharField(max_length=64, blank=True)
    notes = models.JSONField(default=list)
    """Sentences about what is odd, such as a log that was changed after it was written."""
    code_files = models.PositiveIntegerField(null=True)
    """Of the whole workspace, at the end of the run; None: nobody looked."""
    model_versions = models.PositiveIntegerField(null=True)
    """Folders that were seen to hold weights, deleted ones included."""
    summary = models.TextField(blank=True)
    """The agent's own `summary.md`, secrets masked."""
    summary_entries = models.JSONField(default=list)
    """The agent's own `summary.jsonl`, secrets masked."""
    lease = models.CharField(max_length=32, blank=True)
    lease_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    sealed_at = models.DateTimeField(null=True)
    ingested_at = models.DateTimeField(null=True)

    objects = RecordingQuerySet.as_manager()

    class Meta:
        indexes = (models.Index(fields=("sealed_at",), name="recording_open", condition=Q(ingested_at=None)),)

    def __str__(self) -> str:
        return f"recording of {self.run_id}"


class ResourceSample(models.Model):
    """One look at what a run's sandbox used. None is unknown. Never changed."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="samples")
    at = models.DateTimeField()
    cpus = models.FloatField(null=True)
    """Cores in use, averaged since the last look."""
    memory_bytes = models.PositiveBigIntegerField(null=True)
    disk_bytes = models.PositiveBigIntegerField(null=True)
    """Of the workspace."""
    processes = models.PositiveIntegerField(null=True)
    gpus = models.JSONField(default=list)
    """`{index, percent, memory_bytes, memory_total, watts}` for each GPU of the host."""

    class Meta:
        ordering = ("run", "at")
        indexes = (models.Index(fields=("run", "at"), name="sample_at"),)

    def __str__(self) -> str:
        return f"{self.run_id} {self.at:%H:%M:%S}"

    @property
    def gpu_percent(self) -> float | None:
        """The mean over the host's GPUs."""
        return _mean([gpu.get("percent") for gpu in self.gpus])

    @property
    def gpu_memory_bytes(self) -> int | None:
        known = [gpu["memory_bytes"] for gpu in self.gpus if gpu.get("memory_bytes") is not None]
        return sum(known) if known else None


def _mean(values: list[Any]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return sum(known) / len(known) if known else None
