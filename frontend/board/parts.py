"""What a board is added up from: a part is one stack on one task under one protocol, of one base model.

A part is a value: boards made of equal parts are equal, so what was made of them once is kept.
"""

from dataclasses import dataclass, replace
from typing import Literal

from benchmark.models import Mode
from frontend.agent_titles import agent_title
from frontend.board.parameters import budget_text

Kind = Literal["here", "published"]


@dataclass(frozen=True, order=True)
class Stack:
    """What a row is: an agent system with its driver, told to work in one mode within one budget."""

    agent: str
    driver: str
    mode: str
    budget_s: int
    table: str = ""
    """The paper's table that prints it: what two tables print of one stack stays apart."""

    @property
    def title(self) -> str:
        return agent_title(self.agent)

    @property
    def mode_label(self) -> str:
        return str(Mode(self.mode).label) if self.mode in Mode.values else self.mode


@dataclass(frozen=True)
class Flag:
    """A score that a moderator changed: what was graded, what counts instead (None: nothing), and why."""

    slug: str
    raw: float | None
    final: float | None
    reason: str


@dataclass(frozen=True)
class Part:
    """What the database adds up. Scores and errors in points, `errors` in the order of `values`."""

    base_model: str
    digest: str
    kind: Kind
    stack: Stack
    task: str
    protocol: str
    runs: int = 0
    values: tuple[float, ...] = ()
    errors: tuple[float | None, ...] = ()
    baseline: float | None = None
    baseline_error: float | None = None
    last_run: int = 0
    slug: str = ""
    origins: frozenset[str] = frozenset()
    trusts: frozenset[str] = frozenset()
    flags: tuple[Flag, ...] = ()
    reason: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        return self.base_model, self.digest, self.kind, self.stack, self.task, self.protocol

    @property
    def listing(self) -> tuple[tuple[str, str], ...]:
        """The filters that leave its runs."""
        stack = self.stack
        facts = (("task", self.task), ("agent", stack.agent), ("driver", stack.driver), ("mode", stack.mode))
        more = (("base", self.base_model), ("budget", budget_text(stack.budget_s)), ("protocol", self.protocol))
        return (*facts, *more, *(("origin", origin) for origin in sorted(self.origins)))


def joined(one: Part, other: Part) -> Part:
    """Two parts as one: of several origins or trusts, or of a base model that was written in two ways."""
    newer, older = (other, one) if other.last_run > one.last_run else (one, other)
    known = newer if newer.baseline is not None else older
    return replace(
        newer,
        runs=one.runs + other.runs,
        values=one.values + other.values,
        errors=one.errors + other.errors,
        baseline=known.baseline,
        baseline_error=known.baseline_error,
        slug="",
        origins=one.origins | other.origins,
        trusts=one.trusts | other.trusts,
        flags=one.flags + other.flags,
    )
