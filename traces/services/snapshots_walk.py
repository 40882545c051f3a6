"""Reading a folder that a hostile program may be changing: no link is followed, nothing but regular files is opened."""

import os
import stat
import time
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice

LIBRARIES = frozenset(
    {"__pycache__", "node_modules", "site-packages", "dist-packages", "venv", ".venv", ".git", "wandb", ".cache"}
)
LEFT_OUT_MOST = 200
ENTRIES_MOST = 20_000
"""Names of one folder: a hostile one may hold millions, and they have to be sorted."""
Stamp = tuple[int, int, int, int, int]
OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Caps:
    """How much is taken of one folder."""

    files: int = 2000
    file_bytes: int = 1 << 20
    total_bytes: int = 32 << 20
    seconds: float = 2.0
    depth: int = 16


@dataclass(frozen=True)
class Found:
    """One file. `content` is None where its stamp was known: then it is what it was."""

    path: str
    stamp: Stamp
    content: bytes | None


@dataclass
class CodeWalk:
    """Iterate `files`; what is not among them is told by `left_out` and `notes`. `known`: stamps seen before."""

    caps: Caps = Caps()
    known: Container[Stamp] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _files: int = 0
    _bytes: int = 0
    _ends: float = 0.0
    _not_listed: int = 0

    def files(self, root: int) -> Iterator[Found]:
        """`root` is a descriptor of the folder. In the order of names, the files of a folder before its folders."""
        self._ends = time.monotonic() + self.caps.seconds
        yield from self._folder(root, "", 0)
        if self._not_listed:
            self.notes.append(f"{self._not_listed} more were left out and are not listed")

    def _folder(self, fd: int, prefix: str, depth: int) -> Iterator[Found]:
        with os.scandir(fd) as listed:
            some = list(islice(listed, ENTRIES_MOST))
        if len(some) == ENTRIES_MOST:
            self.notes.append(f"of {prefix[:200] or 'the folder'} only {ENTRIES_MOST} names were looked at")
        entries = sorted(some, key=lambda entry: (entry.is_dir(follow_symlinks=False), entry.name))
        for entry in entries:
            path = prefix + os.fsencode(entry.name).decode("utf-8", "replace").replace("\x00", "�")
            if self._full():
                return
            if entry.is_symlink():
                self._leave(path, "a link, not followed")
            elif not entry.is_dir(follow_symlinks=False):
                found = self._file(fd, entry.name, path)
                if found is not None:
                    yield found
            elif entry.name in LIBRARIES or depth >= self.caps.depth:
                self._leave(path + "/", "a library, cache or checkout" if depth < self.caps.depth else "too deep")
            else:
                with opened(fd, entry.name, os.O_DIRECTORY) as below:
                    if below is not None:
                        yield from self._folder(below, path + "/", depth + 1)

    def _file(self, fd: int, name: str, path: str) -> Found | None:
        with opened(fd, name) as file:
            if file is None:
                self._leave(path, "could not be opened")
                return None
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                self._leave(path, "no regular file")
                return None
            if status.st_size > self.caps.file_bytes:
                self._leave(path, f"{status.st_size} bytes, the limit is {self.caps.file_bytes}")
                return None
            stamp = stamp_of(status)
            content = None if stamp in self.known else _read(file, self.caps.file_bytes)
        self._files += 1
        self._bytes += status.st_size if content is None else len(content)
        return Found(path, stamp, content)

    def _leave(self, path: str, why: str) -> None:
        if len(self.left_out) < LEFT_OUT_MOST:
            self.left_out[path[:500]] = why
        else:
            self._not_listed += 1

    def _full(self) -> bool:
        """Whether a cap is reached; said once."""
        caps = self.caps
        reached = (
            (self._files >= caps.files, f"only the first {caps.files} files were kept"),
            (self._bytes >= caps.total_bytes, f"only the first {caps.total_bytes >> 20} MiB were kept"),
            (time.monotonic() > self._ends, f"reading stopped after {caps.seconds:g} s"),
        )
        why = next((why for is_reached, why in reached if is_reached), None)
        if why is not None and why not in self.notes:
            self.notes.append(why)
        return why is not None


def stamp_of(status: os.stat_result) -> Stamp:
    """What betrays a change: the change time cannot be set back by the file's owner."""
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _read(file: int, most: int) -> bytes:
    with open(file, "rb", closefd=False) as source:
        return source.read(most)


@contextmanager
def opened(folder: int | None, name: str, flags: int = 0) -> Iterator[int | None]:
    """A descriptor for reading, or None where there is no such file that is no link."""
    try:
        fd = os.open(name, OPEN | flags, dir_fd=folder)
    except OSError:
        yield None
        return
    try:
        yield fd
    finally:
        os.close(fd)
