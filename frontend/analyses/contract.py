"""What an analysis is: one module in `kinds` with an `ANALYSIS`, whose `build` reads the database for one filter."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import Q

from benchmark.models import Origin
from frontend.board import Filters
from frontend.figures.style import Figure
from frontend.formats import DASH


@dataclass(frozen=True)
class Asked:
    """What the address asks for: a filter, the analysis's own choices, and who asks."""

    filters: Filters
    choices: Mapping[str, str]
    user: AbstractBaseUser | AnonymousUser

    @property
    def published(self) -> bool:
        """Whether a paper's numbers are asked for; they are never mixed with runs."""
        return Origin.PUBLISHED in self.filters.origin

    @property
    def where(self) -> Q:
        """The condition on standings."""
        return self.filters.standings()


@dataclass(frozen=True)
class Cell:
    """One value: `value` goes into the CSV, `text` onto the page and into LaTeX; empty: the value, or a dash."""

    value: object = None
    text: str = ""
    small: str = ""
    """Below the text."""
    link: str = ""
    heat: str = ""
    """-4..4, see `formats.heat`."""
    mark: str = ""
    """`star` or `worst`."""
    approx: bool = False
    """Within the standard error."""
    methods: Sequence[tuple[str, str]] = ()
    """Names with their CSS class, instead of text."""
    state: str = ""
    """`up` or `down`: the colour of a gain, beside its sign."""

    @property
    def shown(self) -> str:
        return self.text or (DASH if self.value is None or self.value == "" else str(self.value))

    @property
    def plain(self) -> str:
        """For LaTeX."""
        marks = {"star": "★ ", "worst": "▼ "}.get(self.mark, "")
        names = " ".join(name for name, _ in self.methods)
        return f"{marks}{names or self.shown}{' ≈' if self.approx else ''}{f' ({self.small})' if self.small else ''}"


@dataclass(frozen=True)
class Column:
    title: str
    note: str = ""
    """Below the title: unit, n or definition."""
    number: bool = False


@dataclass(frozen=True)
class Table:
    """`heat`: cells are coloured by gain. Each row's first cell is its head."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    caption: str = ""
    heat: bool = False


@dataclass(frozen=True)
class Analysis:
    """What came of it. `reading` is one line computed from the data; `empty` says why there is nothing."""

    reading: str = ""
    tables: Sequence[Table] = ()
    figure: Figure | None = None
    figure_title: str = ""
    panels: int = 0
    """Of a figure of small multiples."""
    note: str = ""
    legend: str = ""
    """`heat`, `methods`, `switches` or none."""
    empty: str = ""
    links: Sequence[tuple[str, str, bool]] = ()
    """`(title, query, chosen)`: the same analysis of something else."""


@dataclass(frozen=True)
class Kind:
    """One analysis. `choices` are its own parameters with their values, the first being the default."""

    id: str
    title: str
    short: str
    about: str
    paper: str
    """Which of the paper's tables and figures it is."""
    place: int
    """Its order among the others."""
    build: Callable[[Asked], Analysis]
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    choice_titles: Mapping[str, str] = field(default_factory=dict)
    published: bool = True
    """Whether the paper prints numbers for it."""
