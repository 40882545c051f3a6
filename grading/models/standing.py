"""Where a run stands on a task: what boards, lists and analyses read instead of adding up submissions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connections, models
from django.db.models import Case, When

from benchmark.models import Run


@dataclass(frozen=True)
class Ended:
    """What a submission's end means for its run's standing. `score` 0..100, None: not scored."""

    run_id: int
    task: str
    submission_id: int
    number: int
    received_at: datetime
    elapsed_s: float
    score: float | None
    standard_error: float | None


class TaskStandingQuerySet(models.QuerySet["TaskStanding"]):
    def take(self, ended: Ended) -> tuple[bool, float | None]:
        """Count one ended submission in; whether there is such a row, and its baseline. One statement.

        Of equal scores the first submission's counts, whichever was graded first.
        """
        better = "(%s > COALESCE(best, -1) OR (%s = best AND %s < best_number))"
        new = {
            "best": ended.score,
            "best_error": ended.standard_error,
            "best_number": ended.number,
            "best_at": connections[self.db].ops.adapt_datetimefield_value(ended.received_at),
            "best_elapsed_s": ended.elapsed_s,
            "best_submission_id": ended.submission_id,
        }
        table = self.model._meta.db_table
        sets: list[str] = ["submissions = submissions + 1"]
        values: list[Any] = []
        if ended.score is not None:
            sets.append("scored = scored + 1")
            for column, value in new.items():
                sets.append(f"{column} = CASE WHEN {better} THEN %s ELSE {column} END")
                values += [ended.score, ended.score, ended.number, value]
        sql = f"UPDATE {table} SET {', '.join(sets)} WHERE run_id = %s AND task = %s RETURNING baseline"  # noqa: S608
        with connections[self.db].cursor() as cursor:
            cursor.execute(sql, [*values, ended.run_id, ended.task])
            row = cursor.fetchone()
        return row is not None, row[0] if row else None


class TaskStanding(models.Model):
    """One run on one of its tasks. Scores 0..100, None: not scored. Derived: `standing_rebuild` makes it anew."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="standings")
    task = models.CharField(max_length=64)
    protocol = models.CharField(max_length=128)
    baseline = models.FloatField(null=True)
    baseline_error = models.FloatField(null=True)
    """Standard errors are of the score, in points."""
    best = models.FloatField(null=True)
    best_error = models.FloatField(null=True)
    best_number = models.PositiveIntegerField(null=True)
    best_at = models.DateTimeField(null=True)
    """When the best submission arrived; of equal ones the first."""
    best_elapsed_s = models.FloatField(null=True)
    best_submission = models.ForeignKey("grading.Submission", null=True, on_delete=models.SET_NULL, related_name="+")
    submissions = models.PositiveIntegerField(default=0)
    """That have ended."""
    scored = models.PositiveIntegerField(default=0)
    flag_reason = models.TextField(blank=True)
    """Why `final` counts instead of `best`."""
    final = models.FloatField(null=True)

    value = models.GeneratedField(
        expression=Case(When(flag_reason="", then="best"), default="final"),
        output_field=models.FloatField(null=True),
        db_persist=True,
    )
    """The score that counts: the best, or what a moderator made of it."""

    objects = TaskStandingQuerySet.as_manager()

    class Meta:
        ordering = ("run", "task")
        constraints = (models.UniqueConstraint(fields=("run", "task"), name="standing_once"),)
        # And three with what is unscored at the end, which PostgreSQL alone can have: migration 0004.
        indexes = (
            models.Index(fields=("task", "value")),
            models.Index(fields=("protocol", "value")),
            models.Index(fields=("value", "run")),
        )

    def __str__(self) -> str:
        return f"{self.run_id} {self.task} {self.best}"

    @property
    def improvement(self) -> float | None:
        return None if self.value is None or self.baseline is None else self.value - self.baseline
