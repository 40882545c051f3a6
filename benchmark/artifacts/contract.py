"""What an object storage of sealed files promises. Names are paths below the data folder."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Protocol


class StorageUnavailable(Exception):
    """The object storage cannot be asked now. No OSError: it must not be taken for a file that is not there."""


class Damaged(OSError):
    """An object, or the file that was to become one, is not what its SHA-256 says."""


class AlreadyOther(OSError):
    """Another content lies under that name; nothing is ever overwritten."""


@dataclass(frozen=True)
class Listed:
    """One object. `size` in bytes."""

    name: str
    size: int
    modified: datetime


class ArtifactStorage(Protocol):
    """Objects are written whole and once. Every method may raise StorageUnavailable."""

    def keep(self, name: str, path: Path, *, sha256: str = "") -> tuple[int, str]:
        """Put a file there, unless it is there already, and check it; its bytes and SHA-256.

        Raises: Damaged: the file is not what `sha256` says, or the copy is not the file; AlreadyOther; OSError.
        """

    def held(self, name: str) -> tuple[int, str] | None:
        """Bytes and SHA-256 of an object, as they were noted with it; None: there is none."""

    def blocks(self, name: str, *, sha256: str = "") -> Iterator[bytes]:
        """The content. The last block comes when all of it has the noted SHA-256, and `sha256` where it is given.

        Raises: FileNotFoundError; Damaged.
        """

    def opened(self, name: str) -> BinaryIO:
        """For reading parts, which are not checked. Raises: FileNotFoundError."""

    def listed(self, prefix: str) -> Iterator[Listed]:
        """All objects whose names begin so."""

    def forget(self, name: str) -> None:
        """Delete an object. One that is not there is no error."""
