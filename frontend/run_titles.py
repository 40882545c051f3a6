"""What a run is called: its agent system and all of its tasks, by the names that people read."""

from benchmark.models import Run
from frontend.agent_titles import agent_title
from frontend.board.known_tasks import task_title

NAMED_MOST = 2
"""Tasks that are named; more are counted."""


def tasks_of(run: Run) -> list[tuple[str, str]]:
    """The run's tasks, each with its title."""
    return [(task, task_title(task)) for task in run.tasks]


def tasks_titled(run: Run) -> str:
    """`GSM8K`, `GSM8K and HumanEval`, `3 tasks`."""
    titles = [title for _, title in tasks_of(run)]
    return " and ".join(titles) if len(titles) <= NAMED_MOST else f"{len(titles)} tasks"


def run_title(run: Run) -> str:
    """`Claude Code on GSM8K`."""
    return f"{agent_title(run.agent)} on {tasks_titled(run)}"
