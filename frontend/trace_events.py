"""Which events a trace's list shows, by number: everything except results that stand with their calls."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from frontend.trace_edits import TOOLS
from traces.contract import EventKind
from traces.models import Event, Trace

PAGE = 12
OPENING = 20
"""Rows that the page comes with."""
PAIRED = Q(kind=EventKind.TOOL_RESULT, call_seq__isnull=False)
LOOSE = Q(kind=EventKind.TOOL_RESULT, call_seq__isnull=True)


@dataclass(frozen=True)
class Choice:
    """One filter of the list; several join. `kinds` are counted; `extra` are events beside whole kinds."""

    name: str
    title: str
    kinds: tuple[EventKind, ...] = ()
    extra: Q | None = None


CHOICES = (
    Choice("agent", "Agent", (EventKind.ASSISTANT,)),
    Choice("reasoning", "Reasoning", (EventKind.THINKING,)),
    Choice("tools", "Tool calls", (EventKind.TOOL_CALL,), LOOSE),
    Choice("edits", "Edits", (), Q(kind=EventKind.TOOL_CALL, tool__in=TOOLS)),
    Choice("errors", "Errors", (EventKind.ERROR,), Q(kind=EventKind.TOOL_RESULT, failed=True)),
    Choice("agents", "Sub-agents", (), ~Q(agent="") & ~PAIRED),
    Choice("instructions", "Instructions", (EventKind.USER, EventKind.SYSTEM)),
    Choice("system", "System", (EventKind.SESSION, EventKind.NOTICE, EventKind.USAGE, EventKind.RESULT)),
    Choice("raw", "Raw", (EventKind.RAW,)),
)


@dataclass(frozen=True)
class Window:
    """Numbers of events in order, and whether the filters let through more on either side."""

    seqs: Sequence[int]
    more_before: bool
    more_after: bool
    outside: int | None = None
    """The event that was asked for, where the filters hide it."""


def chosen(names: Sequence[str]) -> tuple[Choice, ...]:
    """The filters of those names; none or all of them: no filter."""
    found = tuple(choice for choice in CHOICES if choice.name in names)
    return () if len(found) == len(CHOICES) else found


def search_kinds(filters: Sequence[Choice]) -> tuple[str, ...]:
    """What a search must look through: a call is found by its result as well."""
    kinds = {kind for choice in filters for kind in choice.kinds}
    if any(choice.extra is not None for choice in filters):
        kinds |= {EventKind.TOOL_CALL, EventKind.TOOL_RESULT}
    if any(choice.name == "agents" for choice in filters):
        return ()
    return tuple(sorted(kinds))


def window_after(trace: Trace, filters: Sequence[Choice], after: int, limit: int = PAGE) -> Window:
    """The next `limit` events after number `after`."""
    found = _seqs(trace, filters, after, limit + 1, forward=True)
    return Window(
        found[:limit], after > 0 and bool(_seqs(trace, filters, after + 1, 1, forward=False)), len(found) > limit
    )


def window_before(trace: Trace, filters: Sequence[Choice], before: int, limit: int = PAGE) -> Window:
    """The last `limit` events before number `before`."""
    found = _seqs(trace, filters, before, limit + 1, forward=False)[::-1]
    more_after = bool(_seqs(trace, filters, before - 1, 1, forward=True))
    return Window(found[-limit:], len(found) > limit, more_after)


def window_around(trace: Trace, filters: Sequence[Choice], seq: int, limit: int = PAGE) -> Window:
    """About half before `seq`, and the rest from it on. `seq` itself is there even if the filters hide it."""
    before = window_before(trace, filters, seq, limit // 3)
    after = window_after(trace, filters, seq - 1, limit - len(before.seqs))
    seqs = sorted({*before.seqs, *after.seqs, seq})
    return Window(seqs, before.more_before, after.more_after, None if seq in after.seqs else seq)


def _seqs(trace: Trace, filters: Sequence[Choice], seq: int, limit: int, *, forward: bool) -> list[int]:
    """At most `limit` numbers beyond `seq`, the nearest first.

    One query a kind, each answered from an index; `extra` is only looked for as far as the kinds reach.
    """
    rows = Event.objects.filter(trace=trace)
    if not filters:
        return _nearest(rows.exclude(PAIRED), seq, limit, forward)
    kinds = {kind for choice in filters for kind in choice.kinds}
    found = {each for kind in kinds for each in _nearest(rows.filter(kind=kind), seq, limit, forward)}
    names = {choice.name for choice in filters}
    for choice in filters:
        if choice.extra is None or (choice.name in ("edits", "errors") and "tools" in names):
            continue
        reach = sorted(found, reverse=not forward)[limit - 1 : limit]
        part = rows.filter(choice.extra)
        if reach:
            part = part.filter(seq__lt=reach[0]) if forward else part.filter(seq__gt=reach[0])
        found.update(_nearest(part, seq, limit, forward))
    return sorted(found, reverse=not forward)[:limit]


def _nearest(rows: "QuerySet[Event]", seq: int, limit: int, forward: bool) -> list[int]:
    part = rows.filter(seq__gt=seq).order_by("seq") if forward else rows.filter(seq__lt=seq).order_by("-seq")
    return list(part.values_list("seq", flat=True)[:limit])


def allows(filters: Sequence[Choice], event: Event) -> bool:
    """Whether the filters let through an event that a search found. A result counts as its call."""
    names = {choice.name for choice in filters}
    is_call = event.kind in (EventKind.TOOL_CALL, EventKind.TOOL_RESULT)
    return (
        not filters
        or any(event.kind in choice.kinds for choice in filters)
        or ("tools" in names and is_call)
        or ("edits" in names and is_call and event.tool in TOOLS)
        or ("errors" in names and event.kind == EventKind.TOOL_RESULT and event.failed is True)
        or ("agents" in names and event.agent != "")
    )


def count_of(trace: Trace, filters: Sequence[Choice]) -> int:
    """How many events the filters let through; without filters all of them, results counted too."""
    if not filters:
        return trace.event_count
    where = Q(pk__in=[])
    for choice in filters:
        where |= Q(kind__in=choice.kinds)
        if choice.extra is not None:
            where |= choice.extra
    return Event.objects.filter(where, trace=trace).count()
