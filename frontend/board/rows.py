"""What a board is made of. Scores and gains are points of 0..100; None: not scored."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urlencode

from frontend.board.parts import Flag, Kind, Part, Stack
from frontend.formats import within_noise
from frontend.ranking import Band, mean
from frontend.statistics import (
    Interval,
    bootstrap,
    decoding_error,
    noise_of_average,
    noise_of_mean,
    run_deviation,
)


@dataclass(frozen=True)
class Cell:
    """A stack on one task under one protocol: all its runs there."""

    task: str
    protocol: str
    runs: int = 0
    values: tuple[float, ...] = ()
    """The score that counts of each scored run, finite, ascending."""
    error: float | None = None
    """Decoding noise of the mean of the values: its standard error."""
    baseline: float | None = None
    baseline_error: float | None = None
    slug: str = ""
    """The run, when it is the only one."""
    part: Part | None = None
    """What it is made of; None where there is no run."""
    reason: str = ""
    """Why there is no score; empty when there is one."""
    flags: tuple[Flag, ...] = ()
    best: bool = False
    """Whether no row of the group has a higher score in this column."""

    @property
    def query(self) -> str:
        """Of the address that lists the runs."""
        return urlencode(self.part.listing) if self.part else ""

    @cached_property
    def score(self) -> float | None:
        """The mean over scored runs; of one run its score."""
        return sum(self.values) / len(self.values) if self.values else None

    @property
    def highest(self) -> float | None:
        return self.values[-1] if self.values else None

    @property
    def gain(self) -> float | None:
        return None if self.score is None or self.baseline is None else self.score - self.baseline

    @property
    def interval(self) -> Interval | None:
        """Of the mean over runs; a single run has none."""
        return bootstrap(self.values)

    @property
    def deviation(self) -> float | None:
        """Run-to-run noise, as a standard deviation."""
        return run_deviation(self.values)

    @cached_property
    def noise(self) -> float | None:
        """The standard error that the score is judged by."""
        return noise_of_mean(self.values, self.error) if self.values else None

    @property
    def approx(self) -> bool:
        """Whether the gain is smaller than the score's standard error."""
        return within_noise(self.gain, self.noise)


@dataclass(frozen=True)
class Column:
    """One task."""

    task: str
    title: str
    level: str
    metric: str
    known: bool = True
    """Whether it has a page."""


@dataclass(frozen=True)
class Row:
    """A stack over the panel's columns."""

    stack: Stack
    cells: tuple[Cell, ...]
    counted: tuple[bool, ...]
    """Which columns its mean is over."""
    origins: tuple[str, ...] = ()
    trusts: tuple[str, ...] = ()
    band: Band | None = None
    """Its rank; None: not scored in every counted column."""
    notes: tuple[int, ...] = ()

    @property
    def over(self) -> list[Cell]:
        return [cell for cell, counted in zip(self.cells, self.counted, strict=True) if counted]

    @cached_property
    def mean(self) -> float | None:
        return mean([cell.score for cell in self.over])

    @property
    def mean_gain(self) -> float | None:
        return mean([cell.gain for cell in self.over])

    @property
    def noise(self) -> float | None:
        """Of the mean."""
        return noise_of_average([cell.noise for cell in self.over]) if self.over else None

    @property
    def scored(self) -> int:
        return sum(cell.score is not None for cell in self.over)

    @property
    def runs(self) -> str:
        """Runs in a cell: `1`, or from the fewest to the most."""
        counts = [cell.runs for cell in self.cells if cell.runs]
        low, high = min(counts, default=0), max(counts, default=0)
        return str(low) if low == high else f"{low}–{high}"


@dataclass(frozen=True)
class Group:
    """Rows that may be compared: one kind of origin, one protocol for each task."""

    kind: Kind
    columns: tuple[Column, ...]
    protocols: tuple[str, ...]
    """Of each column; empty where nothing was run."""
    baselines: tuple[Cell, ...]
    """The base model's own score in each column."""
    rows: tuple[Row, ...]
    picks: tuple[Row, ...] = ()
    """Best observed: the best cell of several rows for each task, made by no single run. Never ranked."""
    hidden_rows: int = 0
    """How many more rows there are than are shown."""
    notes: tuple[tuple[int, str], ...] = ()
    """With their numbers, which are unique within the panel."""

    @property
    def protocol_names(self) -> list[str]:
        return list(dict.fromkeys(protocol for protocol in self.protocols if protocol))

    @property
    def budgets(self) -> list[int]:
        """Of its rows, in seconds, the shortest first."""
        return sorted({row.stack.budget_s for row in self.rows})

    @property
    def any_ranked(self) -> bool:
        return any(row.band for row in self.rows)

    @property
    def single(self) -> bool:
        """Whether no cell rests on more than one run."""
        return all(cell.runs <= 1 for row in self.rows for cell in row.cells)


@dataclass(frozen=True)
class Unranked:
    """A stack on a protocol that is never ranked: part of the held-out items only."""

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
    groups: tuple[Group, ...]
    unranked: tuple[Unranked, ...] = field(default=())

    @property
    def counted(self) -> list[Column]:
        """The columns that the mean is over."""
        row = next((row for group in self.groups for row in group.rows), None)
        return [c for c, counts in zip(self.columns, row.counted, strict=True) if counts] if row else []

    @property
    def levels(self) -> list[tuple[str, int]]:
        """Each level and how many columns it has."""
        found: dict[str, int] = {}
        for column in self.columns:
            found[column.level] = found.get(column.level, 0) + 1
        return list(found.items())


def cell_of(task: str, protocol: str, values: Sequence[float], errors: Sequence[float | None], **facts: object) -> Cell:
    """A cell from its runs' scores and their standard errors."""
    error = decoding_error(errors) if values else None
    return Cell(task, protocol, values=tuple(sorted(values)), error=error, **facts)  # type: ignore[arg-type]
