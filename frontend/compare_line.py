"""One run among those compared."""

from dataclasses import dataclass

from benchmark.catalogue import agents
from benchmark.models import Run
from frontend.run_stories import RunStory


@dataclass(frozen=True)
class Line:
    """One run in the comparison. `place` from 1 names its colour and dash, `cost` is US dollars where known."""

    place: int
    story: RunStory
    cost: float | None

    @property
    def letter(self) -> str:
        return "ABCDEFGH"[self.place - 1]

    @property
    def run(self) -> Run:
        return self.story.run

    @property
    def agent(self) -> str:
        agent = agents().get(self.run.agent)
        return agent.title if agent else self.run.agent

    @property
    def title(self) -> str:
        return self.agent if self.run.driver in ("", "none") else f"{self.agent}, {self.run.driver}"
