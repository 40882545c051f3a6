"""A bundle's run side by side with similar ones."""

from collections.abc import Callable
from dataclasses import dataclass

from benchmark.models import Origin
from bundles.models import Bundle
from frontend import formats
from grading.models import TaskStanding

MOST = 8
Cell = Callable[[TaskStanding], str]


@dataclass(frozen=True)
class Side:
    row: TaskStanding
    this: bool


def _origin(row: TaskStanding) -> str:
    if row.run.origin == Origin.LOCAL:
        return "graded here"
    return row.run.get_trust_display() or row.run.get_origin_display()


LINES: tuple[tuple[str, Cell], ...] = (
    ("Agent", lambda row: f"{row.run.agent} {row.run.agent_version}"),
    ("Driver", lambda row: row.run.driver),
    ("Mode", lambda row: row.run.get_mode_display()),
    ("Protocol", lambda row: row.protocol),
    ("Trust", _origin),
    ("Baseline", lambda row: formats.score(row.baseline)),
    ("Best", lambda row: formats.score(row.best)),
    ("Final", lambda row: formats.score(row.value)),
    ("Gain", lambda row: formats.gain(row.improvement) or formats.DASH),
    ("Best reached", lambda row: formats.clock(row.best_elapsed_s)),
    ("Submissions", lambda row: f"{row.submissions}, {row.scored} scored"),
    ("Budget", lambda row: formats.clock(row.run.budget_s)),
    ("Used", lambda row: formats.clock(row.run.elapsed_s())),
    ("Tokens", lambda row: formats.count(row.run.tokens)),
)


def sides_of(bundle: Bundle) -> list[Side]:
    """The bundle's run, then shown runs on the same task and base model: of the same agent first, then by score."""
    run = bundle.run
    mine = TaskStanding.objects.filter(run=run, task=run.task).select_related("run").first() if run else None
    if run is None or mine is None:
        return []
    rows = TaskStanding.objects.filter(task=run.task, run__base_model=run.base_model, run__hidden=False)
    found = list(rows.exclude(run=run).exclude(value=None).select_related("run").order_by("-value")[:100])
    nearest = sorted(found, key=lambda row: row.run.agent != run.agent)[:MOST]
    return [Side(mine, True), *(Side(row, False) for row in nearest)]


def lines_of(sides: list[Side]) -> list[tuple[str, list[str]]]:
    return [(label, [cell(side.row) for side in sides]) for label, cell in LINES]
