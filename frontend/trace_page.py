"""Everything the explorer's page shows around its list."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.db.models import Count

from benchmark.models import Run
from frontend.run_titles import run_title, tasks_of
from frontend.trace_events import CHOICES, Choice
from frontend.trace_text import harmless
from traces.models import Event, Trace, TraceState


@dataclass(frozen=True)
class Chip:
    """A filter as the page shows it; `count` is None where counting takes a search."""

    name: str
    title: str
    on: bool
    count: int | None


@dataclass(frozen=True)
class TracePage:
    """A run, its traces, and the one that is shown; None: there is none."""

    run: Run
    traces: Sequence[Trace]
    trace: Trace | None
    filters: Sequence[Choice]
    q: str
    task: str = ""
    """Of several tasks the one whose submissions are shown; empty: the run has only one."""

    @property
    def tasks(self) -> list[tuple[str, str]]:
        """The run's tasks, each with its title."""
        return tasks_of(self.run)

    @property
    def title(self) -> str:
        return run_title(self.run)

    @property
    def reading(self) -> bool:
        """Whether the trace still grows."""
        return self.trace is not None and self.trace.state == TraceState.READING

    @property
    def empty(self) -> bool:
        return self.trace is not None and not self.trace.event_count

    @property
    def name(self) -> str:
        return harmless(self.trace.name) if self.trace else ""

    @cached_property
    def kinds(self) -> dict[str, int]:
        if self.trace is None:
            return {}
        known = self.trace.summary.get("kinds")
        if self.trace.state == TraceState.SEALED and isinstance(known, dict):
            return known
        rows = Event.objects.filter(trace=self.trace).values_list("kind").annotate(count=Count("pk")).order_by()
        return dict(rows)

    @property
    def chips(self) -> list[Chip]:
        on = {choice.name for choice in self.filters}
        return [
            Chip(
                choice.name,
                choice.title,
                choice.name in on,
                sum(self.kinds.get(kind, 0) for kind in choice.kinds)
                if choice.kinds and choice.name != "errors"
                else None,
            )
            for choice in CHOICES
        ]

    @property
    def declared(self) -> list[str]:
        """Where the transcript says that it holds another number than was found."""
        stored, declared = (
            (self.trace.summary.get(name) or {} for name in ("stored", "declared")) if self.trace else ({}, {})
        )
        return [
            f"{stored[name]:,} of {count:,} declared {name.replace('_', ' ')} found"
            for name, count in declared.items()
            if name in stored and stored[name] != count
        ]


def trace_page(run: Run, key: str, filters: Sequence[Choice], q: str, task: str = "") -> TracePage:
    """`key` names one of the run's traces; else the one with most events. `task`: of several; else the first."""
    traces = list(Trace.objects.filter(run=run).order_by("id"))
    named = next((trace for trace in traces if trace.key == key), None)
    shown = named or max(traces, key=lambda trace: trace.event_count, default=None)
    of_task = (task if task in run.tasks else run.task) if run.task_list else ""
    return TracePage(run, traces, shown, filters, q, of_task)


def start_of(trace: Trace) -> datetime | None:
    """What times count from: the run's start, or the trace's where the run has none or another day's."""
    first = trace.first_at or _first_at(trace)
    began = trace.run.started_at
    if first is None:
        return None
    if began is None or not (began.timestamp() - 60 <= first.timestamp() <= began.timestamp() + 7 * 86400):
        return first
    return began


def _first_at(trace: Trace) -> datetime | None:
    rows = Event.objects.filter(trace=trace, at__isnull=False).order_by("at")
    return rows.values_list("at", flat=True).first()
