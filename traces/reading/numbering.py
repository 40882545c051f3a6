"""Sequence numbers, and results paired with their calls."""

from dataclasses import replace
from datetime import datetime

from traces.contract import EventKind, TraceEvent
from traces.reading.summary import Summary


class Numbering:
    """Numbers events from 1. A result answers the latest unanswered call of its id."""

    def __init__(self, summary: Summary) -> None:
        self._summary = summary
        self._seq = 0
        self._calls: dict[str, tuple[int, datetime | None]] = {}

    @property
    def unanswered(self) -> int:
        return len(self._calls)

    def numbered(self, event: TraceEvent) -> TraceEvent:
        self._seq += 1
        if event.kind == EventKind.TOOL_RESULT and event.call_id in self._calls:
            event = self._answer(event)
        else:
            event = replace(event, seq=self._seq)
        if event.kind == EventKind.TOOL_CALL and event.call_id:
            self._summary.repeated_calls += event.call_id in self._calls
            self._calls[event.call_id] = (self._seq, event.at)
        self._summary.add(event)
        return event

    def _answer(self, event: TraceEvent) -> TraceEvent:
        call_seq, called = self._calls.pop(event.call_id)
        if called is None or event.at is None:
            return replace(event, seq=self._seq, call_seq=call_seq)
        seconds = (event.at - called).total_seconds()
        detail = event.detail if seconds >= 0 else {**event.detail, "clock_skew": seconds}
        return replace(event, seq=self._seq, call_seq=call_seq, duration_s=max(0.0, seconds), detail=detail)
