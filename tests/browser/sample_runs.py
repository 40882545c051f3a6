"""Sample runs for looking at the pages, made through the models. `python -m tests.browser.sample_runs` fills the
database that AGENT2_DATA_DIR names."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.utils import timezone

from benchmark.models import AgentLog, EventKind, Run, RunState
from benchmark.services.events import event_record
from grading.models import Baseline, Evaluation, EvaluationState, Submission, SubmissionState, Verdict
from grading.services.standings import standing_rebuild
from grading.services.submissions import submission_announce
from traces.models import ResourceSample

VERSIONS = {"python": "3.11.9", "torch": "2.13.0", "transformers": "5.19.0", "template": "sha256:1f0c9a"}


def verdict_make(
    score: float | None, *, code: str = "E_NONFINITE", message: str = "", fix: str = "", **values: Any
) -> Verdict:
    """A score with its standard error on 500 items, or a typed failure."""
    if score is None:
        return Verdict.objects.create(
            protocol="arithmetic/1", code=code, message=message or "It failed.", fix=fix, **values
        )
    error = (score * (100 - score) / 500) ** 0.5
    return Verdict.objects.create(
        protocol="arithmetic/1",
        score=score,
        metrics={"standard_error": error},
        versions=VERSIONS,
        n_expected=500,
        n_scored=500,
        **values,
    )


def run_make(
    *, state: RunState = RunState.RUNNING, elapsed_s: float = 360.0, budget_s: int = 600, **values: Any
) -> Run:
    """A run in `state`, `elapsed_s` after its start."""
    now = timezone.now()
    started = now - timedelta(seconds=elapsed_s) if state not in (RunState.QUEUED, RunState.PREPARING) else None
    ended = now if state in (RunState.FINISHED, RunState.FAILED, RunState.CANCELLED, RunState.TIMED_OUT) else None
    facts = {
        "agent": "example",
        "agent_version": "1",
        "driver": "none",
        "task": "arithmetic",
        "protocol": "arithmetic/1",
        "base_model": "tiny",
        "base_digest": "3f9a1c" * 10,
        "mode": "rl-oriented",
        "sandbox": "bubblewrap",
        "worker": "host-a/4711",
        "heartbeat_at": now,
        "started_at": started,
        "deadline_at": started + timedelta(seconds=budget_s) if started else None,
        "ended_at": ended,
    }
    run = Run.objects.create(state=state, budget_s=budget_s, **(facts | values))
    event_record(run.pk, EventKind.RUN_STATE, state=state)
    run.refresh_from_db()
    return run


def baseline_make(run: Run, score: float | None = 10.2) -> Baseline:
    """The run's baseline; runs of the same base model share it."""
    evaluation, fresh = Evaluation.objects.get_or_create(
        digest=run.base_digest,
        base_digest=run.base_digest,
        protocol=run.protocol,
        engine="transformers/cpu/float32",
        defaults={"task": run.task, "base_model": run.base_model, "state": EvaluationState.DONE},
    )
    if fresh:
        evaluation.verdict = verdict_make(score)
        evaluation.save()
    return Baseline.objects.create(run=run, evaluation=evaluation)


def submission_make(
    run: Run, state: SubmissionState = SubmissionState.GRADED, score: float | None = None, **values: Any
) -> Submission:
    """The run's next submission, its event written."""
    Run.objects.filter(pk=run.pk).update(submission_count=run.submission_count + 1)
    run.refresh_from_db()
    failure = {name: values.pop(name) for name in ("code", "message", "fix", "warnings") if name in values}
    ended = state in (SubmissionState.GRADED, SubmissionState.REJECTED, SubmissionState.ERRORED)
    facts = {
        "number": run.submission_count,
        "model_path": f"output/step_{run.submission_count}",
        "key": uuid4().hex,
        "elapsed_s": run.elapsed_s() or 0.0,
        "verdict": verdict_make(score, **failure) if ended else None,
        "ended_at": timezone.now() if ended else None,
        "received_at": timezone.now() - timedelta(seconds=12),
    }
    submission = Submission.objects.create(run=run, state=state, **(facts | values))
    submission_announce(submission)
    standing_rebuild(run)
    run.refresh_from_db()
    return submission


def busy_run() -> Run:
    """A run under way with a submission in every state."""
    run = run_make()
    baseline_make(run)
    submission_make(run, SubmissionState.REJECTED, elapsed_s=40, code="E_ADAPTER_ONLY",
        message="adapter_config.json is present, full weights are not.",
        fix="Run merge_and_unload(), then save model and tokenizer to a new directory.")  # fmt: skip
    submission_make(run, SubmissionState.ERRORED, elapsed_s=62, code="I_TIMEOUT",
        message="The grader stopped making progress while loading, three times.")  # fmt: skip
    submission_make(run, score=9.8, elapsed_s=80)
    submission_make(run, score=46.6, elapsed_s=130)
    submission_make(run, score=44.0, elapsed_s=170, warnings=[
        {"code": "W_CONFIG", "message": "generation_config.json was ignored.", "fix": "The protocol is greedy."}
    ])  # fmt: skip
    submission_make(run, score=65.2, elapsed_s=250)
    submission_make(run, score=65.2, elapsed_s=290, same_as="#6")
    evaluation = Evaluation.objects.create(
        task=run.task, protocol=run.protocol, engine="transformers/cpu/float32", digest=uuid4().hex, base_model="tiny",
        base_digest=run.base_digest, state=EvaluationState.RUNNING, worker="host-b/12", heartbeat_at=timezone.now(),
        phase="generating", n_done=210, n_expected=500,
    )  # fmt: skip
    submission_make(run, SubmissionState.GRADING, elapsed_s=340, evaluation=evaluation)
    submission_make(run, SubmissionState.QUEUED, elapsed_s=350)
    began = run.started_at or timezone.now()
    ResourceSample.objects.bulk_create(
        ResourceSample(run=run, at=began + timedelta(seconds=10 * n), cpus=n / 9, memory_bytes=n << 27)
        for n in range(1, 20)
    )
    tail = "\x1b[2m10:02:14\x1b[0m step 120 reward 0.61 \x1b[32m+0.04\x1b[0m\n<script>alert(1)</script> is only text\n"
    AgentLog.objects.create(run=run, tail=tail * 12, size=len(tail) * 4000)
    return run


def many() -> None:
    """Enough runs for every page: all states, two base models, two tasks, a limited protocol."""
    busy_run()
    for state in RunState:
        run = run_make(
            state=state, sandbox_note="not isolated: a plain process, allowed for the shipped example agent only"
        )
        baseline_make(run)
        if state == RunState.FAILED:
            Run.objects.filter(pk=run.pk).update(
                fault_code="agent_failed",
                fault_detail="The agent ended with code 1 and submitted nothing.",
                exit_code=1,
            )
    opus, codex = ("claude-code", "claude-opus-4.6"), ("codex", "gpt-5.4")
    shown = ((*opus, 88.4), (*opus, 71.0), (*codex, 88.4), ("opencode", "gpt-5.4", 10.9),
             ("openhands", "gpt-5.4", 4.1), ("openhands", "gpt-5.2", None))  # fmt: skip
    for agent, driver, score in shown:
        run = run_make(state=RunState.FINISHED, agent=agent, driver=driver, mode="free", budget_s=43200, elapsed_s=4e4)
        baseline_make(run)
        submission_make(run, SubmissionState.GRADED if score else SubmissionState.REJECTED, score)
        if agent != "opencode":
            other = run_make(state=RunState.FINISHED, agent=agent, driver=driver, mode="free", task="gsm8k",
                             protocol="gsm8k/1", base_digest="77" * 32, base_model="Qwen/Qwen3-8B-Base")  # fmt: skip
            baseline_make(other, 83.02)
            submission_make(other, score=80.0 + (score or 40) / 10)
    limited = run_make(state=RunState.FINISHED, protocol="arithmetic/1;limit=20", mode="free")
    baseline_make(limited)
    submission_make(limited, score=75.0)


if __name__ == "__main__":
    import django

    django.setup()
    many()
