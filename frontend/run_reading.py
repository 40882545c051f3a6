"""What a run's page says in one sentence."""

from collections.abc import Sequence
from typing import Protocol

from benchmark.models import Run
from frontend import formats
from frontend.best_so_far import Point
from grading.models import TaskStanding
from traces.methods.switches import MethodSwitch


class Scored(Protocol):
    """What a run came to on one task, as its page knows it."""

    @property
    def run(self) -> Run: ...
    @property
    def points(self) -> Sequence[Point]: ...
    @property
    def best(self) -> Point | None: ...
    @property
    def improvement(self) -> float | None: ...
    @property
    def standing(self) -> TaskStanding | None: ...
    @property
    def elsewhere(self) -> bool: ...


def score_reading(page: Scored) -> str:
    """The best score, against the base model, after how many submissions."""
    if not page.points:
        return _without_submissions(page)
    after = f"after {formats.plural(len(page.points), 'submission')}"
    if page.best is None:
        return f"No score {after}"
    told = f"Best so far {formats.score(page.best.score)}" if not page.run.terminal else ""
    told = told or f"Best {formats.score(page.best.score)}"
    if page.improvement is None:
        return f"{told} {after}"
    return f"{told}, {_against(page.improvement)} the base model, {after}"


def _without_submissions(page: Scored) -> str:
    """A run made elsewhere may state its score and no submission: it is then not one that submitted nothing."""
    if not page.elsewhere:
        return "No submission yet" if not page.run.terminal else "The agent submitted nothing"
    if page.standing is None or page.standing.value is None:
        return "No score and no submission is stated"
    score, gain = page.standing.value, page.standing.improvement
    told = f"{'Published' if page.run.origin == 'published' else 'Claimed'} best {formats.score(score)}"
    return told if gain is None else f"{told}, {_against(gain)} the base model"


def _against(improvement: float) -> str:
    if round(improvement, 2) == 0:
        return "the same as"
    return f"{abs(improvement):.2f} {'above' if improvement > 0 else 'below'}"


def switch_reading(switches: Sequence[MethodSwitch]) -> str:
    """How many switches raised the best score; empty without one."""
    if not switches:
        return ""
    good = sum(bool(switch.is_success) for switch in switches)
    return f"{good} of {len(switches)} method switch{'es' if len(switches) > 1 else ''} raised the best score"
