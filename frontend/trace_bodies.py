"""The whole of one event, a piece at a time: what unfolds below its row."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from frontend import ansi
from frontend.trace_edits import Edit, edits_of
from frontend.trace_rows import ARGUMENTS, TELLING, result_of
from frontend.trace_text import harmless, size, spans
from traces.contract import EventKind
from traces.models import Event
from traces.selectors import body, body_part
from traces.storage.files import read_part

PIECE = 24_000
"""Bytes of a text that are shown at once."""
SPANS = 60
"""Coloured pieces of text that are shown at once, unless one line has more."""


@dataclass(frozen=True)
class Piece:
    """Bytes `start` to `end` of `total`, as coloured spans. `previous` and `following` are offsets to ask for."""

    of: str
    spans: Sequence[ansi.Span]
    start: int
    end: int
    total: int
    previous: int | None
    following: int | None

    @property
    def told(self) -> str:
        """Empty when all is shown."""
        if self.start == 0 and self.end >= self.total:
            return ""
        return f"bytes {self.start:,} to {self.end:,} of {self.total:,}"


@dataclass(frozen=True)
class Whole:
    """What unfolds: the change or the arguments of a call, its text, and its result."""

    event: Event
    result: Event | None
    edits: Sequence[Edit]
    arguments: str
    text: Piece | None
    answer: Piece | None
    raw: Piece | None = None

    @property
    def raw_size(self) -> str:
        return size(self.event.length)


def whole(event: Event, *, of: str = "", offset: int = 0) -> Whole:
    """`of`: whose `offset` it is, `text`, `answer` or `raw`. Raises: OSError."""
    if of == "raw":
        return Whole(event, None, (), "", None, None, raw_piece(event, offset))
    result = result_of(event) if event.kind == EventKind.TOOL_CALL else None
    arguments = body(event).arguments if 0 < event.argument_bytes <= ARGUMENTS else None
    edits = edits_of(arguments)
    told = "" if edits else _arguments(event, arguments)
    text = text_piece(event, "text", offset if of == "text" else 0) if event.text_bytes else None
    answer = text_piece(result, "answer", offset if of == "answer" else 0) if result and result.text_bytes else None
    return Whole(event, result, edits, told, text, answer)


def _arguments(event: Event, arguments: Any) -> str:
    if event.argument_bytes > ARGUMENTS:
        return f"{harmless(event.preview)}… {size(event.argument_bytes)}: see the raw record"
    if isinstance(arguments, dict) and len(arguments) <= 2:
        known = [arguments[name] for name in TELLING if isinstance(arguments.get(name), str)]
        if known and len(known[0]) <= PIECE:
            return harmless(known[0])
    told = "" if arguments is None else json.dumps(arguments, ensure_ascii=False, indent=1)
    return harmless(told if len(told) <= PIECE else told[:PIECE] + "…")


def text_piece(event: Event, of: str, offset: int) -> Piece:
    """A piece of the event's text from byte `offset` on, cut at a line where there is one. Raises: OSError."""
    return _piece(of, body_part(event, offset, PIECE), offset, event.text_bytes)


def raw_piece(event: Event, offset: int) -> Piece:
    """The same of its record in the stored transcript. Raises: OSError."""
    length = max(0, min(PIECE, event.length - offset))
    return _piece(
        "raw", read_part(event.trace.folder / "transcript", event.offset + offset, length), offset, event.length
    )


def _piece(of: str, data: bytes, start: int, total: int) -> Piece:
    if start + len(data) < total:
        data = data[: data.rfind(b"\n") + 1] or _trimmed(data)
    text = data.decode("utf-8", "replace")
    shown, used = spans(text, SPANS)
    if used < len(text):
        lines = data.split(b"\n")[: text.count("\n", 0, used)]
        data = b"\n".join([*lines, b""])
    end = start + len(data)
    return Piece(
        of, shown, start, end, total, max(0, start - PIECE) if start else None, end if data and end < total else None
    )


def _trimmed(data: bytes) -> bytes:
    """Without a last character that is not whole."""
    for cut in range(1, min(4, len(data)) + 1):
        if data[-cut] >= 0xC0:
            return data[:-cut] if len(data) > cut else data
        if data[-cut] < 0x80:
            break
    return data
