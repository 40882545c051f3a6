"""What analyses read: standings with their runs, and the stories of the newest of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from frontend.agent_titles import agent_title
from frontend.analyses.contract import Asked
from frontend.run_stories import RunStory, run_stories
from grading.models import TaskStanding

STORIES_MOST = 150
"""Runs whose submissions are read for one analysis, the newest first."""


@dataclass(frozen=True)
class Read:
    """`left_out` more runs match; the newest were read."""

    stories: Sequence[RunStory]
    left_out: int

    @property
    def note(self) -> str:
        return f"The newest {len(self.stories)} of {len(self.stories) + self.left_out} runs. " if self.left_out else ""


def stories_read(asked: Asked, *, methods: bool = True, most: int = STORIES_MOST, idle: bool = False) -> Read:
    """Runs with at least one submission; `idle`: those without, too. Four queries at most."""
    rows = TaskStanding.objects.filter(asked.where, **({} if idle else {"submissions__gt": 0}))
    standings = list(rows.select_related("run").order_by("-run_id", "task")[: most + 1])
    left_out = rows.count() - most if len(standings) > most else 0
    return Read(run_stories(standings[:most], methods=methods), left_out)


def stack_title(story: RunStory) -> str:
    run = story.run
    return agent_title(run.agent) if run.driver in ("", "none") else f"{agent_title(run.agent)}, {run.driver}"
