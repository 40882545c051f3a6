"""Rows for database tests."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from benchmark.models import Run, RunState, secret_hash
from benchmark.services.protocols import engine_in_force
from grading.models import Baseline, Evaluation, EvaluationState, Submission, SubmissionState, Verdict
from grading.services.standings import standing_open, standing_rebuild

SECRET = "run-secret"


def run_row(**values: Any) -> Run:
    """A running run with an hour of budget, and where it stands."""
    now = timezone.now()
    facts: dict[str, Any] = {
        "agent": "example",
        "task": "arithmetic",
        "protocol": "arithmetic/1",
        "base_model": "tiny",
        "base_digest": "b" * 64,
        "budget_s": 3600,
        "state": RunState.RUNNING,
        "token_hash": secret_hash(SECRET),
        "started_at": now,
        "deadline_at": now + timedelta(hours=1),
        "heartbeat_at": now,
        "lease": "lease",
        "sandbox": "bubblewrap",
    }
    run = Run.objects.create(**facts | values)
    standing_open(run)
    return run


def evaluation_row(run: Run, digest: str, **values: Any) -> Evaluation:
    facts: dict[str, Any] = {
        "task": run.task,
        "protocol": run.protocol,
        "engine": engine_in_force(),
        "digest": digest,
        "base_model": run.base_model,
        "base_digest": run.base_digest,
    }
    return Evaluation.objects.create(**facts | values)


def baseline_row(run: Run, score: float = 10.0) -> Evaluation:
    evaluation = evaluation_row(run, run.base_digest, state=EvaluationState.DONE, verdict=verdict_row(run, score))
    Baseline.objects.create(run=run, evaluation=evaluation)
    standing_rebuild(run)
    return evaluation


def verdict_row(run: Run, score: float | None, **values: Any) -> Verdict:
    code = {} if score is not None else {"code": "E_TEST", "message": "refused", "fix": "mend it"}
    return Verdict.objects.create(**{"protocol": run.protocol, "score": score, **code, **values})


def submission_row(run: Run, **values: Any) -> Submission:
    run.submission_count += 1
    run.save(update_fields=["submission_count"])
    facts: dict[str, Any] = {
        "number": run.submission_count,
        "model_path": f"output/v{run.submission_count}",
        "key": f"key-{run.submission_count}",
        "elapsed_s": 60.0 * run.submission_count,
    }
    submission = Submission.objects.create(run=run, **facts | values)
    standing_rebuild(run)
    return submission


def graded_row(run: Run, score: float, **values: Any) -> Submission:
    return submission_row(
        run, state=SubmissionState.GRADED, verdict=verdict_row(run, score), ended_at=timezone.now(), **values
    )
