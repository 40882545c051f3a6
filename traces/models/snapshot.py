"""The code of a submission as it was when it arrived, and which method it shows."""

from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone

from benchmark.models import Run
from traces.methods.words import Method


class CodeSnapshotQuerySet(models.QuerySet["CodeSnapshot"]):
    def unlabelled(self) -> Self:
        """Those that no rule has judged yet, the oldest first."""
        judged = MethodLabel.objects.filter(
            run=models.OuterRef("run"), number=models.OuterRef("number"), source=LabelSource.RULES
        )
        return self.filter(~models.Exists(judged)).order_by("id")


class CodeSnapshot(models.Model):
    """`code/` at one submission: names and digests; the contents lie in the store. Never changed."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="snapshots")
    number = models.PositiveIntegerField()
    """The submission's."""
    model_path = models.CharField(max_length=1024)
    files = models.JSONField(default=dict)
    """Path below `code/` → [SHA-256 of the stored content, bytes, secrets masked in it]."""
    left_out = models.JSONField(default=dict)
    """Path → why it is not among the files."""
    notes = models.JSONField(default=list)
    """Limits that were reached, and faults, in sentences."""
    digest = models.CharField(max_length=64, blank=True)
    """SHA-256 over names and digests: equal code has an equal one."""
    total_bytes = models.PositiveBigIntegerField(default=0)
    log_bytes = models.PositiveBigIntegerField(default=0)
    """How long the agent's log was then: what it ran before stands below that."""
    taken_at = models.DateTimeField(default=timezone.now)
    seconds = models.FloatField(default=0.0)

    objects = CodeSnapshotQuerySet.as_manager()

    class Meta:
        ordering = ("run", "number")
        constraints = (models.UniqueConstraint(fields=("run", "number"), name="snapshot_once"),)

    def __str__(self) -> str:
        return f"code of {self.run_id}#{self.number}"


class LabelSource(models.TextChoices):
    RULES = "rules"
    PERSON = "person"


class MethodLabel(models.Model):
    """One statement about how a submission's checkpoint was made. Never changed: a correction is a new row."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="method_labels")
    number = models.PositiveIntegerField()
    """The submission's."""
    source = models.CharField(max_length=8, choices=LabelSource.choices)
    methods = models.JSONField(default=list)
    """In pipeline order; the last is the primary one. Empty: none found."""
    confidence = models.CharField(max_length=8, blank=True)
    findings = models.JSONField(default=list)
    """`{method, file, line, why, doubts}`: what the rules saw, and where."""
    notes = models.JSONField(default=list)
    files_read = models.PositiveIntegerField(default=0)
    files_seen = models.PositiveIntegerField(default=0)
    trains_unknown = models.BooleanField(default=False)
    commands = models.PositiveIntegerField(default=0)
    """Of the transcript, that the rules were given."""
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    author_name = models.CharField(max_length=150, blank=True)
    reason = models.TextField(blank=True)
    """A person's."""
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("run", "number", "id")
        indexes = (models.Index(fields=("run", "number", "source"), name="label_of"),)
        permissions = (("label_run", "Can correct labels of runs"),)

    def __str__(self) -> str:
        return f"{self.run_id}#{self.number} {self.primary}"

    @property
    def words(self) -> tuple[Method, ...]:
        return tuple(Method(method) for method in self.methods)

    @property
    def primary(self) -> Method:
        return self.words[-1] if self.methods else Method.NONE
