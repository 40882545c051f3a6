"""Reading stored traces: pages, places, whole bodies, and text found in them."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from traces.contract import EventKind
from traces.models import Event, Trace
from traces.storage.files import read_part
from traces.storage.searching import Extent, folded, found_in

LIMIT = 100
LIMIT_MOST = 1000


@dataclass(frozen=True, slots=True)
class Page:
    """Events in order, and whether there are more on either side (of the kinds asked for)."""

    events: Sequence[Event]
    more_before: bool
    more_after: bool


@dataclass(frozen=True, slots=True)
class Hit:
    event: Event
    excerpt: str
    """Text around the match, without case."""


@dataclass(frozen=True, slots=True)
class Hits:
    """Matches in order."""

    hits: Sequence[Hit]
    more: bool
    """The trace goes on: ask again with `after_seq=through`."""
    through: int
    """The last event searched."""


@dataclass(frozen=True, slots=True)
class Body:
    """The whole of an event."""

    text: str
    arguments: Any


def page(
    trace: Trace,
    *,
    after_seq: int | None = None,
    before_seq: int | None = None,
    kinds: Iterable[str] = (),
    limit: int = LIMIT,
) -> Page:
    """`limit` events after `after_seq`, or the last ones before `before_seq`; from the start when neither is given."""
    limit = max(1, min(limit, LIMIT_MOST))
    rows = Event.objects.filter(trace=trace).of_kinds(tuple(kinds))
    if before_seq is not None:
        found = list(rows.filter(seq__lt=before_seq).order_by("-seq")[: limit + 1])
        events = found[:limit][::-1]
        return Page(events, len(found) > limit, rows.filter(seq__gte=before_seq).exists())
    after = after_seq or 0
    found = list(rows.filter(seq__gt=after).order_by("seq")[: limit + 1])
    return Page(found[:limit], after > 0 and rows.filter(seq__lte=after).exists(), len(found) > limit)


def place(
    trace: Trace,
    *,
    line: int | None = None,
    call_id: str | None = None,
    seq: int | None = None,
    at: datetime | None = None,
) -> Event | None:
    """The event of that source line (or the last one before it), of that call, of that number, or of that moment.

    Kinds play no part: a link works whatever is filtered. None when there is nothing like it.
    """
    rows = Event.objects.filter(trace=trace)
    if line is not None:
        last = rows.filter(line__lte=line).order_by("-line").values_list("line", flat=True).first()
        return rows.filter(line=last).order_by("seq").first() if last is not None else rows.order_by("seq").first()
    if call_id is not None:
        return rows.filter(call_id=call_id).exclude(call_id="").order_by("seq").first()
    if seq is not None:
        return rows.filter(seq__lte=seq).order_by("-seq").first()
    if at is not None:
        return (
            rows.filter(at__gte=at).order_by("at", "seq").first()
            or rows.filter(at__isnull=False).order_by("-at").first()
        )
    return None


def around(trace: Trace, *, kinds: Iterable[str] = (), limit: int = LIMIT, **where: Any) -> Page:
    """The page with the event that `place` finds for `where` in its middle; empty when it finds none."""
    target = place(trace, **where)
    if target is None:
        return Page([], False, False)
    limit = max(2, min(limit, LIMIT_MOST))
    before = page(trace, before_seq=target.seq, kinds=kinds, limit=limit // 2)
    after = page(trace, after_seq=target.seq - 1, kinds=kinds, limit=limit - len(before.events))
    return Page([*before.events, *after.events], before.more_before, after.more_after)


def body(event: Event) -> Body:
    """The event's whole text and arguments. Raises: OSError: the trace's files are not here."""
    data = read_part(event.trace.folder / "bodies", event.body_offset, event.text_bytes + event.argument_bytes)
    arguments = data[event.text_bytes :].decode("utf-8", "surrogatepass")
    text = data[: event.text_bytes].decode("utf-8", "surrogatepass")
    return Body(text, json.loads(arguments) if arguments else None)


def body_part(event: Event, offset: int, length: int) -> bytes:
    """`length` bytes of the text's UTF-8 from byte `offset` on: a long text in pieces. Raises: OSError."""
    length = max(0, min(length, event.text_bytes - offset))
    return read_part(event.trace.folder / "bodies", event.body_offset + offset, length)


def source(event: Event) -> bytes:
    """The event's record as it stands in the stored transcript. Raises: OSError."""
    return read_part(event.trace.folder / "transcript", event.offset, event.length)


def search(
    trace: Trace, text: str, kinds: Iterable[str] = (), after_seq: int = 0, limit: int = LIMIT, *, seconds: float = 0.4
) -> Hits:
    """Events after `after_seq` whose text or arguments hold `text`, whatever its case.

    Ends after `limit` matches, or after `seconds` (texts under three characters have no filter to skip by).
    Raises: OSError: the trace's files are not here.
    """
    limit = max(1, min(limit, LIMIT_MOST))
    extent = Extent(trace.search_bytes, trace.event_count, trace.filter_bytes)
    wanted = frozenset(EventKind(kind) for kind in kinds)
    matches = found_in(trace.folder, folded(text), extent, kinds=wanted, after=after_seq, seconds=seconds)
    found = [match for match, _ in zip(matches, range(limit + 1), strict=False)]
    late = found.pop().seq if found and not found[-1].excerpt else None
    more = len(found) > limit or late is not None
    found = found[:limit]
    rows = {row.seq: row for row in Event.objects.filter(trace=trace, seq__in=[match.seq for match in found])}
    hits = [Hit(rows[match.seq], match.excerpt.decode("utf-8", "replace")) for match in found]
    through = trace.event_count if not more else (late if late is not None else found[-1].seq)
    return Hits(hits, more, through)
