"""Lists of runs: those in progress, and all of them filtered, sorted and paged. A row is a run on one of its tasks."""

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.core.paginator import Page, Paginator
from django.db.models import F, QuerySet
from django.http import QueryDict

from benchmark.models import Run, RunState
from frontend.bad_query import BadQuery
from frontend.board import Filters
from frontend.board.options import Option, options_of
from frontend.leaderboard import Chip, Sort, chips_of
from frontend.statistics import finite
from grading.models import TaskStanding

PER_PAGE = 25
ACTIVE_SHOWN = 20
ALSO = ("state", "page", "theme")
SORTS = {
    "created": ("run__created_at",),
    "score": ("value",),
    "gain": ("gain",),
    "submissions": ("submissions",),
    "agent": ("run__agent", "run__driver"),
    "task": ("task",),
}
"""What a list can be sorted by, and the fields that takes."""
FIRST = ("state", "task", "agent", "driver", "mode", "base")
MORE = ("level", "origin", "budget", "protocol", "trust")


@dataclass(frozen=True)
class RunRow:
    """A run on one of its tasks. Scores in points."""

    standing: TaskStanding

    @property
    def run(self) -> Run:
        return self.standing.run

    @property
    def score(self) -> float | None:
        """What counts."""
        return finite(self.standing.value)

    @property
    def standard_error(self) -> float | None:
        return self.standing.best_error if self.score is not None and not self.standing.flag_reason else None

    @property
    def improvement(self) -> float | None:
        baseline = finite(self.standing.baseline)
        return None if self.score is None or baseline is None else self.score - baseline

    @property
    def published_table(self) -> str:
        return str(self.run.source.get("table", "")) if self.run.origin == "published" else ""


@dataclass(frozen=True)
class RunList:
    """One page of rows and what it is narrowed to."""

    filters: Filters
    states: tuple[str, ...]
    page: "Page[TaskStanding]"
    options: dict[str, Option]
    chips: tuple[Chip, ...]

    @property
    def first(self) -> list[Option]:
        return [self.options[name] for name in FIRST]

    @property
    def more(self) -> list[Option]:
        return [self.options[name] for name in MORE]

    @property
    def more_set(self) -> bool:
        """Whether the folded filters hold something that is set."""
        return bool({*MORE, "from", "to"} & set(self.filters.chosen))

    @property
    def rows(self) -> list[RunRow]:
        return [RunRow(standing) for standing in self.page.object_list]

    @property
    def found(self) -> int:
        return self.page.paginator.count

    @property
    def query(self) -> str:
        """For links that keep the filter."""
        return _query(self.filters, self.states)

    @property
    def sorts(self) -> dict[str, Sort]:
        """By column key."""
        found = {}
        for key in SORTS:
            now = self.filters.sort or "-created"
            falling = now == f"-{key}"
            order = key if falling or (now != key and key in {"agent", "task"}) else f"-{key}"
            told = "" if now.removeprefix("-") != key else "descending" if falling else "ascending"
            found[key] = Sort(_query(replace(self.filters, sort=order), self.states), told)
        return found


def run_list_of(query: QueryDict, user: AbstractBaseUser | AnonymousUser) -> RunList:
    """The newest first, or as asked for. Raises: BadQuery."""
    filters = Filters.read(query, also=ALSO)
    states = _states([state for state in query.getlist("state") if state])
    rows = _ordered(_visible(filters, user), filters.sort)
    if states:
        rows = rows.filter(run__state__in=states)
    offered = options_of(filters)
    state = Option("state", "State", "All", tuple((str(s.value), str(s.label)) for s in RunState), states)
    chips = [*_chips(filters, offered, states), *(_state_chip(filters, states, each) for each in states)]
    return RunList(filters, states, _page(rows, query.get("page", "")), {**offered, "state": state}, tuple(chips))


def active_runs() -> list[RunRow]:
    """Runs that have not ended, the oldest first, at most ACTIVE_SHOWN rows."""
    rows = TaskStanding.objects.filter(run__in=Run.objects.shown().active())
    return [RunRow(row) for row in rows.select_related("run").order_by("run_id", "task")[:ACTIVE_SHOWN]]


def _visible(filters: Filters, user: AbstractBaseUser | AnonymousUser) -> QuerySet[TaskStanding]:
    rows = TaskStanding.objects.filter(filters.results())
    if getattr(user, "is_authenticated", False):
        return rows.filter(run__in=Run.objects.visible_to(user))
    return rows.filter(run__hidden=False)


def _ordered(rows: QuerySet[TaskStanding], sort: str) -> QuerySet[TaskStanding]:
    key = (sort or "-created").removeprefix("-")
    if key not in SORTS:
        raise BadQuery("sort", f"cannot be {sort!r}. Columns are {', '.join(SORTS)}.")
    if key == "gain":
        rows = rows.annotate(gain=F("value") - F("baseline"))
    falling = not sort or sort.startswith("-")
    fields = [F(f).desc(nulls_last=True) if falling else F(f).asc(nulls_last=True) for f in SORTS[key]]
    return rows.select_related("run").order_by(*fields, "-run_id", "task")


def _page(rows: QuerySet[TaskStanding], number: str) -> "Page[TaskStanding]":
    pages = Paginator(rows, PER_PAGE)
    if number and (not number.isascii() or not number.isdigit() or len(number) > 9 or int(number) < 1):
        raise BadQuery("page", "must be a whole number from 1.")
    wanted = int(number or 1)
    if wanted > pages.num_pages:
        raise BadQuery("page", f"is {wanted}, but there are {pages.num_pages}.")
    return pages.page(wanted)


def _states(values: list[str]) -> tuple[str, ...]:
    if any(value not in RunState.values for value in values):
        raise BadQuery("state", f"must be one of {', '.join(RunState.values)}.")
    return tuple(dict.fromkeys(values))


def _chips(filters: Filters, offered: dict[str, Option], states: tuple[str, ...]) -> list[Chip]:
    kept = urlencode({"state": states}, doseq=True) if states else ""
    found = chips_of(filters, offered)
    return [replace(chip, without="&".join(part for part in (chip.without, kept) if part)) for chip in found]


def _state_chip(filters: Filters, states: tuple[str, ...], state: str) -> Chip:
    left = tuple(each for each in states if each != state)
    return Chip("State", str(RunState(state).label), _query(filters, left))


def _query(filters: Filters, states: tuple[str, ...]) -> str:
    return urlencode({**filters.chosen, **({"state": states} if states else {})}, doseq=True)
