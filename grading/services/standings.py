"""Keeping where runs stand in step with their submissions and baselines."""

from typing import Any

from benchmark.catalogue import task_get
from benchmark.models import Run
from benchmark.services.protocols import protocol_in_force
from grading.models import Baseline, Ended, Submission, SubmissionState, TaskStanding, Verdict


def standing_open(run: Run) -> None:
    """The rows of a new run, nothing scored yet."""
    rows = [TaskStanding(run=run, task=task, protocol=protocol_of(run, task)) for task in run.tasks]
    TaskStanding.objects.bulk_create(rows, ignore_conflicts=True)


def standing_take(submission: Submission, verdict: Verdict) -> float | None:
    """Count an ended submission in, in the caller's transaction; the baseline of its task, where it is known."""
    run = submission.run
    task = submission.task or run.task
    scored = submission.state == SubmissionState.GRADED
    ended = Ended(
        run_id=run.pk,
        task=task,
        submission_id=submission.pk,
        number=submission.number,
        received_at=submission.received_at,
        elapsed_s=submission.elapsed_s,
        score=verdict.score if scored else None,
        standard_error=verdict.standard_error if scored else None,
    )
    known, baseline = TaskStanding.objects.take(ended)
    return baseline if known else standing_rebuild(run, task).baseline


def standing_baseline(run_id: int, task: str, verdict: Verdict | None) -> None:
    """Note a baseline that was graded, or could not be."""
    if not TaskStanding.objects.filter(run_id=run_id, task=task).update(**_baseline(verdict)):
        standing_rebuild(Run.objects.get(pk=run_id), task)


def _baseline(verdict: Verdict | None) -> dict[str, float | None]:
    score, error = (verdict.score, verdict.standard_error) if verdict else (None, None)
    return {"baseline": score, "baseline_error": error if score is not None else None}


def standing_rebuild(run: Run, task: str = "") -> TaskStanding:
    """Make a run's row for one of its tasks (default: its first) from its submissions and baseline.

    A run made elsewhere has no Baseline: what its row says of one is a claim, or was graded here since, and stays.
    """
    task = task or run.task
    ended = Submission.objects.filter(run=run, task__in=[task, ""] if task == run.task else [task]).ended()
    best = ended.scored().select_related("verdict").order_by("-verdict__score", "number").first()
    known = Baseline.objects.select_related("evaluation__verdict").filter(run=run, task=run.task_named(task))
    values: dict[str, Any] = {
        "protocol": protocol_of(run, task),
        "submissions": ended.count(),
        "scored": ended.scored().count(),
        "best": best.score if best else None,
        "best_error": best.verdict.standard_error if best and best.verdict else None,
        "best_number": best.number if best else None,
        "best_at": best.received_at if best else None,
        "best_elapsed_s": best.elapsed_s if best else None,
        "best_submission": best,
    }
    if baseline := known.first():
        values |= _baseline(baseline.evaluation.verdict)
    row, _ = TaskStanding.objects.update_or_create(run=run, task=task, defaults=values)
    return row


def protocol_of(run: Run, task: str = "") -> str:
    """The protocol of one of the run's tasks (default: its first), as it was when the run was created."""
    if task in ("", run.task):
        return run.protocol
    stored = TaskStanding.objects.filter(run=run, task=task).values_list("protocol", flat=True).first()
    return stored or protocol_in_force(task_get(task))
