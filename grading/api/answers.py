"""What the grading API answers: the reference's fields, and ours beside them."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from benchmark.models import Run
from grading.models import Submission, SubmissionState, TaskStanding
from grading.selectors import standing, submission_facts
from grading.services.standings import protocol_of

STATUS = {SubmissionState.GRADED: 200, SubmissionState.REJECTED: 422, SubmissionState.ERRORED: 503}


def submission_status(submission: Submission) -> int:
    """200 graded, 422 rejected, 503 a fault of ours, 202 not ended."""
    return STATUS.get(SubmissionState(submission.state), 202)


def run_standings(run_id: int) -> dict[str, TaskStanding]:
    """Where a run stands, by task."""
    rows = TaskStanding.objects.filter(run=run_id).select_related("best_submission")
    return {row.task: row for row in rows}


def submission_answer(submission: Submission, url: str, standings: Mapping[str, TaskStanding]) -> dict[str, Any]:
    """The reference's answer to `/submit`, with state, code, fix and the status URL added."""
    row = standings.get(submission.task or submission.run.task)
    baseline = row.baseline if row else None
    facts = submission_facts(submission, baseline)
    answer: dict[str, Any] = {
        "submission_id": submission.number,
        "timestamp": facts["received_at"],
        "model_path": submission.model_path,
        "state": submission.state,
        "score": facts["score"],
        "standard_error": facts["standard_error"],
        "baseline_score": baseline,
        "improvement": facts["improvement"],
        "elapsed_seconds": facts["seconds"],
        "best": _best(row) if row else None,
        "total_submissions": submission.run.submission_count,
        "warnings": facts["warnings"],
        "same_as": facts["same_as"],
        "status_url": f"{url}/submissions/{submission.number}",
    }
    if submission.ended and facts["score"] is None and submission.verdict is not None:
        answer |= {"error": facts["message"], "code": facts["code"], "fix": facts["fix"]}
        answer["detail"] = submission.verdict.detail
        answer["findings"] = submission.intake.get("findings", [])
    return answer


def _best(row: TaskStanding) -> dict[str, Any] | None:
    best = row.best_submission
    if best is None or row.best is None:
        return None
    return {
        "submission_id": best.number,
        "timestamp": best.received_at.isoformat(),
        "model_path": best.model_path,
        "score": row.best,
        "improvement": None if row.baseline is None else row.best - row.baseline,
    }


def time_answer(run: Run) -> dict[str, Any]:
    """The reference's `/time`, epoch seconds."""
    last = run.submissions.order_by("-number").values_list("received_at", flat=True).first()
    now = timezone.now()
    left = (run.deadline_at - now).total_seconds() if run.deadline_at else None
    return {
        "start_time": run.started_at.timestamp() if run.started_at else None,
        "timeout_s": run.budget_s,
        "last_submit_time": last.timestamp() if last else None,
        "end_time": run.ended_at.timestamp() if run.ended_at else None,
        "now": now.timestamp(),
        "remaining": max(0.0, left) if left is not None else None,
    }


def health_answer(run: Run, task: str = "") -> dict[str, Any]:
    """The reference's `/health`, and where the run stands."""
    where = standing(run, task)
    return {
        "status": "ok",
        "task": task or run.task,
        "tasks": run.tasks,
        "workspace": "/workspace" if run.sandbox != "process" else None,
        "available_gpus": [],
        "protocol": protocol_of(run, task),
        "state": run.state,
        "baseline_score": where.baseline,
        "best_score": where.best,
        "total_submissions": where.total,
    }
