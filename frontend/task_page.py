"""What the page of one task shows: what it asks for, how it is graded, who is how good at it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from django.db.models import Count
from django.http import QueryDict
from django.utils.safestring import SafeString

from benchmark.catalogue import Task, tasks
from benchmark.services.protocols import protocol_in_force
from frontend.board import Filters, Group, Panel, Row, board
from frontend.board.known_tasks import known_tasks, level_of, task_title
from frontend.markdown import markdown_html, section
from frontend.published import designs
from frontend.published.facts import Design
from frontend.run_list import RunRow
from grading.models import TaskStanding

ALSO = ("theme",)
RUNS_SHOWN = 10
AXES = {
    "capability": "what the agent has to be able to do",
    "interaction": "how much training has to talk to an environment",
    "reward": "how hard the reward is to compute",
    "horizon": "how many steps an episode takes",
}
"""The four axes of the paper's figure 4, each from 1 to 5."""
GRADED = ("How a submission is graded", "Score")
"""The headings of a description's part about the protocol."""


@dataclass(frozen=True)
class TaskPage:
    """One task, known here or at least by a paper."""

    id: str
    task: Task | None
    design: Design | None
    filters: Filters
    panels: Sequence[Panel]

    @property
    def title(self) -> str:
        return task_title(self.id)

    @property
    def level(self) -> str:
        return level_of(self.id)

    @property
    def protocol(self) -> str:
        return protocol_in_force(self.task) if self.task else ""

    @property
    def facts(self) -> list[tuple[str, str]]:
        """As this platform grades it, from its folder."""
        if not self.task:
            return []
        about = self.task.about
        told = [
            ("Score", self.task.metric),
            ("Graded on", f"{self.task.eval_size:,} held-out items"),
            ("Reward", str(about.get("reward", ""))),
            ("Steps of an episode", f"at most {about['horizon']}" if about.get("horizon") else ""),
            ("Needs", ", ".join(self.task.needs)),
            ("Data", str(about.get("source", ""))),
            ("Licence", str(about.get("licence", ""))),
        ]
        return [(name, text) for name, text in told if text]

    @cached_property
    def graded(self) -> SafeString:
        """The protocol in words."""
        return markdown_html(graded_text(self.task) if self.task else "", top=3)

    @cached_property
    def description(self) -> SafeString:
        return markdown_html(self.task.description if self.task else "", top=3)

    @property
    def groups(self) -> list[tuple[Panel, Group]]:
        return [(panel, group) for panel in self.panels for group in panel.groups if group.rows]

    @property
    def reading(self) -> str:
        """The first group's leader, in a sentence."""
        ranked = [(panel, group.rows[0]) for panel, group in self.groups if group.rows[0].cells[0].gain is not None]
        return _reading(ranked) if ranked else "Nobody has scored on this task yet"

    @property
    def newest(self) -> list[RunRow]:
        rows = TaskStanding.objects.filter(task=self.id, run__hidden=False).select_related("run")
        return [RunRow(row) for row in rows.order_by("-run__created_at", "-run_id")[:RUNS_SHOWN]]


@dataclass(frozen=True)
class TaskLine:
    """One task in the list of all."""

    id: str
    title: str
    level: str
    task: Task | None
    design: Design | None
    runs: int


def graded_text(task: Task) -> str:
    """What its description says about grading, Markdown; empty where it has no such part."""
    return next((found for heading in GRADED if (found := section(task.description, heading))), "")


def task_page_of(task_id: str, query: QueryDict) -> TaskPage | None:
    """None: no such task. Raises: BadQuery."""
    found, design = tasks().get(task_id), designs().get(task_id)
    if not found and not design:
        return None
    filters = replace(Filters.read(query, also=ALSO), task=(task_id,))
    return TaskPage(task_id, found, design, filters, board(filters))


def task_lines() -> list[TaskLine]:
    """The benchmark's six in their order, then the others. One query."""
    counted = TaskStanding.objects.filter(run__hidden=False).order_by().values_list("task").annotate(runs=Count("pk"))
    runs = dict(counted)
    return [
        TaskLine(task, task_title(task), level_of(task), tasks().get(task), designs().get(task), runs.get(task, 0))
        for task in known_tasks()
    ]


def _reading(ranked: Sequence[tuple[Panel, Row]]) -> str:
    panel, row = max(ranked, key=lambda item: item[1].cells[0].gain or 0.0)
    cell = row.cells[0]
    told = f"{row.stack.title} moves {panel.base_model} from {cell.baseline:.2f} to {cell.score:.2f}"
    return told if cell.score and cell.baseline and cell.score > cell.baseline else "No stack is above the base model"
