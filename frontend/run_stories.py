"""Runs with their submissions, methods and standings, in few queries: what comparisons and analyses are made of."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from benchmark.models import Run
from grading.models import Submission, SubmissionState, TaskStanding
from traces.methods.routes import RouteLabel
from traces.methods.switches import MethodSwitch, Submitted, method_switches
from traces.methods.words import Method
from traces.services.labels import LabelInForce, labels_in_force_of, route_of

SUBMISSIONS_MOST = 40_000
"""Over all runs that are read at once; what lies beyond is left out and `RunStory.cut` says so."""
Row = tuple[int, float, int | None, str, float | None]
"""A submission's number, elapsed seconds, tokens, state and score."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One submission. `best` is the running maximum including it; None: nothing scored yet."""

    number: int
    elapsed_s: float
    tokens: int | None
    state: str
    score: float | None
    best: float | None
    new_best: bool
    methods: tuple[Method, ...]

    @property
    def primary(self) -> Method:
        return self.methods[-1] if self.methods else Method.NONE


@dataclass(frozen=True)
class RunStory:
    """One run on one of its tasks. `attempts` are in the order of their numbers."""

    run: Run
    standing: TaskStanding
    attempts: Sequence[Attempt]
    labels: Mapping[int, LabelInForce]
    cut: bool = False
    """Whether submissions are missing, because too many were asked for."""

    @property
    def score(self) -> float | None:
        """The score that counts."""
        value: float | None = self.standing.value
        return value

    @property
    def total(self) -> int:
        """Submissions, scored or not."""
        return max(self.standing.submissions, len(self.attempts))

    @property
    def scored(self) -> list[Attempt]:
        return [each for each in self.attempts if each.score is not None]

    @property
    def new_bests(self) -> list[Attempt]:
        return [each for each in self.attempts if each.new_best]

    @property
    def first_above(self) -> Attempt | None:
        """The first that scored more than the base model."""
        base = self.standing.baseline
        return next((each for each in self.scored if base is not None and (each.score or 0.0) > base), None)

    @property
    def submitted(self) -> list[Submitted]:
        return [Submitted(each.number, each.methods, each.score) for each in self.attempts]

    @cached_property
    def switches(self) -> tuple[MethodSwitch, ...]:
        return method_switches(self.submitted)

    @cached_property
    def route(self) -> RouteLabel | None:
        return route_of(self.labels)


def run_stories(standings: Sequence[TaskStanding], *, methods: bool = True) -> list[RunStory]:
    """In the order of `standings`, whose runs are read with them. Two queries, one without `methods`."""
    ids = {standing.run_id for standing in standings}
    labels = labels_in_force_of(ids) if methods and ids else {}
    rows: dict[tuple[int, str], list[Row]] = defaultdict(list)
    read = 0
    for run_id, task, number, elapsed, tokens, state, score in _submissions(ids):
        rows[run_id, task].append((number, elapsed, tokens, state, score))
        read += 1
    cut = read >= SUBMISSIONS_MOST
    return [
        RunStory(
            run=standing.run,
            standing=standing,
            attempts=list(_attempts(_of(rows, standing), labels.get(standing.run_id, {}))),
            labels=labels.get(standing.run_id, {}),
            cut=cut and len(_of(rows, standing)) < standing.submissions,
        )
        for standing in standings
    ]


def _of(rows: Mapping[tuple[int, str], list[Row]], standing: TaskStanding) -> list[Row]:
    """A run's submissions for the standing's task; without a task named they are for its first."""
    own = rows.get((standing.run_id, standing.task), [])
    unnamed = rows.get((standing.run_id, ""), []) if standing.task == standing.run.task else []
    return sorted([*unnamed, *own]) if own and unnamed else own or unnamed


def _submissions(ids: set[int]) -> Iterator[tuple[int, str, int, float, int | None, str, float | None]]:
    if not ids:
        return iter(())
    fields = ("run_id", "task", "number", "elapsed_s", "tokens", "state", "verdict__score")
    rows = Submission.objects.filter(run__in=ids).order_by("run", "number").values_list(*fields)
    return iter(rows[:SUBMISSIONS_MOST])


def _attempts(rows: Sequence[Row], labels: Mapping[int, LabelInForce]) -> Iterator[Attempt]:
    best: float | None = None
    for number, elapsed, tokens, state, given in rows:
        score = given if state == SubmissionState.GRADED and given is not None and math.isfinite(given) else None
        new = score is not None and (best is None or score > best)
        best = score if new else best
        label = labels.get(number)
        yield Attempt(number, elapsed, tokens, state, score, best, new, label.words if label else ())
