"""The files of an exported run: masked transcripts, code as it was at each submission, and the agent's own summary."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from benchmark.models import Run
from benchmark.services.artifacts import artifact_local
from bundles.format.names import name_problem
from traces.models import CodeSnapshot, Recording, Trace, TraceState
from traces.services.snapshots_store import blob_local

BLOCK = 1 << 20
NUMBERED = re.compile(r"transcripts/\d\d-[^/]+")


@dataclass(frozen=True)
class Source:
    """One file to be written. `size` bytes of what `open` gives; `entry` is its line in the manifest."""

    path: str
    entry: dict[str, Any]
    size: int
    open: Callable[[], BinaryIO]
    masked: int = 0
    """Secrets masked in it when it was read."""

    def blocks(self) -> Iterator[bytes]:
        """Raises: OSError, also when there is less than `size`."""
        rest = self.size
        with self.open() as file:
            while rest:
                block = file.read(min(BLOCK, rest))
                if not block:
                    raise OSError(f"{self.path} ends {rest} bytes too early")
                rest -= len(block)
                yield block


def run_sources(run: Run, notes: list[str]) -> list[Source]:
    """Sorted by path. What cannot be taken along is told in `notes`."""
    found = [*_transcripts(run, notes), *_code(run, notes), *_summaries(run)]
    return sorted(found, key=lambda source: source.path)


def _transcripts(run: Run, notes: list[str]) -> Iterator[Source]:
    traces = Trace.objects.filter(run=run, state=TraceState.SEALED).order_by("id")
    for number, trace in enumerate(traces, 1):
        path = trace.name if NUMBERED.fullmatch(trace.name) else f"transcripts/{number:02}-{_plain(trace.name)}"
        place = artifact_local(trace.folder / "transcript", sha256=trace.sha256)
        if not place.is_file() or place.stat().st_size < trace.transcript_bytes:
            notes.append(f"Transcript {trace.name!r} was left out: its file is not whole here.")
            continue
        yield Source(path, {"role": "transcript"}, trace.transcript_bytes, _opener(place), trace.masked_count)


def _plain(name: str) -> str:
    """The last part of a name, of letters that are harmless everywhere."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", name.rsplit("/", 1)[-1])[-100:].strip("._") or "transcript"


def _code(run: Run, notes: list[str]) -> Iterator[Source]:
    for snapshot in CodeSnapshot.objects.filter(run=run).order_by("number"):
        for name, kept in sorted(snapshot.files.items()):
            path, place = f"code/{snapshot.number}/{name}", blob_local(kept[0])
            if name_problem(path) is not None or not place.is_file():
                notes.append(f"Code {name!r} of submission {snapshot.number} was left out.")
                continue
            entry = {"role": "code", "name": name, "submission": snapshot.number}
            yield Source(path, entry, kept[1], _opener(place))


def _summaries(run: Run) -> Iterator[Source]:
    recording = Recording.objects.filter(run=run).first()
    if recording is None:
        return
    if recording.summary:
        yield _text("reports/summary.md", recording.summary)
    if recording.summary_entries:
        lines = (json.dumps(entry, ensure_ascii=False, sort_keys=True) for entry in recording.summary_entries)
        yield _text("reports/summary.jsonl", "".join(line + "\n" for line in lines))


def _text(path: str, text: str) -> Source:
    data = text.encode("utf-8", "replace")
    return Source(path, {"role": "summary"}, len(data), lambda: BytesIO(data))


def _opener(place: Path) -> Callable[[], BinaryIO]:
    return lambda: place.open("rb")
