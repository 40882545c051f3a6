"""What came of grading: insert-only."""

from django.db import models
from django.utils import timezone

CLAIMED = "claimed:"
"""Begins the protocol of a verdict that a submitter states: it was not reached here."""


class Verdict(models.Model):
    """A score in 0..100, or a typed failure; exactly one of the two. Never changed: a re-grade is a new row."""

    protocol = models.CharField(max_length=128)
    digest = models.CharField(max_length=64, blank=True, db_index=True)
    """Of the graded checkpoint's files; empty when intake could not take a snapshot."""
    score = models.FloatField(null=True)
    code = models.CharField(max_length=40, blank=True)
    message = models.TextField(blank=True)
    fix = models.TextField(blank=True)
    detail = models.JSONField(default=dict)
    warnings = models.JSONField(default=list)
    metrics = models.JSONField(default=dict)
    versions = models.JSONField(default=dict)
    sampling = models.JSONField(default=dict)
    n_expected = models.PositiveIntegerField(default=0)
    n_scored = models.PositiveIntegerField(default=0)
    tokens = models.PositiveBigIntegerField(default=0)
    seconds = models.FloatField(default=0.0)
    records = models.CharField(max_length=300, blank=True)
    """The per-sample records, relative to the artifacts folder."""
    records_sha256 = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                condition=(models.Q(score__isnull=False) & models.Q(code=""))
                | (models.Q(score__isnull=True) & ~models.Q(code="")),
                name="verdict_score_or_failure",
            ),
            models.CheckConstraint(
                condition=models.Q(score=None) | models.Q(score__gte=0.0, score__lte=100.0), name="verdict_score_range"
            ),
        )

    def __str__(self) -> str:
        return f"{self.score:.2f}" if self.score is not None else self.code

    @property
    def claimed(self) -> bool:
        """Whether a submitter stated it rather than this platform reached it."""
        return self.protocol.startswith(CLAIMED)

    @property
    def standard_error(self) -> float | None:
        """In points, as the protocol's evaluator reported it."""
        value = self.metrics.get("standard_error")
        return float(value) if value is not None else None
