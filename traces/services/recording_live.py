"""Following a log while it is written: when its lines came, its events, and a digest of what was read."""

import hashlib
import logging
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from django.db import DatabaseError

from benchmark.models import Run
from traces.models import Recording, Trace
from traces.services.ingest import OutOfOrder, TraceIngest, trace_open
from traces.services.recording_times import last_offset, times_append, times_path

log = logging.getLogger(__name__)
BLOCK = 1 << 20
LOOK_BYTES = 8 << 20
"""Read in one look; a log that grows faster is caught up with at the end."""
PATIENCE_S = 30.0
"""Before the events are tried again after a fault of the disk or the database."""
NAME = "agent.log"


@dataclass
class LogTail:
    """`look` reads what is new. A fault in storing events delays them; the raw log is not touched."""

    run: Run
    path: Path
    secrets: tuple[str, ...]
    offset: int = 0
    lines: int = 0
    notes: list[str] = field(default_factory=list)
    _digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)
    _ingest: TraceIngest | None = None
    _ingested: int = 0
    _not_before: float = 0.0
    _timed: int | None = None
    """Up to where an earlier worker of the same run has written times."""

    def look(self) -> bool:
        """Whether there was something new, whose events are stored. Raises: OSError: the log cannot be read."""
        fresh = self.read()
        self._events()
        return fresh

    def read(self) -> bool:
        """The same without events: they are the job's that reads the sealed log."""
        fresh = self._read()
        if self._timed is None:
            self._timed = last_offset(times_path(self.run))
        if fresh and self.offset > self._timed:
            times_append(self.run, self.offset, self.lines)
        return fresh

    @property
    def prefix_sha256(self) -> str:
        """Of the first `offset` bytes, as they were when they were read."""
        return self._digest.hexdigest()

    def close(self) -> None:
        if self._ingest is not None:
            self._ingest.close()
            self._ingest = None

    def _read(self) -> bool:
        if not self.path.exists():
            return False
        before = self.offset
        with self.path.open("rb") as source:
            size = source.seek(0, os.SEEK_END)
            if size < self.offset and not self.notes:
                self.notes.append(f"the log became shorter while the agent ran: {self.offset} bytes, then {size}")
            source.seek(self.offset)
            while self.offset - before < LOOK_BYTES and (data := source.read(BLOCK)):
                self._digest.update(data)
                self.offset += len(data)
                self.lines += data.count(b"\n")
        return self.offset > before

    def _events(self) -> None:
        """Feed what the log has up to `offset`, from its start again after a fault."""
        if self._ingested >= self.offset or time.monotonic() < self._not_before:
            return
        try:
            if self._ingest is None:
                self._ingest, self._ingested = TraceIngest(live_trace(self.run), secrets=self.secrets), 0
            with self.path.open("rb") as source:
                source.seek(self._ingested)
                while self._ingested < self.offset:
                    data = source.read(min(BLOCK, self.offset - self._ingested))
                    if not data:
                        break
                    self._ingest.feed(data)
                    self._ingested += len(data)
            self._ingest.flush()
        except (OSError, DatabaseError, OutOfOrder, ValueError) as error:
            log.warning("the events of %s are delayed: %s", self.run.slug, error)
            self._not_before = time.monotonic() + PATIENCE_S
            self._ingest, broken = None, self._ingest
            if broken is not None:
                _close_quietly(broken)


def _close_quietly(ingest: TraceIngest) -> None:
    try:
        ingest.close()
    except OSError as error:
        log.warning("a trace's files could not be closed: %s", error)


def live_trace(run: Run) -> Trace:
    """The trace of the run's own log."""
    recording = Recording.objects.select_related("trace").get(run=run)
    if recording.trace is None:
        recording.trace = trace_open(run, name=NAME)
        Recording.objects.filter(pk=recording.pk).update(trace=recording.trace)
    return recording.trace
