"""One at a time, across processes of one host."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def held_alone(lock: Path) -> Iterator[None]:
    """Hold an exclusive file lock; released when the process ends, however it ends."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def held_if_free(lock: Path) -> Iterator[bool]:
    """As `held_alone` without waiting: False where somebody else holds it. The file goes with its holder."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with lock.open("w") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            if not _is_at(lock, handle.fileno()):
                continue  # whoever held it has just removed it
            try:
                yield True
            finally:
                lock.unlink(missing_ok=True)
            return


def _is_at(path: Path, fd: int) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(path.stat(), os.fstat(fd))
    return False
