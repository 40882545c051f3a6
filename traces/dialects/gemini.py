"""Gemini CLI's stream-json. Messages come in pieces that are joined; a file may hold several runs."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from traces.contract import Basis, EventKind, Record, Tokens, TraceEvent
from traces.dialects.common import LineBase, count, event, mapping, moment, name_of, some, text_of

ROLES = {"user": EventKind.USER, "assistant": EventKind.ASSISTANT, "model": EventKind.ASSISTANT}


class Gemini(LineBase):
    name = "gemini"
    agent = "Gemini CLI"

    def __init__(self, read_back: Any) -> None:
        super().__init__(read_back)
        self._session = ""
        self._open: TraceEvent | None = None
        self._pieces: list[str] = []
        self._end = 0

    @classmethod
    def recognises(cls, value: dict[str, Any]) -> bool:
        if "timestamp" not in value and "ts" not in value:
            return False
        match value.get("type"):
            case "init":
                return "session_id" in value and "model" in value
            case "message":
                return value.get("role") in ROLES and "content" in value
            case "tool_use":
                return "tool_name" in value and "tool_id" in value
            case "tool_result":
                return "tool_id" in value
            case "result":
                return "stats" in value or "status" in value
            case "error":
                return "message" in value
        return False

    def record(self, record: Record) -> Iterable[TraceEvent] | None:
        value = record.value
        kind = EventKind.RAW if value["type"] != "message" else ROLES[value["role"]]
        if value.get("delta") is True and self._open is not None and self._open.kind == kind:
            self._pieces.append(text_of(value.get("content")))
            self._end = record.offset + record.length
            return []
        ended = self.finish()
        if value.get("delta") is True and kind != EventKind.RAW:
            self._open = self._event(record, kind)
            self._pieces, self._end = [text_of(value.get("content"))], record.offset + record.length
            return ended
        found = self._one(record)
        return None if found is None and not ended else [*ended, *(found or [])]

    def finish(self) -> list[TraceEvent]:
        opened, self._open = self._open, None
        if opened is None:
            return []
        return [replace(opened, text="".join(self._pieces), length=self._end - opened.offset)]

    def _event(self, record: Record, kind: EventKind, text: str = "", **values: Any) -> TraceEvent:
        at = moment(record.value.get("timestamp") or record.value.get("ts"))
        return event(record, kind, text, at=at, session=self._session, **values)

    def _one(self, record: Record) -> list[TraceEvent] | None:
        value = record.value
        match value["type"]:
            case "init":
                self._session = name_of(value.get("session_id"))
                detail = some(agent=self.agent, model=value.get("model"), session=self._session)
                return [self._event(record, EventKind.SESSION, "Gemini CLI", detail=detail)]
            case "message":
                return [self._event(record, ROLES[value["role"]], text_of(value.get("content")))]
            case "tool_use":
                names = {"tool": name_of(value.get("tool_name")), "call_id": name_of(value.get("tool_id"))}
                return [self._event(record, EventKind.TOOL_CALL, arguments=value.get("parameters"), **names)]
            case "tool_result":
                return [self._result(record)]
            case "error":
                detail = some(severity=value.get("severity"))
                return [self._event(record, EventKind.ERROR, text_of(value.get("message")), detail=detail)]
            case "result":
                return [self._ended(record)]
        return None

    def _result(self, record: Record) -> TraceEvent:
        value = record.value
        error, status = mapping(value.get("error")), name_of(value.get("status"))
        text = text_of(value.get("output")) or text_of(error.get("message"))
        return self._event(
            record,
            EventKind.TOOL_RESULT,
            text,
            call_id=name_of(value.get("tool_id")),
            failed=status == "error" if status else None,
            detail=some(status=status, error=error.get("type")),
        )

    def _ended(self, record: Record) -> TraceEvent:
        value = record.value
        stats, error = mapping(value.get("stats")), mapping(value.get("error"))
        calls = count(stats.get("tool_calls"))
        tokens = Tokens(count(stats.get("input_tokens")), count(stats.get("output_tokens")), count(stats.get("cached")))
        return self._event(
            record,
            EventKind.RESULT,
            text_of(error.get("message")) or name_of(value.get("status")),
            failed=value.get("status") == "error" if "status" in value else None,
            tokens=tokens if stats else None,
            basis=Basis.TOTAL,
            detail=some(duration_ms=stats.get("duration_ms"), models=sorted(mapping(stats.get("models"))))
            | ({"declared": {"tool_calls": calls}} if calls is not None else {}),
        )
