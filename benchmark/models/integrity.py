"""What was seen of a run's attempts at things it should not do. All of it was contained; people judge what it means."""

from django.db import models
from django.utils import timezone

from benchmark.models.run import Run


class IntegritySource(models.TextChoices):
    GATEWAY = "gateway"
    """The way out of the sandbox refused requests."""
    LIMIT = "limit"
    """The run was ended because it went over a limit."""
    LOG = "log"
    """Words in the agent's output. A mention is not yet a deed."""


class IntegrityFinding(models.Model):
    """One kind of attempt of one run. Never changed."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="integrity_findings")
    source = models.CharField(max_length=16, choices=IntegritySource.choices)
    code = models.CharField(max_length=40)
    """Such as `foreign_token` (services/integrity.py)."""
    title = models.CharField(max_length=200)
    count = models.PositiveIntegerField(default=1)
    places = models.JSONField(default=list)
    """The first few: lines of the log, or paths that were asked for, secrets masked."""
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("run", "id")
        constraints = (models.UniqueConstraint(fields=("run", "source", "code"), name="integrity_finding_once"),)

    def __str__(self) -> str:
        return f"{self.run_id} {self.code} ×{self.count}"
