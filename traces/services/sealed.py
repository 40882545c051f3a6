"""Which files of traces are sealed: what object storage may hold."""

from collections.abc import Mapping
from pathlib import Path

from django.conf import settings
from django.db.models import QuerySet

from benchmark.models import Origin
from benchmark.services.artifacts_sources import Source
from traces.models import CodeSnapshot, Recording, Trace, TraceState
from traces.services.recording_sealing import log_path
from traces.services.recording_times import times_path
from traces.services.snapshots_store import blob_path

DERIVED = ("bodies", "search.txt", "search.idx", "search.bits")


def _traces() -> QuerySet[Trace]:
    """The web server's disk has those of other hosts too: they send them while they write them."""
    return Trace.objects.filter(state=TraceState.SEALED) if not settings.PLACE else Trace.objects.none()


def _trace_files(trace: Trace) -> Mapping[Path, str]:
    return {trace.folder / "transcript": trace.sha256} | {trace.folder / name: "" for name in DERIVED}


def _snapshots() -> QuerySet[CodeSnapshot]:
    return CodeSnapshot.objects.all() if not settings.PLACE else CodeSnapshot.objects.none()


def _code_files(snapshot: CodeSnapshot) -> Mapping[Path, str]:
    return {blob_path(str(entry[0])): str(entry[0]) for entry in snapshot.files.values()}


def _recordings() -> QuerySet[Recording]:
    """Raw logs stay on the host that ran the agent. They are stored once they have been read."""
    read = Recording.objects.filter(ingested_at__isnull=False)
    return read.filter(run__place=settings.PLACE, run__origin=Origin.LOCAL).select_related("run")


def _log_files(recording: Recording) -> Mapping[Path, str]:
    log, times = log_path(recording.run), times_path(recording.run)
    return {log: recording.log_sha256} | ({times: ""} if times.exists() else {})


SOURCES = (
    Source("trace", "key", _traces, _trace_files),
    Source("code", "pk", _snapshots, _code_files),
    Source("log", "pk", _recordings, _log_files),
)
