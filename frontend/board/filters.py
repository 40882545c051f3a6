"""What a board or a list of runs is narrowed to: read from the address, written back to it, applied to rows."""

from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, time, timedelta
from urllib.parse import urlencode

from django.db.models import Q
from django.http import QueryDict

from benchmark.models import Trust
from frontend.agent_titles import agents_titled
from frontend.bad_query import BadQuery
from frontend.board.known_tasks import known_tasks, level_of
from frontend.board.parameters import PARAMETERS, PARAMETERS_MOST, VERIFIED, field_read, seconds, shown

SEARCHED = ("agent", "driver", "base_model", "task", "task_list", "slug")


@dataclass(frozen=True)
class Filters:
    """Several values of one field: any of them fits. Several fields: all of them must. Empty: everything."""

    q: str = ""
    """Words that agent, driver, base model, task or run id must hold."""
    level: tuple[str, ...] = ()
    task: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    driver: tuple[str, ...] = ()
    mode: tuple[str, ...] = ()
    base: tuple[str, ...] = ()
    """Base models, with or without the owner before the slash."""
    origin: tuple[str, ...] = ()
    trust: str = ""
    """The least that was checked, one of VERIFIED."""
    budget: tuple[str, ...] = ()
    """Such as `12h`, `7m`, `90s`."""
    protocol: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    """Days on which a run was made, both included, UTC."""
    sort: str = ""
    """A column's key, `-` before it for the highest first; empty: by rank."""
    cols: str = ""
    hide: tuple[str, ...] = ()

    @classmethod
    def read(cls, query: QueryDict, also: tuple[str, ...] = ()) -> "Filters":
        """From an address; parameters in `also` belong to the page and are left alone.

        Raises: BadQuery: an unknown or repeated parameter, or a value that cannot be.
        """
        if sum(len(values) for _, values in query.lists()) > PARAMETERS_MOST:
            raise BadQuery("query", f"has more than {PARAMETERS_MOST} parameters.")
        names = {parameter: field for field, parameter in PARAMETERS.items()}
        found: dict[str, object] = {}
        for parameter, values in query.lists():
            if parameter in also:
                continue
            if parameter not in names:
                raise BadQuery(
                    shown(parameter) or "(no name)", f"is no filter here. There are {', '.join(sorted(names))}."
                )
            told = [value for value in map(str, values) if value != ""]
            if told:
                found[names[parameter]] = field_read(names[parameter], told)
        filters = cls(**found)  # type: ignore[arg-type]
        if filters.since and filters.until and filters.since > filters.until:
            raise BadQuery("from", f"{filters.since} is later than to, {filters.until}.")
        return filters

    @property
    def chosen(self) -> dict[str, tuple[str, ...]]:
        """What is set, by the parameter's name, in the order of the fields."""
        told = {PARAMETERS[field.name]: getattr(self, field.name) for field in fields(self)}
        return {name: value if isinstance(value, tuple) else (str(value),) for name, value in told.items() if value}

    @property
    def narrowing(self) -> dict[str, tuple[str, ...]]:
        """What is set and leaves rows out."""
        return {name: value for name, value in self.chosen.items() if name not in {"sort", "cols", "hide"}}

    @property
    def query(self) -> str:
        """For an address that shows the same."""
        return urlencode(self.chosen, doseq=True)

    def with_sort(self, sort: str) -> str:
        """The address's query with another order."""
        return replace(self, sort=sort).query

    def without(self, parameter: str, value: str) -> str:
        """The address's query with one value less."""
        left = {
            name: tuple(each for each in values if (name, each) != (parameter, value))
            for name, values in self.chosen.items()
        }
        return urlencode(left, doseq=True)

    @property
    def budgets_s(self) -> list[int]:
        return [seconds(budget) for budget in self.budget]

    def shows_task(self, task: str) -> bool:
        """Whether a task's column stays."""
        return (not self.task or task in self.task) and (not self.level or level_of(task) in self.level)

    def runs(self, prefix: str = "") -> Q:
        """The condition on runs, whose fields are reached through `prefix` (such as `run__`)."""
        exact = {"agent__in": self.agent, "driver__in": self.driver, "mode__in": self.mode, "origin__in": self.origin}
        found = Q(**{prefix + name: values for name, values in exact.items() if values})
        if self.budget:
            found &= Q(**{f"{prefix}budget_s__in": self.budgets_s})
        if self.base:
            owned = [Q(**{f"{prefix}base_model__endswith": f"/{name}"}) for name in self.base]
            found &= _any([Q(**{f"{prefix}base_model__in": self.base}), *owned])
        if self.trust:
            enough = VERIFIED[VERIFIED.index(Trust(self.trust)) :]
            found &= Q(**{f"{prefix}trust__in": [*map(str, enough), ""]})
        if self.since:
            found &= Q(**{f"{prefix}created_at__gte": _midnight(self.since)})
        if self.until:
            found &= Q(**{f"{prefix}created_at__lt": _midnight(self.until) + timedelta(days=1)})
        for word in self.q.split():
            found &= run_holds(word, prefix)
        return found

    def standings(self) -> Q:
        """The condition on what may be ranked: standings, each a run on a task, of runs that are not hidden."""
        return self.results() & Q(run__hidden=False)

    def results(self) -> Q:
        """The condition on standings, whoever may see them."""
        found = self.runs("run__")
        if self.task:
            found &= Q(task__in=self.task)
        if self.level:
            found &= Q(task__in=[task for task in known_tasks() if level_of(task) in self.level])
        if self.protocol:
            found &= Q(protocol__in=self.protocol)
        return found


def run_holds(word: str, prefix: str = "") -> Q:
    """Whether a run's id, driver, base model or one of its tasks holds the word, or its agent's id or title does."""
    places = [Q(**{f"{prefix}{name}__icontains": word}) for name in SEARCHED]
    return _any([*places, Q(**{f"{prefix}agent__in": agents_titled(word)})])


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _any(conditions: list[Q]) -> Q:
    found = conditions[0]
    for condition in conditions[1:]:
        found |= condition
    return found
