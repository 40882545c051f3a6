"""A run's submissions, verdicts and labels brought together for its metrics and its report."""

from dataclasses import dataclass
from functools import cached_property

from benchmark.catalogue import tasks
from benchmark.models import Run
from grading.models import Submission, SubmissionState
from grading.selectors import UNTOLD, OnTask, baseline_score, run_on_task
from traces.methods.failures import FailureSuggestion, RunFacts, failure_suggestions
from traces.models import CodeSnapshot, MethodLabel, Recording
from traces.services.labels import labels_in_force, route_of
from traces.services.metrics import RunMetrics, run_metrics
from traces.services.metrics_record import RunRecord, Scored
from traces.services.report import run_report


@dataclass(frozen=True)
class RunAccount:
    """Everything that was recorded of a run, in five queries."""

    run: Run
    recording: Recording | None
    labels: dict[int, MethodLabel]
    snapshots: dict[int, CodeSnapshot]
    record: RunRecord
    events: int
    task: str = ""
    """Whose submissions these are; of all of a run's, its first."""

    @cached_property
    def metrics(self) -> RunMetrics:
        return run_metrics(self.record)

    @cached_property
    def failures(self) -> tuple[FailureSuggestion, ...]:
        """Suggested once the run has ended."""
        return failure_suggestions(self.facts) if self.run.terminal else ()

    @property
    def facts(self) -> RunFacts:
        """What rules that suggest failure types are given."""
        record, task = self.record, tasks().get(self.task or self.run.task)
        return RunFacts(
            scores=tuple(each.score for each in record.submissions),
            error_codes=tuple(each.code or None for each in record.submissions),
            methods=tuple(each.methods for each in record.submissions),
            baseline=record.baseline,
            is_interactive=task is not None and task.level == "L3",
            code_files=record.code_files or 0,
            events=self.events,
            time_used_ratio=record.used_s / record.budget_s if record.used_s and record.budget_s else None,
        )

    def report(self, *, withhold_failures: bool = False) -> str:
        """The run report, Markdown; without failure types for people who are yet to label the run."""
        return run_report(
            self.run,
            self.metrics,
            labels=self.labels,
            snapshots=self.snapshots,
            failures=None if withhold_failures else self.failures,
            recording=self.recording,
        )


def run_account(run: Run, task: str = "", *, shown: OnTask | None = None) -> RunAccount:
    """Read a run's record; of a run with several tasks on `task` alone, where one is named or `shown` is given."""
    if task and run.task_list:
        shown = shown or run_on_task(run, task)
    every = Submission.objects.filter(run=run).select_related("verdict").defer(*UNTOLD)
    submissions = shown.submissions if shown else every
    baseline = shown.score_of_baseline if shown else baseline_score(run.pk)
    recording = Recording.objects.filter(run=run).select_related("trace").first()
    labels = labels_in_force(run)
    snapshots = {each.number: each for each in CodeSnapshot.objects.filter(run=run).defer("left_out")}
    if shown and run.task_list:
        own = {each.number for each in submissions}
        labels = {number: label for number, label in labels.items() if number in own}
        snapshots = {number: each for number, each in snapshots.items() if number in own}
    trace = recording.trace if recording else None
    record = RunRecord(
        budget_s=run.budget_s,
        used_s=run.elapsed_s(),
        baseline=baseline,
        submissions=[_scored(each, labels.get(each.number)) for each in sorted(submissions, key=lambda s: s.number)],
        route=route_of(labels),
        code_files=recording.code_files if recording else None,
        model_versions=recording.model_versions if recording else None,
        labelled=len(labels),
        facts=_runtime(run),
    )
    events = trace.event_count if trace else 0
    return RunAccount(run, recording, labels, snapshots, record, events, shown.task if shown else run.task)


def _scored(submission: Submission, label: MethodLabel | None) -> Scored:
    verdict = submission.verdict
    return Scored(
        number=submission.number,
        elapsed_s=submission.elapsed_s,
        score=submission.score if submission.state == SubmissionState.GRADED else None,
        code=verdict.code if verdict else "",
        model_path=submission.model_path,
        methods=label.words if label else (),
        is_copy=submission.same_as == "baseline" or submission.intake.get("equals_base") is True,
        is_waiting=not submission.ended,
    )


def _runtime(run: Run) -> dict[str, object]:
    names = ("slug", "agent", "agent_version", "driver", "task", "protocol", "base_model", "mode", "budget_s", "state")
    told: dict[str, object] = {name: getattr(run, name) for name in names}
    times = {name: getattr(run, name) for name in ("started_at", "ended_at")}
    return told | {name: moment.isoformat() if moment else None for name, moment in times.items()}
