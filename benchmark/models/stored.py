"""What lies in object storage: insert-only, one row for the sealed files of one other row."""

from django.db import models
from django.utils import timezone


class StoredArtifact(models.Model):
    """Every file was there, whole and with the right SHA-256, when the row was written."""

    kind = models.CharField(max_length=16)
    """Whose files: `benchmark.services.artifacts_sources.Source.kind`."""
    key = models.CharField(max_length=64)
    """Of the row that they belong to."""
    files = models.JSONField(default=dict)
    """Path below the data folder, which is the object's name → [bytes, SHA-256]."""
    total_bytes = models.PositiveBigIntegerField(default=0)
    stored_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("id",)
        constraints = (models.UniqueConstraint(fields=("kind", "key"), name="stored_once"),)

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"
