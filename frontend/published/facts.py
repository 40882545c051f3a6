"""What a paper's tables hold, as types. Scores and gains are points of 0..100; rates are fractions of one."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from itertools import pairwise


@dataclass(frozen=True)
class Source:
    """The paper itself. `budget_s` is what each of its runs had, in seconds."""

    title: str
    date: date
    authors: tuple[str, ...]
    budget_s: int


@dataclass(frozen=True)
class ScoreRow:
    """One printed row: a stack's score on each task, each cell one run."""

    table: str
    base_model: str
    agent: str
    driver: str
    mode: str
    scores: Mapping[str, float]


@dataclass(frozen=True)
class PrintedGains:
    """What the paper prints beside a row's scores; to be compared with what is recomputed, never shown."""

    table: str
    agent: str
    driver: str
    mode: str
    gains: Mapping[str, float]


@dataclass(frozen=True)
class Design:
    """Tables 1, 4, 5 and figure 4: one task. The four axes of `design` go from 1 to 5."""

    task: str
    level: str
    kind: str
    reward: str
    horizon: str
    evaluator: str
    reward_source: str
    evaluated_on: str
    items: int | None
    """How many items are graded; None where the paper names a split instead."""
    split_items: int
    """How many items that split has, by its own publisher."""
    hard_because: str
    design: Mapping[str, int]


@dataclass(frozen=True)
class WorkspaceStatistics:
    """Table 11: what one run left behind. `best_at` is the number of the best submission."""

    task: str
    mode: str
    submissions: int
    code_files: int
    model_versions: int
    zero_rate: float
    best_at: int
    strategies: tuple[str, ...]


@dataclass(frozen=True)
class Setting:
    """A value of a hyper-parameter and the lowest and highest score it gave; empty when none is printed."""

    value: str
    scores: tuple[float, ...]


@dataclass(frozen=True)
class Sensitivity:
    """Table 12: where a hyper-parameter is too small, right, too large."""

    parameter: str
    under: Setting
    best: Setting
    over: Setting


@dataclass(frozen=True)
class Tried:
    """A method that was tried; `variants` where the paper counts them."""

    method: str
    variants: int | None = None


@dataclass(frozen=True)
class RlAudit:
    """Table 14: which RL and preference methods were tried on a task, and what won."""

    task: str
    tried: tuple[Tried, ...]
    stable: str
    best_pipeline: str


@dataclass(frozen=True)
class WorkingStyle:
    """Table 17: how a stack works. `best_gain` is in points."""

    agent: str
    driver: str
    submissions: int
    style: str
    best_gain: float


@dataclass(frozen=True)
class Adoption:
    """Table 18: in how many runs a method was attempted, and in how many the best checkpoint used it."""

    method: str
    attempted: int
    adopted: int
    printed_rate: float

    @property
    def rate(self) -> float | None:
        return self.adopted / self.attempted if self.attempted else None


@dataclass(frozen=True)
class Step:
    """One submission of a walkthrough."""

    submission: int
    script: str
    score: float
    method: str
    note: str
    printed_jump: float | None = None


@dataclass(frozen=True)
class Walkthrough:
    """Tables 19 and 20: the submissions that made one run's score, in their order."""

    table: str
    task: str
    steps: tuple[Step, ...]

    @property
    def jumps(self) -> tuple[float | None, ...]:
        """Each step's score minus the step before it, in points; None for the first."""
        scores = [step.score for step in self.steps]
        return (None, *(later - earlier for earlier, later in pairwise(scores)))


@dataclass(frozen=True)
class RouteRule:
    """Table 8: how a run's route is told from its training script."""

    route: str
    rule: str


@dataclass(frozen=True)
class FailureType:
    """Table 10: a kind of failure, where it was seen and what shows it."""

    type: str
    tasks: tuple[str, ...]
    where: str
    symptom: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class MetricKind:
    """Table 6: what is measured."""

    kind: str
    metrics: tuple[str, ...]


@dataclass(frozen=True)
class AuditRule:
    """Table 9: what keeps scores honest."""

    rule: str
    how: str
