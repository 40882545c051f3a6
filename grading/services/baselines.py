"""Baselines: evaluations like any other, one per base model, protocol and engine; a run has one for each task."""

from pathlib import Path

from django.db import transaction

from benchmark.models import EventKind, Run
from benchmark.services.events import event_record
from benchmark.services.protocols import engine_in_force
from benchmark.services.queueing import job_send_on_commit
from grading.models import Baseline, Evaluation, EvaluationState
from grading.services.places import digest_of_base, facts_of_base
from grading.services.standings import protocol_of, standing_baseline


def baseline_request(run_id: int, base_folder: Path) -> None:
    """Attach the run to its baselines' evaluations, and queue those whose verdict is not stored."""
    digest = digest_of_base(facts_of_base(base_folder))
    with transaction.atomic():
        run = Run.objects.get(pk=run_id)
        Run.objects.filter(pk=run_id).update(base_digest=digest)
        for task in run.tasks:
            _request(run, task, digest)


def _request(run: Run, task: str, digest: str) -> None:
    evaluation, _ = Evaluation.objects.get_or_create(
        digest=digest,
        base_digest=digest,
        protocol=protocol_of(run, task),
        engine=engine_in_force(),
        repeat=0,
        defaults={"task": task, "base_model": run.base_model},
    )
    Evaluation.objects.move(
        evaluation.pk, before=EvaluationState.FAULTED, after=EvaluationState.QUEUED, attempts=0, fault={}
    )
    Baseline.objects.update_or_create(run=run, task=run.task_named(task), defaults={"evaluation": evaluation})
    if evaluation.state == EvaluationState.DONE:
        baseline_announce(run.pk, evaluation)
    else:
        job_send_on_commit("grading.jobs.evaluation_execute")


def baseline_evaluation(run_id: int, task: str = "") -> Evaluation | None:
    """`task`: which of a multi run's; empty in a run with one."""
    row = Baseline.objects.select_related("evaluation").filter(run_id=run_id, task=task).first()
    return row.evaluation if row else None


def baselines_ready(run_id: int) -> bool:
    """True when every baseline of the run is scored, or cannot be."""
    states = list(Baseline.objects.filter(run_id=run_id).values_list("evaluation__state", flat=True))
    return bool(states) and all(state in (EvaluationState.DONE, EvaluationState.FAULTED) for state in states)


def baseline_announce(run_id: int, evaluation: Evaluation) -> None:
    """Record the baseline's score, or why there is none, as an event of the run."""
    verdict = evaluation.verdict
    standing_baseline(run_id, evaluation.task, verdict)
    event_record(
        run_id,
        EventKind.BASELINE,
        task=evaluation.task,
        score=verdict.score if verdict else None,
        standard_error=verdict.standard_error if verdict else None,
        code=verdict.code if verdict else evaluation.fault.get("code", ""),
        message=verdict.message if verdict else evaluation.fault.get("message", ""),
    )
