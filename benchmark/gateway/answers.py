"""Reading a provider's answer while it passes through: its usage, and an error that stands inside a stream."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from benchmark.gateway.ledger import Kind
from benchmark.gateway.trouble import kind_in_answer
from benchmark.gateway.usage import Reader, Usage

MOST_KEPT = 64 << 20
"""Of an answer that is not streamed; one line of a stream may be as long."""


class AnswerReader:
    """Feed it what passes; `close` tells what is known at the end. It never delays and never fails."""

    def __init__(self, content_type: str, read: Reader) -> None:
        self.streamed = content_type.startswith("text/event-stream")
        self.usage: Usage | None = None
        self.error = ""
        """The text of an error that came inside the stream, which is trouble of that `kind`."""
        self.kind: Kind = "error"
        self._read = read
        self._kept = bytearray()

    def feed(self, chunk: bytes) -> None:
        if len(self._kept) + len(chunk) > MOST_KEPT:
            self._kept.clear()
            return
        self._kept += chunk
        if self.streamed and b"\n" in chunk:
            *lines, rest = self._kept.split(b"\n")
            self._kept = bytearray(rest)
            for line in lines:
                self._line(line)

    def close(self) -> Usage | None:
        if self.streamed:
            self._line(self._kept)
        else:
            for message in _messages(bytes(self._kept)):
                self._take(message)
        self._kept.clear()
        return self.usage

    def _line(self, line: bytes | bytearray) -> None:
        """Only lines that may matter are read as JSON: a stream has thousands."""
        if line.startswith(b"data:") and (b'"usage' in line or b'"error"' in line[:200]):
            for message in _messages(bytes(line[5:])):
                self._take(message)

    def _take(self, message: Mapping[str, Any]) -> None:
        self.usage = self._read(message, self.usage)
        error = message.get("error") or (message.get("response") or {}).get("error")
        if not error and self.streamed and message.get("type") == "error":
            error = {name: message.get(name) for name in ("code", "message")}
        if error and (self.streamed or isinstance(error, Mapping)):
            self.error, self.kind = error_text(error), kind_in_answer(error)


def error_text(error: Any) -> str:
    """What a provider's error says, for people: at most 300 characters."""
    if isinstance(error, Mapping):
        words = [str(error[key]) for key in ("type", "status", "code", "message") if error.get(key)]
        return ": ".join(dict.fromkeys(words))[:300]
    return str(error)[:300]


def _messages(data: bytes) -> Iterator[Mapping[str, Any]]:
    """The JSON object, or those of a list: Gemini streams one where no event stream was asked for."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return
    for each in found if isinstance(found, list) else [found]:
        if isinstance(each, Mapping):
            yield each
