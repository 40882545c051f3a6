"""OpenCode's `export`: one document with the session and its messages; a line of text may stand before it."""

from collections.abc import Iterable
from typing import Any

from traces.contract import DocumentHead, EventKind, Record, TraceEvent
from traces.dialects.common import DocumentBase, epoch, event, mapping, money, name_of, some, text_of
from traces.dialects.opencode import opencode_tokens, part_events


class OpenCodeExport(DocumentBase):
    name = "opencode-export"
    agent = "OpenCode"

    def __init__(self, read_back: Any) -> None:
        super().__init__(read_back)
        self._session = ""
        self._message: Any = {}

    @classmethod
    def detects(cls, head: DocumentHead) -> bool:
        return not head.is_list and "messages" in head.keys and b'"ses' in head.keys.get("info", b"")

    @classmethod
    def opens(cls, path: tuple[str | int, ...]) -> bool:
        return len(path) < 4 and path[:1] in ((), ("messages",)) and path[2:] in ((), ("parts",))

    def record(self, record: Record) -> Iterable[TraceEvent] | None:
        path, value = record.path, record.value
        if record.closed:
            return ()
        if path == ("info",):
            return [self._start(record, mapping(value))]
        if len(path) == 3 and path[2] == "info":
            self._message = mapping(value)
            return self._said(record)
        if len(path) == 4 and path[2] == "parts":
            at = epoch(mapping(self._message.get("time")).get("created"), 1000)
            part = mapping(value)
            if self._message.get("role") == "user" and part.get("type") == "text":
                return [event(record, EventKind.USER, text_of(part.get("text")), at=at, session=self._session)]
            return part_events(record, part, at, self._session)
        return None

    def _start(self, record: Record, info: Any) -> TraceEvent:
        self._session = name_of(info.get("id"))
        at = epoch(mapping(info.get("time")).get("created"), 1000)
        detail = some(agent=self.agent, version=info.get("version"), session=self._session, title=info.get("title"))
        return event(record, EventKind.SESSION, "OpenCode", at=at, session=self._session, detail=detail)

    def _said(self, record: Record) -> list[TraceEvent]:
        """Usage is on the message and again on its steps: the steps count."""
        message = self._message
        error = mapping(message.get("error"))
        events = []
        if error:
            text = text_of(mapping(error.get("data")).get("message") or dict(error))
            events.append(event(record, EventKind.ERROR, text, session=self._session))
        if name_of(message.get("modelID")):
            detail = some(model=message.get("modelID"), provider=message.get("providerID"))
            detail |= some(
                message_tokens=opencode_tokens(message.get("tokens")) is not None, cost=money(message.get("cost"))
            )
            events.append(event(record, EventKind.NOTICE, "message", session=self._session, detail=detail))
        return events
