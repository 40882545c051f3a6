"""What a leaderboard is made of."""

from dataclasses import dataclass
from datetime import datetime

from benchmark.models import Mode, Run
from frontend.formats import within_noise
from frontend.ranking import mean


@dataclass(frozen=True, order=True)
class Stack:
    """An agent system with its driver, told to work in one mode."""

    agent: str
    driver: str
    mode: str

    @property
    def mode_label(self) -> str:
        return str(Mode(self.mode).label)


@dataclass(frozen=True)
class Cell:
    """A stack on one protocol: the best of its runs, or why there is no score."""

    runs: int
    run: Run | None = None
    """The run with the best score; without a score the newest one, or None when there was none."""
    score: float | None = None
    standard_error: float | None = None
    baseline: float | None = None
    reached_at: datetime | None = None
    reason: str = ""
    """Why there is no score; empty when there is one."""
    rank: int | None = None

    @property
    def improvement(self) -> float | None:
        return None if self.score is None or self.baseline is None else self.score - self.baseline

    @property
    def approx(self) -> bool:
        return within_noise(self.improvement, self.standard_error)


@dataclass(frozen=True)
class Column:
    """One protocol, with the base model's own score under it."""

    protocol: str
    task: str
    title: str
    level: str
    baseline: float | None
    baseline_error: float | None


@dataclass(frozen=True)
class Row:
    """One stack over a panel's columns; ranked only when every column is scored."""

    stack: Stack
    cells: tuple[Cell, ...]
    rank: int | None = None

    @property
    def mean(self) -> float | None:
        return mean([cell.score for cell in self.cells])

    @property
    def mean_gain(self) -> float | None:
        return mean([cell.improvement for cell in self.cells])

    @property
    def scored(self) -> int:
        return sum(cell.score is not None for cell in self.cells)

    @property
    def runs(self) -> int:
        return sum(cell.runs for cell in self.cells)

    @property
    def reached_at(self) -> float:
        """When its last best score was reached, epoch seconds; the earlier of equal ranks is listed first."""
        moments = [cell.reached_at.timestamp() for cell in self.cells if cell.reached_at]
        return max(moments, default=float("inf"))


@dataclass(frozen=True)
class Unranked:
    """One stack on a protocol that is never ranked: part of the held-out items only."""

    column: Column
    stack: Stack
    cell: Cell


@dataclass(frozen=True)
class Panel:
    """All that started from one base model's files."""

    base_model: str
    digest: str
    """Its first characters, when several base models share the name; else empty."""
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    unranked: tuple[Unranked, ...]

    @property
    def runs(self) -> int:
        return sum(row.runs for row in self.rows) + sum(row.cell.runs for row in self.unranked)
