"""The submissions that the paper prints (tables 19 and 20), as stories of runs that are in no database."""

from collections.abc import Iterator, Sequence

from benchmark.models import Mode, Origin, Run
from frontend.published import behaviour, scores
from frontend.published.facts import Walkthrough
from frontend.run_stories import Attempt, RunStory
from grading.models import SubmissionState, TaskStanding
from traces.methods.words import Method
from traces.models import LabelSource
from traces.services.labels import LabelInForce

BASE_MODEL, AGENT, DRIVER = "Qwen3-8B-Base", "claude-code", "Claude Opus 4.6"
"""Of both tables, by their captions."""


def published_stories() -> list[RunStory]:
    return [_story(each) for each in behaviour().walkthroughs]


def _story(told: Walkthrough) -> RunStory:
    run = Run(
        slug=f"table {told.table}",
        agent=AGENT,
        driver=DRIVER,
        task=told.task,
        base_model=BASE_MODEL,
        mode=Mode.FREE,
        origin=Origin.PUBLISHED,
        budget_s=scores().source.budget_s,
        protocol="paper",
    )
    attempts = list(_attempts(told))
    best = max(attempts, key=lambda each: each.score or 0.0)
    standing = TaskStanding(
        run=run,
        task=told.task,
        protocol="paper",
        baseline=scores().baselines[BASE_MODEL][told.task],
        best=best.score,
        best_number=best.number,
    )
    standing.value = best.score  # the database computes it; this row is never stored
    labels = {each.number: LabelInForce(each.number, LabelSource.PERSON, each.methods) for each in attempts}
    return RunStory(run, standing, attempts, labels)


def _attempts(told: Walkthrough) -> Iterator[Attempt]:
    best: float | None = None
    for step in told.steps:
        new = best is None or step.score > best
        best = step.score if new else best
        methods = (Method(step.method),)
        yield Attempt(step.submission, -1.0, None, SubmissionState.GRADED, step.score, best, new, methods)


def notes_of(task: str) -> Sequence[tuple[str, str]]:
    """Script and note of each printed step of a task's walkthrough."""
    found = next(each for each in behaviour().walkthroughs if each.task == task)
    return [(step.script, step.note) for step in found.steps]
