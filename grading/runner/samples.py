"""The samples of one evaluation on disk: appended as episodes end, kept over restarts, put in order at the end."""

import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from benchmark.tasks.contract import Record

SYNC_EVERY_S = 2.0


class SampleStore:
    """`samples.jsonl` and `state.json` in `folder`. Samples of another digest are thrown away, a torn last line too."""

    def __init__(self, folder: Path, digest: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = folder / "samples.jsonl"
        self._clock = clock
        self._synced_at = clock()
        state = folder / "state.json"
        kept = _same_digest(state, digest)
        self.records: dict[str, Record] = _read_records(self._path) if kept else {}
        self._rewrite(list(self.records.values()))
        if not kept:
            write_atomically(state, json.dumps({"digest": digest}))
        self._file: IO[str] = self._path.open("a", encoding="utf-8")
        self._syncing = ThreadPoolExecutor(1, thread_name_prefix="sync")
        self._synced: Future[None] | None = None

    def add(self, record: Record) -> None:
        """Append one record; it reaches the disk within about two seconds of further records.

        A slow disk keeps no engine waiting. Raises: OSError: the disk took neither this record nor the earlier ones.
        """
        self.records[record.item_id] = record
        self._file.write(_line(record))
        self._file.flush()
        if self._clock() - self._synced_at >= SYNC_EVERY_S and (self._synced is None or self._synced.done()):
            self._await_sync()
            self._synced = self._syncing.submit(os.fsync, self._file.fileno())
            self._synced_at = self._clock()

    def finish(self, order: Sequence[str]) -> tuple[list[Record], str]:
        """Rewrite the file in the items' order; the records of `order` that exist, and the file's SHA-256."""
        self.close()
        records = [self.records[item_id] for item_id in order if item_id in self.records]
        self._rewrite(records)
        return records, hashlib.sha256(self._path.read_bytes()).hexdigest()

    def close(self) -> None:
        """Put everything on the disk. Idempotent."""
        if not self._file.closed:
            self._syncing.shutdown()
            self._await_sync()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()

    def _await_sync(self) -> None:
        if self._synced is not None:
            self._synced.result()

    def _rewrite(self, records: list[Record]) -> None:
        write_atomically(self._path, "".join(_line(record) for record in records))


def write_atomically(path: Path, text: str) -> None:
    """Replace `path` with `text`: a reader sees the old or the new file, and the new one survives a power cut."""
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def _line(record: Record) -> str:
    # ASCII only: no character of a completion, such as U+2028, can then be taken for the end of a line.
    return json.dumps(asdict(record), allow_nan=False) + "\n"


def _same_digest(state: Path, digest: str) -> bool:
    try:
        found: Any = json.loads(state.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("digest") == digest


def _read_records(path: Path) -> dict[str, Record]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    records = {}
    # What follows the last line end was cut off by a kill.
    for line in data[: data.rfind(b"\n") + 1].splitlines():
        try:
            raw = json.loads(line)
            record = Record(**{**raw, "outputs": tuple(raw["outputs"])})
        except (ValueError, TypeError, KeyError):
            continue
        records[record.item_id] = record
    return records
