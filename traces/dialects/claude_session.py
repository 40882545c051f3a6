"""The session files that Claude Code keeps in its home folder."""

from collections.abc import Iterable
from typing import Any

from traces.contract import EventKind, Record, TraceEvent
from traces.dialects.claude_messages import Messages
from traces.dialects.common import LineBase, event, moment, name_of, some, text_of

ASIDE = frozenset({"summary", "file-history-snapshot", "queue-operation", "progress", "attachment", "ai-title"})


class ClaudeSession(LineBase):
    name = "claude-session"
    agent = "Claude Code"

    def __init__(self, read_back: Any) -> None:
        super().__init__(read_back)
        self._messages = Messages()
        self._session = ""

    @classmethod
    def recognises(cls, value: dict[str, Any]) -> bool:
        kind = value.get("type")
        if kind in ("user", "assistant"):
            return "sessionId" in value and isinstance(value.get("message"), dict)
        if kind == "system":
            return "sessionId" in value
        return kind in ASIDE and ("sessionId" in value or "leafUuid" in value or "messageId" in value)

    def record(self, record: Record) -> Iterable[TraceEvent] | None:
        value = record.value
        session, at = name_of(value.get("sessionId")), moment(value.get("timestamp"))
        events = [self._start(record, session, at)] if session and session != self._session else []
        if value["type"] in ("user", "assistant"):
            agent = name_of(value.get("agentId")) or ("sidechain" if value.get("isSidechain") is True else "")
            return [*events, *self._messages.events(record, at=at, agent=agent, session=session)]
        text = text_of(value.get("content") or value.get("summary") or value.get("subtype")) or name_of(value["type"])
        detail = some(type=value.get("subtype") or value["type"], level=value.get("level"))
        return [*events, event(record, EventKind.NOTICE, text, at=at, session=session, detail=detail)]

    def _start(self, record: Record, session: str, at: Any) -> TraceEvent:
        self._session = session
        value = record.value
        detail = some(agent=self.agent, version=value.get("version"), session=session, cwd=value.get("cwd"))
        return event(record, EventKind.SESSION, "Claude Code", at=at, session=session, detail=detail)
