"""One transcript of a run; a run may have several."""

from pathlib import Path
from uuid import uuid4

from django.conf import settings
from django.db import models
from django.utils import timezone

from benchmark.models import Run


class TraceState(models.TextChoices):
    """reading → sealed."""

    READING = "reading"
    SEALED = "sealed"


def new_key() -> str:
    return uuid4().hex


class Trace(models.Model):
    """The row says how much is stored; of its files only that much counts."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="traces")
    key = models.CharField(max_length=32, unique=True, default=new_key)
    """Names its folder."""
    name = models.CharField(max_length=200)
    """Of the source file."""
    state = models.CharField(max_length=8, choices=TraceState.choices, default=TraceState.READING)
    dialect = models.CharField(max_length=64, blank=True)
    agent = models.CharField(max_length=128, blank=True)
    agent_version = models.CharField(max_length=128, blank=True)
    model = models.CharField(max_length=128, blank=True)
    source_sha256 = models.CharField(max_length=64, blank=True, db_index=True)
    """Of the file as it was given, where it was imported whole."""
    sha256 = models.CharField(max_length=64, blank=True)
    """Of the stored, masked transcript, once sealed."""
    event_count = models.PositiveBigIntegerField(default=0)
    raw_count = models.PositiveBigIntegerField(default=0)
    line_count = models.PositiveBigIntegerField(default=0)
    masked_count = models.PositiveBigIntegerField(default=0)
    transcript_bytes = models.PositiveBigIntegerField(default=0)
    body_bytes = models.PositiveBigIntegerField(default=0)
    search_bytes = models.PositiveBigIntegerField(default=0)
    filter_bytes = models.PositiveBigIntegerField(default=0)
    first_at = models.DateTimeField(null=True)
    last_at = models.DateTimeField(null=True)
    tokens_input = models.BigIntegerField(null=True)
    tokens_output = models.BigIntegerField(null=True)
    tokens_cached = models.BigIntegerField(null=True)
    tokens_reasoning = models.BigIntegerField(null=True)
    cost = models.FloatField(null=True)
    """US dollars, as the transcript states them; None is unknown."""
    summary = models.JSONField(default=dict)
    """Counts by kind, what the transcript declares, notes: `reading.summary.Summary.as_data`."""
    created_at = models.DateTimeField(default=timezone.now)
    sealed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("run", "id")

    def __str__(self) -> str:
        return f"{self.run_id}/{self.name}"

    @property
    def folder(self) -> Path:
        return Path(settings.TRACES_DIR) / self.key[:2] / self.key
