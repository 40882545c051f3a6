"""Where a link or a person wants to go in a trace: an event's number, whatever the filters."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from frontend.numbers import whole_number
from frontend.trace_marks import Mark
from traces.models import Event, Trace
from traces.selectors import place

CLOCK = re.compile(r"(?:(\d{1,4}):)?(\d{1,4}):(\d{2})(?:\.\d+)?")
NOWHERE = (
    "Nothing here is called that. Write an event's number (3164), a time (2:40:51), #7 for submission 7, "
    "L120 for line 120, or the id of a call."
)


def linked(trace: Trace, asked: Mapping[str, str]) -> int | None:
    """The event that a permalink's query names: `line` with `call` or `event`, or one of them alone.

    A line's event stays the same when the transcript is read in again; a number that no longer fits its line yields.
    """
    line, seq = whole_number(asked.get("line")), whole_number(asked.get("event"))
    if asked.get("call"):
        called = Event.objects.filter(trace=trace, call_id=asked["call"][:200]).order_by("seq")
        exact = called.filter(line=line).first() if line is not None else None
        found = exact or called.first()
        if found is not None:
            return shown_at(found)
    if line is not None:
        exact = Event.objects.filter(trace=trace, line=line, seq=seq).first() if seq is not None else None
        found = exact or place(trace, line=line)
        return shown_at(found) if found else None
    if seq is not None:
        found = place(trace, seq=max(1, seq))
        return shown_at(found) if found else None
    return None


def wanted(trace: Trace, text: str, marks: Mapping[int, Mark], start: datetime | None) -> int | None:
    """The event that a person's words name; None: nothing is called that."""
    text = text.strip()
    if text.startswith("#"):
        mark = marks.get(whole_number(text[1:]) or 0)
        return mark.seq if mark else None
    if (clock := CLOCK.fullmatch(text)) and start is not None:
        hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        found = place(trace, at=_later(start, timedelta(hours=hours, minutes=minutes, seconds=seconds)))
    elif re.fullmatch(r"[Ll](?:ine)?\s*\d{1,15}", text):
        found = place(trace, line=int(re.sub(r"\D", "", text)))
    elif (number := whole_number(text.replace(",", ""))) is not None:
        found = place(trace, seq=max(1, number))
    elif (moment := _moment(text)) is not None:
        found = place(trace, at=moment)
    else:
        found = place(trace, call_id=text[:200]) if text else None
    return shown_at(found) if found else None


def shown_at(event: Event) -> int:
    """The row it stands in: a result stands with its call."""
    return event.call_seq or event.seq


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _later(start: datetime, by: timedelta) -> datetime:
    try:
        return start + by
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)
