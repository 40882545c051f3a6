"""OpenCode's `run --format json`. The prompt and the model are not in this stream."""

from collections.abc import Iterable, Iterator
from typing import Any

from traces.contract import EventKind, Record, Tokens, TraceEvent
from traces.dialects.common import LineBase, added, count, epoch, event, mapping, money, name_of, some, text_of


class OpenCode(LineBase):
    name = "opencode"
    agent = "OpenCode"

    def __init__(self, read_back: Any) -> None:
        super().__init__(read_back)
        self._session = ""

    @classmethod
    def recognises(cls, value: dict[str, Any]) -> bool:
        return isinstance(value.get("sessionID"), str) and isinstance(value.get("type"), str) and "timestamp" in value

    def record(self, record: Record) -> Iterable[TraceEvent] | None:
        value = record.value
        session, at = value["sessionID"], epoch(value["timestamp"], 1000)
        events = []
        if session != self._session:
            self._session = session
            detail = {"agent": self.agent, "session": session}
            events.append(event(record, EventKind.SESSION, "OpenCode", at=at, session=session, detail=detail))
        if value["type"] == "error":
            return [*events, _error(record, value.get("error"), at, session)]
        found = part_events(record, mapping(value.get("part")), at, session)
        return None if found is None and not events else [*events, *(found or [])]


def part_events(record: Record, part: Any, at: Any, session: str) -> list[TraceEvent] | None:
    """Events of one message part, as the stream and the export have it."""
    times, message = mapping(part.get("time")), name_of(part.get("messageID"))
    common = {"at": epoch(times.get("start"), 1000) or at, "session": session, "message_id": message}
    match part.get("type"):
        case "text":
            return [event(record, EventKind.ASSISTANT, text_of(part.get("text")), **common)]
        case "reasoning":
            return [event(record, EventKind.THINKING, text_of(part.get("text")), **common)]
        case "tool":
            return list(_tool(record, part, at, session))
        case "step-start":
            return [event(record, EventKind.NOTICE, "step started", **common)]
        case "step-finish":
            return [_step(record, part, common)]
    return None


def _tool(record: Record, part: Any, at: Any, session: str) -> Iterator[TraceEvent]:
    """One line has both the call and, once it is over, its result."""
    state = mapping(part.get("state"))
    times, status = mapping(state.get("time")), name_of(state.get("status"))
    names = {
        "tool": name_of(part.get("tool")),
        "call_id": name_of(part.get("callID")),
        "session": session,
        "message_id": name_of(part.get("messageID")),
    }
    start = epoch(times.get("start"), 1000) or at
    yield event(record, EventKind.TOOL_CALL, arguments=state.get("input"), at=start, **names)
    if status in ("completed", "error"):
        metadata = mapping(state.get("metadata"))
        code = metadata.get("exit", metadata.get("exitCode"))
        text = text_of(state.get("output") if status == "completed" else state.get("error") or state.get("output"))
        yield event(
            record,
            EventKind.TOOL_RESULT,
            text,
            at=epoch(times.get("end"), 1000) or at,
            failed=status == "error" or code not in (None, 0),
            detail=some(exit_code=code, title=name_of(state.get("title"))[:200], status=status),
            **names,
        )


def _step(record: Record, part: Any, common: dict[str, Any]) -> TraceEvent:
    tokens = opencode_tokens(part.get("tokens"))
    detail = some(reason=part.get("reason"))
    return event(
        record, EventKind.USAGE, "step finished", tokens=tokens, cost=money(part.get("cost")), detail=detail, **common
    )


def opencode_tokens(value: Any) -> Tokens | None:
    """`input` leaves the cache out, and `total` tells whether `output` leaves reasoning out."""
    said = mapping(value)
    if not said:
        return None
    cache = mapping(said.get("cache"))
    read, written = count(cache.get("read")), count(cache.get("write"))
    prompt = added(count(said.get("input")), read, written)
    output, reasoning, total = count(said.get("output")), count(said.get("reasoning")), count(said.get("total"))
    if total is not None and total == added(prompt, output, reasoning) and reasoning:
        output = added(output, reasoning)
    return Tokens(prompt, output, read, reasoning)


def _error(record: Record, error: Any, at: Any, session: str) -> TraceEvent:
    said = mapping(error)
    data = mapping(said.get("data"))
    text = text_of(data.get("message") or said.get("message") or error)
    detail = some(name=said.get("name"), status=data.get("statusCode"))
    return event(record, EventKind.ERROR, text, at=at, session=session, detail=detail)
