"""One checkpoint offered for grading, numbered from 1 within its run."""

from typing import Any, Self

from django.db import models
from django.utils import timezone

from benchmark.models import Run
from grading.models.evaluation import Evaluation
from grading.models.verdict import Verdict


class SubmissionState(models.TextChoices):
    """received → queued → grading → graded | rejected | errored; errored may return to queued."""

    RECEIVED = "received"
    QUEUED = "queued"
    GRADING = "grading"
    GRADED = "graded"
    REJECTED = "rejected"
    ERRORED = "errored"


ENDED = (SubmissionState.GRADED, SubmissionState.REJECTED, SubmissionState.ERRORED)


class SubmissionQuerySet(models.QuerySet["Submission"]):
    def pending(self) -> Self:
        return self.exclude(state__in=ENDED)

    def ended(self) -> Self:
        return self.filter(state__in=ENDED)

    def scored(self) -> Self:
        return self.filter(state=SubmissionState.GRADED, verdict__score__isnull=False)

    def move(self, pk: int, *, before: SubmissionState, after: SubmissionState, **values: Any) -> bool:
        """Move one submission if it is still in `before`."""
        return self.filter(pk=pk, state=before).update(state=after, **values) == 1


class Submission(models.Model):
    """One submission. `elapsed_s` is the share of the run's budget used when it arrived, in seconds."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="submissions")
    task = models.CharField(max_length=64, blank=True)
    """Which of its run's tasks it is for; empty: the run has only one."""
    number = models.PositiveIntegerField()
    model_path = models.CharField(max_length=1024)
    key = models.CharField(max_length=64)
    """The client's idempotency key: the same POST repeated is the same submission."""
    state = models.CharField(max_length=16, choices=SubmissionState.choices, default=SubmissionState.RECEIVED)
    received_at = models.DateTimeField(default=timezone.now)
    elapsed_s = models.FloatField()
    tokens = models.PositiveBigIntegerField(null=True)
    """The run's tokens when it arrived, where known."""
    lease = models.CharField(max_length=32, blank=True)
    lease_at = models.DateTimeField(null=True)
    digest = models.CharField(max_length=64, blank=True)
    size_bytes = models.PositiveBigIntegerField(null=True)
    intake = models.JSONField(default=dict)
    """The intake report: files, ignored files, findings."""
    same_as = models.CharField(max_length=80, blank=True)
    """Whose stored verdict was returned, such as `#3` or `baseline`; empty when it was graded itself."""
    evaluation = models.ForeignKey(Evaluation, null=True, on_delete=models.PROTECT, related_name="submissions")
    verdict = models.ForeignKey(Verdict, null=True, on_delete=models.PROTECT, related_name="submissions")
    ended_at = models.DateTimeField(null=True)

    objects = SubmissionQuerySet.as_manager()

    class Meta:
        ordering = ("run", "number")
        constraints = (
            models.UniqueConstraint(fields=("run", "number"), name="submission_number_once"),
            models.UniqueConstraint(fields=("run", "key"), name="submission_key_once"),
            models.UniqueConstraint(
                fields=("run",), condition=models.Q(state="grading"), name="submission_one_grading_per_run"
            ),
        )
        indexes = (
            models.Index(
                fields=("state", "run", "number"),
                condition=models.Q(state__in=("received", "queued", "grading")),
                name="submission_waiting",
            ),
        )

    def __str__(self) -> str:
        return f"{self.run_id}#{self.number}"

    def move(self, *, before: SubmissionState, after: SubmissionState, **values: Any) -> bool:
        """Move this row if it is still in `before`, and this object with it; False: somebody was first."""
        if not Submission.objects.move(self.pk, before=before, after=after, **values):
            return False
        self.mirror(state=after, **values)
        return True

    def mirror(self, **values: Any) -> None:
        """Take over what was written to the row by an update, without reading it back."""
        for name, value in values.items():
            setattr(self, name, value)

    @property
    def ended(self) -> bool:
        return self.state in ENDED

    @property
    def score(self) -> float | None:
        return self.verdict.score if self.verdict else None

    @property
    def seconds(self) -> float | None:
        """From arrival to the end."""
        return (self.ended_at - self.received_at).total_seconds() if self.ended_at else None
