"""The end of a recording: the raw log is sealed with its digest, then read into a trace by a job."""

import hashlib
import logging
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from pathlib import Path
from uuid import uuid4

from django.conf import settings
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from benchmark.models import Run
from benchmark.services.pulse import repeated
from benchmark.services.queueing import job_send
from benchmark.services.workspace import run_folder
from traces.models import Recording
from traces.models.recording import ATTEMPTS
from traces.services.carrying import NotCarried
from traces.services.ingest import TraceIngest, file_digest
from traces.services.labels import labels_again
from traces.services.recording_live import BLOCK, NAME, LogTail, live_trace
from traces.services.recording_workspace import WorkspaceWatch, summary_of
from traces.services.snapshots_store import tokens_in

log = logging.getLogger(__name__)
BEAT_S, LEASE_S = 15.0, 120.0
"""How often a worker that reads a log says so, and after what silence another one may read it."""
OVERLAP = 64


def log_path(run: Run) -> Path:
    """The raw log, on workers."""
    return run_folder(run) / "agent.log"


def ring(run_id: int) -> None:
    """Say that a sealed log waits to be read."""
    place = Run.objects.filter(pk=run_id).values_list("place", flat=True).first() or ""
    job_send("traces.jobs.recording_ingest", run_id, place=place)


def recording_seal(
    run: Run, path: Path, *, token_hash: str, tail: LogTail | None = None, watch: WorkspaceWatch | None = None
) -> Recording:
    """Store the digest of the log and what the workspace holds. A second call changes nothing. Raises: OSError."""
    recording, _ = Recording.objects.get_or_create(run=run)
    if recording.sealed_at is not None:
        return recording
    path.touch(exist_ok=True)
    size, digest = path.stat().st_size, file_digest(path)
    notes = (
        list(tail.notes)
        if tail is not None
        else ["sealed by the sweep and not by its worker: a change since it was written would not be seen"]
    )
    if tail is not None and not notes and prefix_digest(path, tail.offset) != tail.prefix_sha256:
        notes.append("the log was changed after it was written: its beginning is not what was read live")
    path.chmod(0o440)
    workspace = run_folder(run) / "workspace"
    if watch is None:
        watch = WorkspaceWatch(workspace)
        watch.look()
    summary = summary_of(workspace, token_hash)
    Recording.objects.filter(pk=recording.pk, sealed_at=None).update(
        log_bytes=size,
        log_sha256=digest,
        notes=notes + list(summary.notes),
        code_files=watch.code_files,
        model_versions=len(watch.weights),
        summary=summary.text,
        summary_entries=list(summary.entries),
        sealed_at=timezone.now(),
    )
    recording.refresh_from_db()
    return recording


def prefix_digest(path: Path, length: int) -> str:
    """SHA-256 of the first `length` bytes. Raises: OSError."""
    digest = hashlib.sha256()
    with path.open("rb") as source:
        while length > 0 and (data := source.read(min(BLOCK, length))):
            digest.update(data)
            length -= len(data)
    return digest.hexdigest()


def recording_ingest(run_id: int) -> bool:
    """Read a sealed log to its end, unless another worker does; then judge the submissions with its commands.

    Raises: OSError, DatabaseError: tried again by the sweep.
    """
    lease = uuid4().hex
    free = Q(lease="") | Q(lease_at__lt=timezone.now() - timedelta(seconds=LEASE_S))
    mine = Recording.objects.unread().filter(free, run_id=run_id)
    if not mine.update(lease=lease, lease_at=timezone.now(), attempts=F("attempts") + 1):
        return False
    recording = Recording.objects.select_related("run").get(run_id=run_id)
    held = Recording.objects.filter(pk=recording.pk, lease=lease)
    try:
        with repeated(partial(_beat, held), every_s=BEAT_S, name=f"ingest-{run_id}"):
            _ingest(recording)
        held.update(ingested_at=timezone.now())
    except NotCarried:
        # The web server is away, which is not this log's fault.
        held.update(attempts=F("attempts") - 1)
        raise
    finally:
        held.update(lease="")
    labels_again(recording.run)
    return True


def _beat(held: QuerySet[Recording]) -> None:
    held.update(lease_at=timezone.now())


def _ingest(recording: Recording) -> None:
    run, path = recording.run, log_path(recording.run)
    if any(note.startswith("the log ") for note in recording.notes):
        _set_apart(recording)
    trace = live_trace(run)
    type(trace).objects.filter(pk=trace.pk).update(source_sha256=recording.log_sha256)
    trace.refresh_from_db()
    with ExitStack() as stack:
        ingest = TraceIngest(trace, secrets=tokens_in_file(path, run.token_hash))
        stack.callback(ingest.close)
        with path.open("rb") as source:
            while data := source.read(BLOCK):
                ingest.feed(data)
        ingest.finish()


def _set_apart(recording: Recording) -> None:
    """What was read live of a log that was changed later stays beside the trace of the sealed one."""
    if recording.trace is not None and recording.trace.name == NAME:
        trace = recording.trace
        type(trace).objects.filter(pk=trace.pk).update(name=f"{NAME}, as it was read live")
        Recording.objects.filter(pk=recording.pk).update(trace=None)


def tokens_in_file(path: Path, token_hash: str) -> tuple[str, ...]:
    """The run's token, if the log holds it. Raises: OSError."""
    with path.open("rb") as source:
        before = b""
        while data := source.read(BLOCK):
            if found := tokens_in(before + data, token_hash):
                return found
            before = data[-OVERLAP:]
    return ()


def recordings_mend() -> None:
    """Seal what a lost worker left open, and ring for what was not read."""
    for recording in Recording.objects.abandoned().filter(run__place=settings.PLACE).select_related("run")[:20]:
        try:
            recording_seal(recording.run, log_path(recording.run), token_hash=recording.run.token_hash)
        except OSError as error:
            log.warning("the log of %s could not be sealed: %s", recording.run.slug, error)
            note = [f"its log could not be sealed: {error.strerror or error}"]
            Recording.objects.filter(pk=recording.pk).update(sealed_at=timezone.now(), notes=note, attempts=ATTEMPTS)
    stale = timezone.now() - timedelta(seconds=LEASE_S)
    waiting = Recording.objects.unread().filter(Q(lease="") | Q(lease_at__lt=stale))
    for run_id in waiting.values_list("run_id", flat=True)[:20]:
        ring(run_id)
