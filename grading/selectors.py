"""Composed reads about scores: one place decides what is best, what improved, and how a submission is told."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F

from benchmark.models import Run
from grading.models import Baseline, Evaluation, Submission, TaskStanding

UNTOLD = ("verdict__detail", "verdict__versions", "verdict__sampling")
"""Of a submission: large, and no part of a listing. Read one by one where somebody asks."""


@dataclass(frozen=True)
class Standing:
    """Where a run stands. Scores 0..100, None: nothing scored yet."""

    baseline: float | None
    best: float | None
    best_number: int | None
    total: int

    @property
    def improvement(self) -> float | None:
        return None if self.best is None or self.baseline is None else self.best - self.baseline


def baseline_score(run_id: int) -> float | None:
    """The base model's score, or None: not graded yet, or it could not be."""
    return TaskStanding.objects.filter(run_id=run_id, task=F("run__task")).values_list("baseline", flat=True).first()


def standing(run: Run, task: str = "") -> Standing:
    """On one of the run's tasks; the default is its first."""
    row = TaskStanding.objects.filter(run=run, task=task or run.task).first()
    return Standing(
        baseline=row.baseline if row else None,
        best=row.best if row else None,
        best_number=row.best_number if row else None,
        total=run.submission_count,
    )


@dataclass(frozen=True)
class OnTask:
    """A run on one of its tasks: what one curve shows."""

    task: str
    submissions: Sequence[Submission]
    """In order, verdicts (without what is `UNTOLD`) and evaluations read with them."""
    baseline: Evaluation | None
    standing: TaskStanding | None

    @property
    def score_of_baseline(self) -> float | None:
        """As it was graded here, else as it is stated."""
        verdict = self.baseline.verdict if self.baseline else None
        return verdict.score if verdict else (self.standing.baseline if self.standing else None)


def run_on_task(run: Run, task: str = "") -> OnTask:
    """The run's rows for `task` (default: its first; for a task that is not its own there are none). Three queries."""
    task = task or run.task
    named = [task, ""] if task == run.task else [task]
    rows = Submission.objects.filter(run=run, task__in=named).select_related("verdict", "evaluation").defer(*UNTOLD)
    baseline = Baseline.objects.select_related("evaluation__verdict").filter(run=run, task__in=named).first()
    standing = TaskStanding.objects.filter(run=run, task=task).first()
    return OnTask(task, list(rows), baseline.evaluation if baseline else None, standing)


def submission_facts(submission: Submission, baseline: float | None) -> dict[str, Any]:
    """One submission as JSON, for the event log, the API and the page."""
    verdict, score = submission.verdict, submission.score
    return {
        "number": submission.number,
        "task": submission.task,
        "state": submission.state,
        "model_path": submission.model_path,
        "received_at": submission.received_at.isoformat(),
        "ended_at": submission.ended_at.isoformat() if submission.ended_at else None,
        "elapsed_s": round(submission.elapsed_s, 3),
        "seconds": submission.seconds,
        "tokens": submission.tokens,
        "score": score,
        "claimed": verdict is not None and verdict.claimed,
        "standard_error": verdict.standard_error if verdict else None,
        "improvement": None if score is None or baseline is None else score - baseline,
        "code": verdict.code if verdict else "",
        "message": verdict.message if verdict else "",
        "fix": verdict.fix if verdict else "",
        "warnings": list(verdict.warnings) + submission.intake.get("warnings", []) if verdict else [],
        "same_as": submission.same_as,
        "digest": submission.digest,
        "evaluation": submission.evaluation_id,
    }
