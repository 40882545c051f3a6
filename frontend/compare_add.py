"""Finding a run to add to a comparison."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmark.models import Run
from frontend.bad_query import BadQuery
from frontend.board.filters import run_holds
from frontend.compare import Person
from frontend.compare_query import MOST, Asked

LISTED = 12
LONGEST = 80


@dataclass(frozen=True)
class Addition:
    """What was asked for, the runs that match with the address that adds each, and whether more do."""

    text: str
    found: Sequence[tuple[Run, str]]
    more: bool


def addition(asked: Asked, text: str, user: Person) -> Addition:
    """Runs whose id, agent, driver, tasks or base model hold each word, the newest first.

    Raises: BadQuery: too long, or no room.
    """
    if len(text) > LONGEST or "\x00" in text:
        raise BadQuery("add", f"Name a run in at most {LONGEST} characters.", asked.own)
    if len(asked.slugs) >= MOST:
        raise BadQuery("add", f"{MOST} runs are compared already; remove one first.", asked.own)
    runs = Run.objects.visible_to(user).exclude(slug__in=asked.slugs)
    for word in text.split():
        runs = runs.filter(run_holds(word))
    found = list(runs.order_by("-id")[: LISTED + 1])
    return Addition(text, [(run, asked.with_run(run.slug)) for run in found[:LISTED]], len(found) > LISTED)
