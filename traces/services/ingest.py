"""Storing a transcript: a whole file, or one that is still being written."""

import hashlib
import json
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from benchmark.models import Run
from traces.contract import TraceEvent
from traces.models import Trace, TraceState
from traces.reading.reader import Reader
from traces.services.ingest_rows import SEQ, Row, row_of, rows_insert, storable, storable_json
from traces.storage.files import GrowingFile
from traces.storage.searching import SearchWriter, folded, searchable

CHUNK = 1 << 20
BATCH_EVENTS = 2000
BATCH_BYTES = 8 << 20


class OutOfOrder(Exception):
    """A batch begins after the next event that the trace lacks."""


class TraceIngest:
    """Feed the source from its first byte on, in any pieces, then `finish`; `close` in any case.

    Fed again after an interruption, what is stored already is passed over and the rest follows: events depend on the
    source alone. Raises: OSError: the trace's files are damaged or the disk is full; DatabaseError.
    """

    def __init__(self, trace: Trace, *, secrets: Iterable[str] = ()) -> None:
        self.trace = trace
        folder = trace.folder
        with ExitStack() as opened:
            self._transcript = opened.enter_context(GrowingFile(folder / "transcript", trace.transcript_bytes))
            self._bodies = opened.enter_context(GrowingFile(folder / "bodies", trace.body_bytes))
            self._search = SearchWriter(
                folder, texts=trace.search_bytes, events=trace.event_count, filters=trace.filter_bytes
            )
            opened.callback(self._search.close)
            self._opened = opened.pop_all()
        self._digest = hashlib.sha256()
        self._rows: list[Row] = []
        self._bytes = 0
        self.reader = Reader(secrets=secrets, spool=self)

    def write(self, data: bytes) -> None:
        """The reader's spool: the masked transcript."""
        self._digest.update(data)
        self._transcript.write(data)

    def read(self, offset: int, length: int) -> bytes:
        return self._transcript.read(offset, length)

    def feed(self, data: bytes) -> int:
        """How many events became certain."""
        return self._take(self.reader.each(data))

    def flush(self) -> None:
        """Everything certain so far can be read by others."""
        self._store()

    def finish(self) -> Trace:
        """The end of the source: the trace is sealed."""
        self._take(self.reader.finish())
        self._search.finish()
        self._store()
        for file in (self._transcript, self._bodies, self._search.texts, self._search.index, self._search.filters):
            file.sync()
        self._seal()
        return self.trace

    def close(self) -> None:
        self._opened.close()

    def _take(self, events: Iterable[TraceEvent]) -> int:
        count = 0
        for event in events:
            self._add(event)
            count += 1
            if len(self._rows) >= BATCH_EVENTS or self._bytes >= BATCH_BYTES:
                self._store()
        return count

    def _add(self, event: TraceEvent) -> None:
        text = event.text.encode("utf-8", "surrogatepass")
        arguments = "" if event.arguments is None else json.dumps(event.arguments, ensure_ascii=False)
        body = arguments.encode("utf-8", "surrogatepass")
        place = (self._bodies.position, len(text), len(body))
        self._bodies.write(text)
        self._bodies.write(body)
        words = [event.tool, *searchable(event.arguments), event.text] if event.arguments is not None else [event.text]
        self._search.add(event.kind, folded("\n".join(words) if len(words) > 1 else words[0]))
        if event.seq > self.trace.event_count:
            self._rows.append(row_of(self.trace.pk, event, arguments, place))
        self._bytes += len(text) + len(body)

    def _store(self) -> None:
        """Files first, then rows and sizes in one transaction: what the row counts is there."""
        rows, self._rows, self._bytes = self._rows, [], 0
        for file in (self._transcript, self._bodies, self._search):
            file.flush()
        summary = self.reader.summary
        sizes = {
            "transcript_bytes": max(self.trace.transcript_bytes, self._transcript.position),
            "body_bytes": max(self.trace.body_bytes, self._bodies.position),
            "search_bytes": max(self.trace.search_bytes, self._search.texts.position),
            "filter_bytes": max(self.trace.filter_bytes, self._search.filters.position),
            "line_count": self.reader.line - 1,
            "raw_count": summary.kinds["raw"],
            "masked_count": self.reader.stream.masked,
            "dialect": ",".join(summary.dialects)[:64],
        }
        self.trace = events_append(self.trace.pk, rows, **sizes)

    def _seal(self) -> None:
        summary = self.reader.summary
        tokens = summary.tokens
        values = {
            "state": TraceState.SEALED,
            "sealed_at": timezone.now(),
            "sha256": self._digest.hexdigest(),
            "agent": storable(summary.agent)[:128],
            "agent_version": storable(summary.version)[:128],
            "model": storable(summary.model)[:128],
            "first_at": summary.first_at,
            "last_at": summary.last_at,
            "tokens_input": tokens.input,
            "tokens_output": tokens.output,
            "tokens_cached": tokens.cached,
            "tokens_reasoning": tokens.reasoning,
            "cost": summary.cost,
            "summary": storable_json(summary.as_data()),
        }
        Trace.objects.filter(pk=self.trace.pk, state=TraceState.READING).update(**values)
        self.trace.refresh_from_db()


def events_append(trace_id: int, rows: list[Row], **sizes: object) -> Trace:
    """Insert what is new of `rows` and set the sizes, in one transaction; a batch that was sent before changes nothing.

    Raises: OutOfOrder.
    """
    with transaction.atomic():
        trace = Trace.objects.select_for_update().get(pk=trace_id)
        fresh = [row for row in rows if row[SEQ] > trace.event_count]
        if trace.state == TraceState.SEALED or (not fresh and rows):
            return trace
        if fresh:
            if fresh[0][SEQ] != trace.event_count + 1:
                raise OutOfOrder(f"event {fresh[0][SEQ]} after {trace.event_count} of trace {trace_id}")
            rows_insert(fresh)
            sizes["event_count"] = trace.event_count + len(fresh)
        Trace.objects.filter(pk=trace_id).update(**sizes)
        for name, value in sizes.items():
            setattr(trace, name, value)
    return trace


def trace_open(run: Run, *, name: str) -> Trace:
    """A trace for a source that is still being written."""
    return Trace.objects.create(run=run, name=storable(name)[-200:])


def trace_import(run: Run, path: Path, *, name: str = "", secrets: Iterable[str] = ()) -> Trace:
    """Read a finished file into the run. The same file again answers the trace that is there, or reads on in it
    where reading was interrupted or is going on beside.

    Raises: OSError; ValueError: a secret too short to mask.
    """
    digest = file_digest(path)
    with transaction.atomic():
        Run.objects.select_for_update().get(pk=run.pk)
        trace = Trace.objects.filter(run=run, source_sha256=digest).order_by("id").first()
        if trace is None:
            trace = Trace.objects.create(run=run, name=storable(name or path.name)[-200:], source_sha256=digest)
    if trace.state == TraceState.SEALED:
        return trace
    ingest = TraceIngest(trace, secrets=secrets)
    try:
        with path.open("rb") as source:
            while data := source.read(CHUNK):
                ingest.feed(data)
        return ingest.finish()
    finally:
        ingest.close()


def file_digest(path: Path) -> str:
    """SHA-256. Raises: OSError."""
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()
