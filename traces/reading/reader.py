"""From bytes to events: the only entry into reading. Pieces of any size give the same events as the whole file."""

from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from benchmark.masking import Masker
from traces.contract import EventKind, Record, TraceEvent
from traces.dialects import document_dialect, line_dialect, recognised
from traces.dialects.common import WRONG_SHAPE, DocumentBase, LineBase, parsed
from traces.reading.archive import ZIP, Expansion
from traces.reading.documents import Broken, DocumentSplitter, Leaf
from traces.reading.head import HEAD, document_head, is_decided
from traces.reading.lines import parts, stamped
from traces.reading.masked import MaskedStream
from traces.reading.numbering import Numbering
from traces.reading.sound import is_sound
from traces.reading.spool import Spool, TemporarySpool
from traces.reading.summary import Summary
from traces.reading.text import TextGroup

RECORD_LIMIT = 24 << 20
"""Bytes of one JSON value; a longer one is kept as raw pieces of that size."""
SNIFFS = 16
Place = tuple[int, int, int]
"""Line, offset, length."""


class Reader:
    """Feed bytes, then `finish`; both answer the events that became certain. `finish` must be consumed.

    Bad input is never an error: what is not understood becomes a raw event.
    """

    def __init__(self, *, secrets: Iterable[str] = (), spool: Spool | None = None) -> None:
        self.summary = Summary()
        self.stream = MaskedStream(Masker(secrets))
        self.offset = 0
        """Bytes of the masked transcript read into records."""
        self.line = 1
        self._spool = spool or TemporarySpool()
        self._numbering = Numbering(self.summary)
        self._archive: Expansion | None = None
        self._start: bytes | None = b""
        self._head: bytes | None = b""
        self._partial: list[bytes] = []
        self._partial_size = 0
        self._cut_line = False
        self._sniffs = 0
        self._sniffed_line = 1
        self._group = TextGroup()
        self._splitter: DocumentSplitter | None = None
        self._document: DocumentBase | None = None
        self._lines: dict[str, LineBase] = {}
        self._current: LineBase | None = None

    def feed(self, data: bytes) -> list[TraceEvent]:
        return list(self.each(data))

    def each(self, data: bytes) -> Iterator[TraceEvent]:
        """`feed`, one event at a time: the end of a document may tell all of it. Must be consumed."""
        if self._start is not None:
            data, self._start = self._start + data, None
            if len(data) < len(ZIP) and ZIP.startswith(data):
                self._start = data
                return
            self._archive = Expansion() if data.startswith(ZIP) else None
        if self._archive is not None:
            self._archive.write(data)
            return
        yield from self._read(self.stream.feed(data))

    def finish(self) -> Iterator[TraceEvent]:
        start, self._start = self._start, None
        if self._archive is not None:
            for data in self._archive.contents(self.summary.notes):
                yield from self._read(self.stream.feed(data))
        elif start:
            yield from self._read(self.stream.feed(start))
        yield from self._read(self.stream.finish())
        yield from self._numbered(self._taken(b"", final=True))
        yield from self._numbered(self._ended())
        self.summary.unanswered = self._numbering.unanswered
        if self.stream.withheld:
            self.summary.notes.append(f"{self.stream.withheld} lines withheld: masking failed")

    def _read(self, data: bytes) -> Iterator[TraceEvent]:
        if data:
            self._spool.write(data)
            yield from self._numbered(self._taken(data))

    def _numbered(self, events: Iterable[TraceEvent]) -> Iterator[TraceEvent]:
        return map(self._numbering.numbered, events)

    def _taken(self, data: bytes, *, final: bool = False) -> Iterator[TraceEvent]:
        rest = data
        while True:
            if self._head is not None:
                self._head += rest
                if not self._head or (len(self._head) < HEAD and not final and not is_decided(self._head)):
                    return
                rest = self._sniffed()
            if not rest:
                return
            if self._splitter is not None:
                rest = yield from self._document_fed(rest)
            else:
                rest = yield from self._lines_fed(rest)

    def _sniffed(self) -> bytes:
        """Whether a document begins here, or lines; what was held back to tell."""
        head, self._head = self._head or b"", None
        self._sniffed_line = self.line
        found = document_head(head)
        kind = document_dialect(found) if found is not None else None
        if kind is not None:
            self._document = kind(self._spool.read)
            self._name(self._document)
            self._splitter = DocumentSplitter(kind.opens, self.offset, self.line, RECORD_LIMIT)
        return head

    def _name(self, dialect: LineBase | DocumentBase) -> None:
        if dialect.name not in self.summary.dialects:
            self.summary.dialects.append(dialect.name)
        self.summary.agent = self.summary.agent or dialect.agent

    # Documents.

    def _document_fed(self, data: bytes) -> Generator[TraceEvent, None, bytes]:
        splitter = self._splitter
        assert splitter is not None
        try:
            for leaf in splitter.feed(data):
                yield from self._leaf(leaf)
        except Broken:
            yield from self._document_left(splitter)
            return splitter.rest
        if splitter.done:
            yield from self._document_left(splitter)
            self._head = b""
            return splitter.rest
        return b""

    def _document_left(self, splitter: DocumentSplitter) -> Iterator[TraceEvent]:
        if self._document is not None:
            yield from self._document.finish()
        splitter.settle()
        self.offset, self.line = splitter.offset, splitter.line
        self._splitter = self._document = None

    def _leaf(self, leaf: Leaf) -> Iterator[TraceEvent]:
        assert self._document is not None
        place = (leaf.line, leaf.offset, len(leaf.data))
        if leaf.part:
            yield _raw(leaf.data, place, "oversized")
            return
        if leaf.closed:
            yield from self._document.record(Record(None, *place, path=leaf.path, closed=True)) or ()
            return
        try:
            value = parsed(leaf.data)
        except ValueError:
            yield _raw(leaf.data, place, "damaged")
            return
        yield from self._understood(self._document, Record(value, *place, path=leaf.path), leaf.data)

    # Lines.

    def _lines_fed(self, data: bytes) -> Generator[TraceEvent, None, bytes]:
        if b"\n" not in data:
            self._partial.append(data)
            self._partial_size += len(data)
            if self._partial_size > RECORD_LIMIT:
                yield from self._oversized()
            return b""
        lines = b"".join([*self._partial, data]).split(b"\n")
        self._partial, self._partial_size = [lines[-1]], len(lines[-1])
        for index, line in enumerate(lines[:-1]):
            if self._current is None and line[:1] in (b"{", b"[") and self._worth_sniffing(line):
                self._partial, self._partial_size = [], 0
                self._head = b""
                yield from self._group.end()
                return b"\n".join(lines[index:])
            yield from self._line(line)
            self.offset += len(line) + 1
            self.line += 1
        return b""

    def _worth_sniffing(self, line: bytes) -> bool:
        """A document may begin below a line of text; what was sniffed once is not sniffed again."""
        if self.line == self._sniffed_line or self._sniffs >= SNIFFS or line.rstrip() not in (b"{", b"[", b"[{"):
            return False
        self._sniffs += 1
        self._sniffed_line = self.line
        return True

    def _oversized(self) -> Iterator[TraceEvent]:
        data = b"".join(self._partial)
        self._partial, self._partial_size = [], 0
        yield from self._group.end()
        while data:
            piece, data = data[:RECORD_LIMIT], data[RECORD_LIMIT:]
            if len(piece) < RECORD_LIMIT:
                self._partial, self._partial_size = [piece], len(piece)
                break
            yield _raw(piece, (self.line, self.offset, len(piece)), "oversized")
            self.offset += len(piece)
            self._cut_line = True

    def _line(self, line: bytes) -> Iterator[TraceEvent]:
        if self._cut_line:
            self._cut_line = False
            if line:
                yield _raw(line, (self.line, self.offset, len(line)), "oversized")
            return
        at, start = stamped(line)
        if not line.strip():
            yield from self._group.add(line, self.line, self.offset, at, "not_json")
            return
        for part in parts(line, start, self._known):
            piece = line[part.start : part.end]
            if part.value is None:
                yield from self._group.add(piece, self.line, self.offset + part.start, at, part.reason)
                continue
            yield from self._group.end()
            self.summary.recovered += part.reason == "recovered"
            record = Record(part.value, self.line, self.offset + part.start, len(piece), at)
            yield from self._understood(self._reads(part.value), record, piece)

    def _known(self, value: dict[str, Any]) -> bool:
        if self._current is not None:
            return recognised(type(self._current), value)
        return line_dialect(value) is not None

    def _reads(self, value: dict[str, Any]) -> LineBase | None:
        """The dialect of this record: the current one while it recognises what comes."""
        if self._current is not None and recognised(type(self._current), value):
            return self._current
        kind = line_dialect(value)
        if kind is not None:
            if kind.name not in self._lines:
                self._lines[kind.name] = kind(self._spool.read)
                self._name(self._lines[kind.name])
            self._current = self._lines[kind.name]
        return self._current

    def _understood(self, dialect: LineBase | DocumentBase | None, record: Record, data: bytes) -> Iterator[TraceEvent]:
        self.summary.records += 1
        try:
            events = dialect.record(record) if dialect is not None else None
            found = list(events) if events is not None else None
        except WRONG_SHAPE:
            found = None
        if found and not all(map(is_sound, found)):
            found = None
        if found is None:
            yield _raw(data, (record.line, record.offset, record.length), "unknown", record.at)
        elif not found:
            self.summary.merged += 1
        else:
            yield from found

    def _ended(self) -> Iterator[TraceEvent]:
        """The end of the file: what was open is closed."""
        if self._splitter is not None:
            leaf = self._splitter.pending()
            if self._document is not None:
                yield from self._document.finish()
            if leaf is not None:
                yield _raw(leaf.data, (leaf.line, leaf.offset, len(leaf.data)), "cut")
            return
        last = b"".join(self._partial)
        if last.strip():
            for event in self._line(last):
                cut = event.kind == EventKind.RAW and event.detail.get("reason") == "damaged"
                yield replace(event, detail={**event.detail, "reason": "cut"}) if cut else event
        for dialect in self._lines.values():
            yield from dialect.finish()
        for event in self._group.end():
            cut = event.detail.get("reason") == "damaged" and event.offset >= self.offset
            yield replace(event, detail={**event.detail, "reason": "cut"}) if cut else event


def _raw(data: bytes, place: Place, reason: str, at: datetime | None = None) -> TraceEvent:
    return TraceEvent(EventKind.RAW, *place, data.decode("utf-8", "replace"), at=at, detail={"reason": reason})
