"""Events as rows of the list: a call stands with its result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from frontend.formats import clock, count, length
from frontend.trace_edits import edits_of
from frontend.trace_images import image_count
from frontend.trace_text import harmless, one_line, size
from traces.contract import EventKind
from traces.models import Event, Trace
from traces.selectors import body, body_part

SHOWN = 1500
"""Bytes of a message that stand in the list; the rest unfolds."""
GIST = 240
ARGUMENTS = 1 << 16
"""Larger arguments are only previewed."""
NAMES = {
    EventKind.SESSION: "Session",
    EventKind.SYSTEM: "System",
    EventKind.USER: "User",
    EventKind.ASSISTANT: "Agent",
    EventKind.THINKING: "Reasoning",
    EventKind.TOOL_CALL: "Tool",
    EventKind.TOOL_RESULT: "Result",
    EventKind.USAGE: "Usage",
    EventKind.NOTICE: "Notice",
    EventKind.ERROR: "Error",
    EventKind.RESULT: "Summary",
    EventKind.RAW: "Raw",
}
CLASSES = {
    EventKind.ASSISTANT: "msg",
    EventKind.USER: "msg",
    EventKind.THINKING: "think",
    EventKind.TOOL_CALL: "tool",
    EventKind.TOOL_RESULT: "tool",
    EventKind.ERROR: "err",
    EventKind.RAW: "raw",
}
TELLING = (
    "command",
    "cmd",
    "file_path",
    "path",
    "filePath",
    "pattern",
    "query",
    "url",
    "description",
    "code",
    "prompt",
)
"""Arguments that say most about a call, the best first."""


@dataclass(frozen=True)
class Row:
    """One row. `gist` heads what folds, `text` is a message's beginning, `answer` a result's."""

    event: Event
    result: Event | None
    elapsed_s: float | None
    gist: str
    text: str
    answer: str
    notes: Sequence[str]
    failed: bool
    images: Sequence[tuple[int, int]] = field(default=())
    """Event number and place of each thumbnail."""
    trace_key: str = ""

    @property
    def clock(self) -> str:
        return clock(self.elapsed_s) if self.elapsed_s is not None else ""

    @property
    def look(self) -> str:
        return "err" if self.failed else CLASSES.get(EventKind(self.event.kind), "sys")

    @property
    def name(self) -> str:
        if self.event.kind == EventKind.TOOL_CALL and self.event.tool:
            return harmless(self.event.tool)
        return NAMES[EventKind(self.event.kind)]

    @property
    def under(self) -> str:
        """The second line of the kind."""
        if self.event.agent:
            return f"sub-agent {harmless(self.event.agent)}"
        if self.event.kind == EventKind.TOOL_CALL:
            return "failed" if self.failed else "tool call"
        if self.event.kind == EventKind.TOOL_RESULT:
            return f"from {harmless(self.event.tool)}" if self.event.tool else "of a call"
        return harmless(str(self.event.detail.get("reason") or self.event.detail.get("subtype") or ""))[:40]

    @property
    def folds(self) -> bool:
        return bool(self.gist)

    @property
    def place(self) -> str:
        """The query of its permalink: source line, and the call's id or the event's number."""
        which = {"call": self.event.call_id} if self.event.kind == EventKind.TOOL_CALL and self.event.call_id else {}
        return urlencode({"line": self.event.line, **(which or {"event": self.event.seq})})

    @property
    def tokens(self) -> str:
        return f"{count(self.event.tokens_output)} tokens" if self.event.tokens_output else ""


def rows_of(trace: Trace, seqs: Sequence[int], start: datetime | None) -> list[Row]:
    """The rows of those events, in the order given. Raises: OSError: the trace's files are not here."""
    events = {event.seq: event for event in Event.objects.filter(trace=trace, seq__in=seqs)}
    for event in events.values():
        event.trace = trace
    results = _results(trace, events)
    return [_row(events[seq], results.get(seq), start) for seq in seqs if seq in events]


def result_of(event: Event) -> Event | None:
    """The result that answers a call."""
    return _results(event.trace, {event.seq: event}).get(event.seq)


def _results(trace: Trace, events: Mapping[int, Event]) -> dict[int, Event]:
    calls = [event.call_id for event in events.values() if event.kind == EventKind.TOOL_CALL and event.call_id]
    found: dict[int, Event] = {}
    for result in Event.objects.filter(trace=trace, kind=EventKind.TOOL_RESULT, call_id__in=calls) if calls else ():
        if result.call_seq is not None and result.call_seq in events:
            result.trace = trace
            found[result.call_seq] = result
    return found


def _row(event: Event, result: Event | None, start: datetime | None) -> Row:
    moment = event.at or (result.at if result else None)
    elapsed = (moment - start).total_seconds() if moment and start else None
    gist, text, notes = _told(event)
    if result is not None:
        notes += _result_notes(result)
    elif event.kind == EventKind.TOOL_RESULT:
        notes += _result_notes(event)
    failed = event.kind == EventKind.ERROR or bool((result or event).failed)
    pictures = [(each.seq, at) for each in (event, result) if each for at in range(image_count(each))]
    answer = one_line(result.preview, GIST) if result is not None else ""
    if pictures and answer.startswith("[image "):
        answer = ""
    return Row(event, result, elapsed, gist, text, answer, notes, failed, pictures, event.trace.key)


def _told(event: Event) -> tuple[str, str, list[str]]:
    """Head of what folds, text of what does not, notes."""
    if event.kind == EventKind.TOOL_CALL:
        arguments = body(event).arguments if event.argument_bytes <= ARGUMENTS else None
        notes = [] if event.argument_bytes <= ARGUMENTS else [size(event.argument_bytes)]
        edits = edits_of(arguments)
        if edits:
            return edits[0].path or "edit", "", [*notes, edits[0].told]
        return gist_of(arguments) or one_line(event.preview, GIST) or "no arguments", "", notes
    if event.kind in (EventKind.ASSISTANT, EventKind.USER, EventKind.SYSTEM) and event.text_bytes <= SHOWN:
        return "", harmless(body(event).text), []
    if event.kind in (EventKind.ASSISTANT, EventKind.USER):
        text = body_part(event, 0, SHOWN).decode("utf-8", "replace").rstrip("\ufffd")
        return f"all {size(event.text_bytes)}", harmless(text) + "…", []
    short = event.text_bytes <= GIST and not event.argument_bytes and len(event.preview) < GIST
    if short and event.kind != EventKind.RAW:
        return "", harmless(event.preview) or _detail(event.detail), []
    return one_line(event.preview, GIST) or "nothing", "", [size(event.text_bytes)] if event.text_bytes > GIST else []


def gist_of(arguments: Any) -> str:
    """The one argument that says most, on one line."""
    if isinstance(arguments, str):
        return one_line(arguments, GIST)
    if not isinstance(arguments, Mapping):
        return ""
    known = next((arguments[name] for name in TELLING if arguments.get(name)), None)
    if isinstance(known, list):
        known = " ".join(map(str, known))
    return one_line(known, GIST) if isinstance(known, str) else ""


def _detail(detail: Any) -> str:
    told = [f"{name}: {value}" for name, value in detail.items() if isinstance(value, str | int | float)]
    return one_line(", ".join(told), GIST)


def _result_notes(result: Event) -> list[str]:
    exit_code = result.detail.get("exit_code")
    notes = [f"exit {exit_code}"] if isinstance(exit_code, int) else ["failed"] if result.failed else []
    if result.duration_s is not None:
        notes.append("clock went backwards" if "clock_skew" in result.detail else length(result.duration_s))
    return [*notes, size(result.text_bytes)] if result.text_bytes > GIST else notes
