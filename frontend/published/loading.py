"""The paper's scores as runs of origin `published`. Loading twice changes nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time
from math import sqrt

from django.db import transaction
from django.utils.text import slugify

from benchmark.models import Mode, Origin, Run, RunState, Trust
from frontend.published.facts import ScoreRow
from frontend.published.reader import Scores, designs, scores
from grading.models import TaskStanding

PROTOCOL = "paper"
"""The protocol id of every published score: none of them may be ranked beside a score graded here."""


@dataclass(frozen=True)
class PublishedRun:
    """One run behind a printed row: a cell of it, or the whole row of a multi run."""

    slug: str
    row: ScoreRow
    tasks: tuple[str, ...]
    repeats: str
    """The table that prints the same run already; empty for the first."""


@transaction.atomic
def published_load() -> int:
    """Make or mend the rows of every published run; how many there are."""
    data = scores()
    found = list(published_runs(data))
    for published in found:
        _store(published, data)
    Run.objects.filter(origin=Origin.PUBLISHED, source__paper=data.source.title).exclude(
        slug__in=[published.slug for published in found]
    ).delete()
    return len(found)


def published_runs(data: Scores) -> Iterator[PublishedRun]:
    """A run for each cell; a multi row is one run over all tasks."""
    seen: dict[tuple[object, ...], str] = {}
    numbers: dict[str, int] = {}
    for row in data.rows:
        numbers[row.table] = number = numbers.get(row.table, 0) + 1
        parts = [data.tasks] if row.mode == Mode.MULTI else [(task,) for task in data.tasks]
        for tasks in parts:
            facts = (row.base_model, row.agent, row.driver, row.mode, *((task, row.scores[task]) for task in tasks))
            first = seen.setdefault(facts, row.table)
            name = "multi" if len(tasks) > 1 else tasks[0]
            repeats = first if first != row.table else ""
            yield PublishedRun(slugify(f"paper-{row.table}-{number}-{name}"), row, tuple(tasks), repeats)


def standard_error(task: str, score: float) -> float:
    """In points: of a share of the items that the task grades (binomial). The paper prints none."""
    share = score / 100
    return 100 * sqrt(share * (1 - share) / designs()[task].split_items)


def _store(published: PublishedRun, data: Scores) -> None:
    row, moment = published.row, datetime.combine(data.source.date, time(), UTC)
    source = {"paper": data.source.title, "table": row.table}
    run, _ = Run.objects.update_or_create(
        slug=published.slug,
        defaults={
            "agent": slugify(row.agent),
            "driver": row.driver,
            "task": published.tasks[0],
            "task_list": list(published.tasks) if len(published.tasks) > 1 else [],
            "protocol": PROTOCOL,
            "base_model": row.base_model,
            "mode": row.mode,
            "budget_s": data.source.budget_s,
            "origin": Origin.PUBLISHED,
            "trust": Trust.CLAIMED,
            "state": RunState.FINISHED,
            "source": source | ({"repeats": published.repeats} if published.repeats else {}),
            "created_at": moment,
            "ended_at": moment,
        },
    )
    for task in published.tasks:
        score, baseline = row.scores[task], data.baselines[row.base_model][task]
        facts = {
            "protocol": PROTOCOL,
            "best": score,
            "best_error": standard_error(task, score),
            "baseline": baseline,
            "baseline_error": standard_error(task, baseline),
        }
        TaskStanding.objects.update_or_create(run=run, task=task, defaults=facts)
