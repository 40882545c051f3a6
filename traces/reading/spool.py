"""Where a reader puts the transcript that it has masked."""

import tempfile
from typing import Protocol


class Spool(Protocol):
    """Where the masked transcript goes, and where dialects look back."""

    def write(self, data: bytes) -> None: ...

    def read(self, offset: int, length: int) -> bytes: ...


class TemporarySpool:
    """In memory while small, then in a temporary file."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=16 << 20)  # noqa: SIM115

    def write(self, data: bytes) -> None:
        self._file.seek(0, 2)
        self._file.write(data)

    def read(self, offset: int, length: int) -> bytes:
        self._file.seek(offset)
        return self._file.read(length)
