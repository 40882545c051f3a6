"""Up to eight runs side by side, read in a fixed number of queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import Sum

from benchmark.catalogue import tasks
from benchmark.models import Run
from frontend import formats
from frontend.bad_query import BadQuery
from frontend.board.parameters import budget_words
from frontend.compare_line import Line
from frontend.compare_measures import Measure, measures
from frontend.compare_query import MOST, Asked
from frontend.compare_settings import Setting, settings_of
from frontend.formats import plural
from frontend.run_stories import run_stories
from grading.models import TaskStanding
from traces.models import Trace

NUMBERS = ("no run", "one run", "two runs", "three runs", "four runs", "five runs", "six runs", "seven runs")
Person = AbstractBaseUser | AnonymousUser


@dataclass(frozen=True)
class Comparison:
    """`task` is the one compared; `other_tasks` those that some of the runs have beside it."""

    asked: Asked
    lines: Sequence[Line]
    task: str
    other_tasks: Sequence[str]

    @property
    def title(self) -> str:
        count = NUMBERS[len(self.lines)] if len(self.lines) < len(NUMBERS) else f"{len(self.lines)} runs"
        return f"Compare {count} on {self.task_title}" if self.lines else "Compare runs"

    @property
    def task_title(self) -> str:
        task = tasks().get(self.task)
        return task.title if task else self.task

    @property
    def task_links(self) -> list[tuple[str, str]]:
        return [(name, self.asked.link(task=name)) for name in (self.task, *self.other_tasks)]

    @property
    def left(self) -> int:
        return MOST - len(self.lines)

    @cached_property
    def protocols(self) -> list[str]:
        """Of the runs that are on the task."""
        return list(dict.fromkeys(line.story.standing.protocol or "none" for line in self.lines if self.on_task(line)))

    def on_task(self, line: Line) -> bool:
        """Whether the compared task is one of the run's."""
        return self.task in line.run.tasks

    @cached_property
    def base_models(self) -> list[str]:
        return list(dict.fromkeys(line.run.base_model for line in self.lines))

    @property
    def comparable(self) -> bool:
        """Whether scores may be ranked against each other: same protocol, same base model, of those on the task."""
        bases = {line.run.base_digest or line.run.base_model for line in self.lines if self.on_task(line)}
        return len(self.protocols) == 1 and len(bases) == 1

    @property
    def shared(self) -> list[str]:
        """What all have in common, for the line below the title."""
        told = [("base model", self.base_models), ("protocol", self.protocols)]
        told.append(("mode", list({str(line.run.get_mode_display()) for line in self.lines})))
        told.append(("budget", list({budget_words(line.run.budget_s) for line in self.lines})))
        return [f"{name} {values[0]}" for name, values in told if len(values) == 1]

    @property
    def baseline(self) -> float | None:
        """Where all share one."""
        known = {line.story.standing.baseline for line in self.lines}
        return next(iter(known)) if len(known) == 1 else None

    @cached_property
    def measures(self) -> list[Measure]:
        return measures(self.lines, ranked=self.comparable, baseline=self.baseline)

    @cached_property
    def settings(self) -> list[Setting]:
        return settings_of(self.lines)

    @property
    def settings_shown(self) -> list[Setting]:
        return [each for each in self.settings if self.asked.all_settings or each.differs]

    @property
    def equal_settings(self) -> int:
        return sum(not each.differs for each in self.settings)

    @property
    def settings_link(self) -> str:
        return self.asked.link(all_settings=not self.asked.all_settings)

    @property
    def chips(self) -> list[tuple[Line, str]]:
        return [(line, self.asked.without(line.run.slug)) for line in self.lines]

    @property
    def tokens_known(self) -> bool:
        return any(each.tokens is not None for line in self.lines for each in line.story.attempts)

    @property
    def without_curve(self) -> list[Line]:
        return [line for line in self.lines if not line.story.attempts]

    @property
    def cut(self) -> bool:
        return any(line.story.cut for line in self.lines)

    @property
    def top(self) -> list[Line]:
        """Those with a score, the highest first."""
        scored = [line for line in self.lines if line.story.score is not None]
        return sorted(scored, key=lambda line: -(line.story.score or 0.0))

    @property
    def reading(self) -> str:
        """The best two, and whether noise can tell them apart."""
        if not self.top:
            return "No run has a score"
        first = self.top[0]
        told = f"{_effort(first)} {_reach(first)} {formats.score(first.story.score)}"
        if len(self.top) == 1:
            return f"Only {first.letter} has a score: {formats.score(first.story.score)}" if self.lines[1:] else told
        second = self.top[1]
        return f"{told}, {_effort(second)} {_reach(second)} {formats.score(second.story.score)}{self._apart}"

    @property
    def _apart(self) -> str:
        if not self.comparable:
            return "; they are not ranked against each other"
        if not self.noise:
            return ""
        difference, error = self.noise
        return "; noise cannot tell the two apart" if difference < error else f"; {difference:.2f} points lie between"

    @property
    def noise(self) -> tuple[float, float] | None:
        """The distance of the best two, and the standard error of that distance; None: unknown."""
        if len(self.top) < 2:
            return None
        (a, b), errors = self.top[:2], [line.story.standing.best_error for line in self.top[:2]]
        if errors[0] is None or errors[1] is None:
            return None
        return (a.story.score or 0.0) - (b.story.score or 0.0), float((errors[0] ** 2 + errors[1] ** 2) ** 0.5)

    @property
    def noise_told(self) -> str:
        if not self.noise or not self.comparable:
            return ""
        difference, error = self.noise
        a, b = self.top[:2]
        how = "less than" if difference < error else "more than"
        pair = f"{difference:.2f} against ± {error:.2f} for the pair"
        return f"{a.letter} and {b.letter} differ by {how} decoding noise ({pair})."


def _effort(line: Line) -> str:
    return plural(line.story.total, "submission") if line.story.total else f"{line.letter}’s run"


def _reach(line: Line) -> str:
    return "reaches" if line.story.total == 1 or not line.story.total else "reach"


def comparison(asked: Asked, user: Person) -> Comparison:
    """Six queries at most. Raises: BadQuery: a run that is not there, or not to be seen by `user`."""
    found = {run.slug: run for run in Run.objects.visible_to(user).filter(slug__in=asked.slugs)}
    for slug in asked.slugs:
        if slug not in found:
            raise BadQuery("runs", f"There is no run {slug}.", asked.without(slug))
    runs = [found[slug] for slug in asked.slugs]
    task, others = _task(asked, runs)
    rows = TaskStanding.objects.filter(run__in=runs, task=task).select_related("best_submission__verdict")
    known = {row.run_id: row for row in rows}
    standings = []
    for run in runs:
        standing = known.get(run.pk) or _nowhere(run, task)
        standing.run = run
        standings.append(standing)
    costs = Trace.objects.filter(run__in=runs).values_list("run").annotate(total=Sum("cost")).order_by()
    cost = dict(costs) if runs else {}
    lines = [Line(at, story, _cost(story.run, cost)) for at, story in enumerate(run_stories(standings), 1)]
    return Comparison(asked, lines, task, others)


def _cost(run: Run, stated: Mapping[int, float | None]) -> float | None:
    """As the gateway counted it, else as the transcripts state it."""
    return run.cost_usd if run.cost_usd is not None else stated.get(run.pk)


def _nowhere(run: Run, task: str) -> TaskStanding:
    """Of a run on a task that is not its own: nothing scored."""
    standing = TaskStanding(task=task, protocol=run.protocol if task == run.task else "")
    standing.value = None  # the database fills it; this row is never stored
    return standing


def _task(asked: Asked, runs: Sequence[Run]) -> tuple[str, list[str]]:
    """The task to compare on: the one asked for, else the one that most of the runs have. Raises: BadQuery."""
    counts: dict[str, int] = {}
    for run in runs:
        for task in run.tasks:
            counts[task] = counts.get(task, 0) + 1
    if asked.task and runs and asked.task not in counts:
        raise BadQuery("task", f"None of these runs is on {asked.task}.", asked.link(task=""))
    chosen = asked.task or max(counts, key=lambda task: counts[task], default="")
    return chosen, [task for task in counts if task != chosen]
