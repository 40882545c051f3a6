"""Lists of runs: those in progress, and all of them filtered and paged."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet

from benchmark.catalogue import agents, tasks
from benchmark.models import Run, RunState
from frontend.scores import Result, results

PER_PAGE = 25
ACTIVE_SHOWN = 20


@dataclass(frozen=True)
class RunFilter:
    """Exact values, empty for all. An unknown value finds nothing; it is never ignored silently."""

    state: str = ""
    task: str = ""
    agent: str = ""

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> "RunFilter":
        return cls(**{name: query.get(name, "").replace("\x00", "")[:64] for name in cls.__dataclass_fields__})

    @property
    def chosen(self) -> dict[str, str]:
        return {name: value for name, value in asdict(self).items() if value}

    @property
    def query(self) -> str:
        """For links that keep the filter."""
        return urlencode(self.chosen)

    @property
    def options(self) -> list[tuple[str, str, list[tuple[str, str]]]]:
        """`(name, chosen, [(value, label)])` of each filter, the chosen value among them even when unknown."""
        known = {
            "state": [(str(state.value), str(state.label)) for state in RunState],
            "task": sorted({(task.id, task.title) for task in tasks().values()}),
            "agent": sorted({(agent.id, agent.title) for agent in agents().values()}),
        }
        for name, value in self.chosen.items():
            if value not in dict(known[name]):
                known[name].append((value, value))
        return [(name, getattr(self, name), values) for name, values in known.items()]

    def runs(self) -> QuerySet[Run]:
        return Run.objects.filter(**self.chosen)


@dataclass(frozen=True)
class RunList:
    """One page of runs with their results."""

    page: "Page[Run]"
    results: list[Result]


def run_page_of(chosen: RunFilter, number: str | None) -> RunList:
    """The newest first; a page number out of range gives the nearest page."""
    page = Paginator(chosen.runs(), PER_PAGE).get_page(number)
    ids = [run.pk for run in page.object_list]
    return RunList(page, list(results(Run.objects.filter(pk__in=ids))))


def active_runs() -> list[Result]:
    """Runs that have not ended, the oldest first, at most ACTIVE_SHOWN."""
    ids = list(Run.objects.active().order_by("id").values_list("pk", flat=True)[:ACTIVE_SHOWN])
    return list(results(Run.objects.filter(pk__in=ids).order_by("id")))
