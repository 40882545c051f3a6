"""Going through a folder that somebody hostile has filled: nothing in it breaks the walk, hides from it or leads out.

Its paths may be longer than the kernel takes (4096 bytes), its folders nested deeper than Python recurses, closed to
their owner, or moved while we look. So the walk holds one descriptor at a time, opens names below that, follows no
link, and goes up again only to the folder that it came from.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
PLACE = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
OPEN = 0o700


@dataclass
class Level:
    """One folder on the way from the root."""

    name: str
    identity: tuple[int, int]
    pending: list[str] | None = None
    """Folders right in it that were not gone into yet; None: it was not listed."""


@dataclass
class Climb:
    """A place in a tree: `fd` is the deepest of `levels`. A context manager. Raises: OSError: no folder is there."""

    root: Path
    fd: int = -1
    levels: list[Level] = field(default_factory=list)

    def __enter__(self) -> "Climb":
        self.fd = _opened(str(self.root))
        self.levels = [Level("", _identity(self.fd))]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self.fd)

    def down(self, name: str) -> bool:
        """Into a folder of this one; False: it cannot be entered, or is none any more."""
        try:
            fd = _opened(name, self.fd)
        except OSError:
            return False
        self._stand_on(fd)
        self.levels.append(Level(name, _identity(fd)))
        return True

    def up(self) -> Level:
        """Back to where we came from; the level that was left. Raises: OSError: the root is gone."""
        left = self.levels.pop()
        if self.levels:
            fd = os.open("..", FOLDER, dir_fd=self.fd)
            if _identity(fd) == self.levels[-1].identity:
                self._stand_on(fd)
            else:
                os.close(fd)
                self._again_from_the_root()
        return left

    def _again_from_the_root(self) -> None:
        """A folder was moved while we were in it: go on from the deepest one that is where it was."""
        self._stand_on(_opened(str(self.root)))
        for depth, level in enumerate(self.levels[1:], start=1):
            try:
                fd = _opened(level.name, self.fd)
            except OSError:
                del self.levels[depth:]
                return
            if _identity(fd) != level.identity:
                os.close(fd)
                del self.levels[depth:]
                return
            self._stand_on(fd)

    def _stand_on(self, fd: int) -> None:
        os.close(self.fd)
        self.fd = fd


def walk(root: Path) -> Iterator[tuple[int, os.DirEntry[str]]]:
    """Everything below `root`, each with its folder's descriptor, which holds until the next one is asked for.

    What vanishes is not told. Raises: OSError: no folder is there.
    """
    with Climb(root) as climb:
        while climb.levels:
            level = climb.levels[-1]
            if level.pending is None:
                level.pending = []
                with suppress(OSError), os.scandir(climb.fd) as entries:
                    for entry in entries:
                        if entry.is_dir(follow_symlinks=False):
                            level.pending.append(entry.name)
                        yield climb.fd, entry
            elif level.pending:
                climb.down(level.pending.pop())
            else:
                climb.up()


def tree_remove(root: Path) -> None:
    """Remove a folder with everything in it, or a file. Nothing there is not an error. Raises: OSError."""
    if root.is_symlink() or not root.is_dir():
        root.unlink(missing_ok=True)
        return
    with Climb(root) as climb:
        while climb.levels:
            level = climb.levels[-1]
            if level.pending is None:
                level.pending = _files_removed(climb.fd)
            elif level.pending:
                name = level.pending.pop()
                if not climb.down(name):
                    _folder_removed(name, climb.fd)
            elif len(climb.levels) == 1:
                break
            else:
                _folder_removed(climb.up().name, climb.fd)
    root.rmdir()


def _files_removed(fd: int) -> list[str]:
    """Remove what is no folder; the folders' names."""
    with os.scandir(fd) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        if not is_folder:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=fd)
    return [name for name, is_folder in found if is_folder]


def _folder_removed(name: str, fd: int) -> None:
    with suppress(FileNotFoundError):
        os.rmdir(name, dir_fd=fd)


def _opened(name: str, below: int | None = None) -> int:
    """A folder's descriptor. One that its owner has closed to himself is opened: we are he. Raises: OSError."""
    try:
        fd = os.open(name, FOLDER, dir_fd=below)
    except PermissionError:
        place = os.open(name, PLACE, dir_fd=below)
        try:
            os.chmod(f"/proc/self/fd/{place}", OPEN)
            return os.open(f"/proc/self/fd/{place}/.", FOLDER)
        finally:
            os.close(place)
    mode = os.fstat(fd).st_mode
    if stat.S_IMODE(mode) & OPEN != OPEN:
        with suppress(OSError):
            os.fchmod(fd, stat.S_IMODE(mode) | OPEN)
    return fd


def _identity(fd: int) -> tuple[int, int]:
    found = os.fstat(fd)
    return found.st_dev, found.st_ino
