"""A file that only grows, and of which only a committed part counts."""

import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmark.services.artifacts import artifact_local

BUFFER = 1 << 20
carried: Callable[[Path, int, bytes], None] | None = None
"""Told of what was written where, on hosts that share no disk with the web server. Raises: OSError."""


class GrowingFile:
    """Writing starts at byte 0 whatever is there: what was committed before is passed over.

    What was written after the last commit, and lost its transaction, is cut off when the file is opened.
    Raises: OSError: the committed part is not there.
    """

    def __init__(self, path: Path, committed: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o640)
        try:
            self._cut(committed)
        except OSError:
            os.close(self._file)
            raise
        self._committed = self._written = committed
        self._held: list[bytes] = []
        self._held_size = 0
        self.position = 0
        """Bytes given so far."""

    def _cut(self, committed: int) -> None:
        size = os.fstat(self._file).st_size
        if size < committed:
            raise OSError(f"{self._path} has {size} of {committed} bytes: restore it, or import the transcript again")
        os.ftruncate(self._file, committed)

    def write(self, data: bytes) -> None:
        start, self.position = self.position, self.position + len(data)
        if start < self._committed:
            data = data[self._committed - start :]
        if data:
            self._held.append(data)
            self._held_size += len(data)
            if self._held_size >= BUFFER:
                self.flush()

    def flush(self) -> None:
        """Bytes given reach the operating system."""
        data, start = b"".join(self._held), self._written
        view = memoryview(data)
        self._held, self._held_size = [], 0
        while view:
            done = os.pwrite(self._file, view, self._written)
            self._written += done
            view = view[done:]
        if carried is not None and data:
            carried(self._path, start, data)

    def sync(self) -> None:
        """Bytes given reach the disk."""
        self.flush()
        os.fdatasync(self._file)

    def read(self, offset: int, length: int) -> bytes:
        if offset + length > self._written:
            self.flush()
        return pread(self._file, offset, length)

    def close(self) -> None:
        try:
            self.flush()
        finally:
            os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def pread(file: int, offset: int, length: int) -> bytes:
    """`length` bytes at `offset`, fewer at the end of the file."""
    data = os.pread(file, length, offset)
    if len(data) == length or not data:
        return data
    parts = [data]
    while (more := os.pread(file, length - sum(map(len, parts)), offset + sum(map(len, parts)))) and len(
        parts
    ) < 1 << 16:
        parts.append(more)
        if sum(map(len, parts)) >= length:
            break
    return b"".join(parts)


def read_part(path: Path, offset: int, length: int) -> bytes:
    """The same by path, of a file here or in object storage. Raises: OSError."""
    file = os.open(artifact_local(path), os.O_RDONLY)
    try:
        return pread(file, offset, length)
    finally:
        os.close(file)
