"""Neighbouring lines of plain text as one event, so that a gigabyte of log is no ten million rows."""

from dataclasses import dataclass, field
from datetime import datetime

from traces.contract import EventKind, TraceEvent

GROUP_LINES = 50
GROUP_BYTES = 4096


@dataclass(slots=True)
class TextGroup:
    """Lines that follow each other. It ends with a record, another reason, its size, or the file."""

    _parts: list[bytes] = field(default_factory=list)
    _size: int = 0
    _line: int = 0
    _offset: int = 0
    _at: datetime | None = None
    _reason: str = ""

    def add(self, data: bytes, line: int, offset: int, at: datetime | None, reason: str) -> list[TraceEvent]:
        """The events that this ends."""
        ended = self.end() if self._parts and (reason != self._reason or offset > self._offset + self._size) else []
        if not self._parts:
            if not data.strip():
                return ended
            self._line, self._offset, self._at, self._reason, self._size = line, offset, at, reason, 0
        self._parts.append(data)
        self._size = offset + len(data) + 1 - self._offset
        if len(self._parts) >= GROUP_LINES or self._size >= GROUP_BYTES:
            ended += self.end()
        return ended

    def end(self) -> list[TraceEvent]:
        if not self._parts:
            return []
        text = b"\n".join(self._parts).decode("utf-8", "replace").rstrip()
        event = TraceEvent(
            EventKind.RAW,
            self._line,
            self._offset,
            self._size - 1,
            text,
            at=self._at,
            detail={"reason": self._reason, "lines": len(self._parts)},
        )
        self._parts = []
        return [event]
