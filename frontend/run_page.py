"""Everything the page of one run shows, read in a fixed number of queries."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from urllib.parse import quote

from benchmark.models import AgentLog, Mode, Origin, Run, RunEvent, RunState
from benchmark.services.protocols import protocol_is_ranked
from frontend import ansi
from frontend.best_so_far import Point, points
from frontend.figures.curve import AXES
from frontend.figures.curve_methods import MethodMarks
from frontend.run_faults import advice
from frontend.run_machine import Machine, machine
from frontend.run_methods import MethodCell, method_cells, method_class
from frontend.run_metrics import MetricRow, metric_groups
from frontend.run_reading import score_reading, switch_reading
from frontend.run_titles import run_title, tasks_of
from grading.models import Evaluation, EvaluationState, SubmissionState, TaskStanding, Verdict
from grading.selectors import run_on_task
from grading.services.records import RunAccount, run_account
from traces.methods.switches import MethodSwitch
from traces.methods.words import Method

WAITING = (SubmissionState.RECEIVED, SubmissionState.QUEUED, SubmissionState.GRADING)
LATEST = 50
"""Submissions that the overview lists; the others have a tab."""
COUNTED = (
    ("scored", (SubmissionState.GRADED,)),
    ("rejected", (SubmissionState.REJECTED,)),
    ("errored", (SubmissionState.ERRORED,)),
    ("waiting", WAITING),
)
MODES = {
    Mode.FREE: "Free: any method",
    Mode.SFT_ONLY: "SFT-only: supervised fine-tuning",
    Mode.RL_ORIENTED: "RL-oriented: told to use reinforcement learning",
    Mode.MULTI: "Multi: several tasks, one budget",
}


@dataclass(frozen=True)
class RunPage:
    """One run as its page tells it. `seq` is the last event that is surely part of it."""

    run: Run
    seq: int
    points: Sequence[Point]
    evaluation: Evaluation | None
    """The baseline's."""
    log: AgentLog | None
    last_event_at: datetime | None
    account: RunAccount
    standing: TaskStanding | None = None
    """On `task`."""
    task: str = ""
    """Which of the run's tasks is shown."""

    @property
    def title(self) -> str:
        return run_title(self.run)

    @property
    def tasks(self) -> list[tuple[str, str]]:
        """The run's tasks, each with its title."""
        return tasks_of(self.run)

    @property
    def task_title(self) -> str:
        """Of the shown task."""
        return dict(self.tasks).get(self.task, self.task)

    @property
    def task_query(self) -> str:
        """What a link with a query adds to stay with the shown task of several; empty for a run with one."""
        return f"&task={quote(self.task, safe='')}" if self.run.task_list else ""

    @property
    def of_task(self) -> str:
        """The same as the whole query."""
        return f"?{self.task_query[1:]}" if self.run.task_list else ""

    @property
    def protocol(self) -> str:
        """Of the shown task."""
        return (self.standing.protocol if self.standing else "") or self.run.protocol

    @property
    def mode(self) -> str:
        return MODES[Mode(self.run.mode)]

    @property
    def ranked(self) -> bool:
        return protocol_is_ranked(self.protocol)

    @property
    def elsewhere(self) -> bool:
        """Whether its scores were not all reached here."""
        return self.run.origin != Origin.LOCAL

    @property
    def flagged(self) -> bool:
        return self.standing is not None and bool(self.standing.flag_reason)

    @property
    def newest_first(self) -> list[Point]:
        return list(reversed(self.points))

    @property
    def baseline_verdict(self) -> Verdict | None:
        return self.evaluation.verdict if self.evaluation else None

    @property
    def baseline(self) -> float | None:
        if self.elsewhere:
            return self.standing.baseline if self.standing else None
        return self.baseline_verdict.score if self.baseline_verdict else None

    @property
    def baseline_reason(self) -> str:
        """Why there is no baseline, empty when there is one."""
        if self.baseline is not None:
            return ""
        if self.evaluation is None:
            return "not stated" if self.elsewhere else "not asked for yet"
        if self.baseline_verdict:
            return f"{self.baseline_verdict.code}: {self.baseline_verdict.message}"
        if self.evaluation.state == EvaluationState.FAULTED:
            return f"{self.evaluation.fault.get('code', 'fault')}: {self.evaluation.fault.get('message', '')}"
        return "being graded" if self.evaluation.state == EvaluationState.RUNNING else "waits for a grading worker"

    @cached_property
    def best(self) -> Point | None:
        return next((point for point in reversed(self.points) if point.new_best), None)

    @property
    def improvement(self) -> float | None:
        return self.gain(self.score)

    @property
    def first_above(self) -> Point | None:
        """The first submission that scored more than the base model."""
        return next((point for point in self.points if (self.gain(point.score) or 0.0) > 0), None)

    def gain(self, score: float | None) -> float | None:
        return None if score is None or self.baseline is None else score - self.baseline

    @property
    def grading_number(self) -> int | None:
        """The submission in grading; the queued ones of this run wait for it."""
        states = ((p.submission.state, p.submission.number) for p in self.points)
        return next((number for state, number in states if state == SubmissionState.GRADING), None)

    @property
    def counts(self) -> list[str]:
        """`8 scored`, `2 rejected`, …: what the submissions came to."""
        states = Counter(point.submission.state for point in self.points)
        totals = ((sum(states[state] for state in group), name) for name, group in COUNTED)
        return [f"{total} {name}" for total, name in totals if total]

    @property
    def reading(self) -> str:
        """What the curve shows, in one sentence."""
        return score_reading(self)

    @property
    def switch_reading(self) -> str:
        return switch_reading(self.switches)

    @cached_property
    def switches(self) -> tuple[MethodSwitch, ...]:
        return self.account.record.switches

    @property
    def score(self) -> float | None:
        """The best submission's; of a run made elsewhere without submissions what it states."""
        return self.best.score if self.best else (self.standing.value if self.standing and self.elsewhere else None)

    @property
    def new_bests(self) -> list[tuple[Point, float | None]]:
        """With how much each rose above the one before; None for the first."""
        found = [point for point in self.points if point.new_best]
        before = [None, *(point.score for point in found)]
        rises = [None if b is None or p.score is None else p.score - b for p, b in zip(found, before, strict=False)]
        return list(zip(found, rises, strict=True))

    @property
    def methods_used(self) -> list[tuple[str, str]]:
        """Names with their CSS class, in the order of `Method`."""
        used = {method for label in self.account.labels.values() for method in label.words}
        return [(method.value, method_class(method)) for method in Method if method in used]

    @property
    def latest(self) -> list[Point]:
        """The newest few, for the overview."""
        return self.newest_first[:LATEST]

    @property
    def evaluated(self) -> Verdict | None:
        """The verdict that the page tells about: the best submission's, else the baseline's."""
        return self.best.submission.verdict if self.best else self.baseline_verdict

    @property
    def samples(self) -> int:
        return self.evaluated.n_expected if self.evaluated else 0

    @cached_property
    def methods(self) -> dict[int, MethodCell]:
        """By submission."""
        return method_cells(self.account)

    @property
    def method_marks(self) -> MethodMarks:
        """For the band above the curve."""
        known = {number: label.primary for number, label in self.account.labels.items()}
        return MethodMarks(known, self.switches)

    @property
    def metric_groups(self) -> list[tuple[str, list[MetricRow]]]:
        return metric_groups(self.account.metrics)

    @cached_property
    def machine(self) -> Machine:
        return machine(self.run)

    @property
    def advice(self) -> str:
        return advice(self.run.fault_code)

    @property
    def used_s(self) -> float | None:
        used = self.run.elapsed_s()
        return None if used is None else min(used, float(self.run.budget_s))

    @property
    def left_s(self) -> float:
        return self.run.budget_s - (self.used_s or 0.0)

    @property
    def ticking(self) -> bool:
        return self.run.state == RunState.RUNNING and self.run.deadline_at is not None

    @property
    def cancelling(self) -> bool:
        return self.run.cancel_requested_at is not None and not self.run.terminal

    @property
    def tokens_reason(self) -> str:
        """Why the curve cannot be drawn over tokens, empty when it can."""
        known = any(point.submission.tokens is not None for point in self.points)
        return "" if known else "no token counts are known for this run"

    @property
    def axes(self) -> list[tuple[str, str]]:
        """The curve's horizontal axes, each with the reason why it is not available."""
        return [(name, self.tokens_reason if name == "tokens" else "") for name in AXES]

    @property
    def log_spans(self) -> list[ansi.Span]:
        return ansi.spans(self.log.tail) if self.log else []

    @property
    def log_cut(self) -> bool:
        return self.log is not None and self.log.size > len(self.log.tail)


def run_page(run: Run, task: str = "") -> RunPage:
    """Read a run's page, of a multi run on `task` (default: its first).

    `run` itself is read first: what is newer only adds.
    """
    seq = run.event_seq
    shown = run_on_task(run, task)
    return RunPage(
        run=run,
        seq=seq,
        points=points(list(shown.submissions)),
        evaluation=shown.baseline,
        log=AgentLog.objects.filter(run=run).first(),
        last_event_at=RunEvent.objects.filter(run=run, seq=seq).values_list("at", flat=True).first(),
        account=run_account(run, shown=shown),
        standing=shown.standing,
        task=shown.task,
    )
