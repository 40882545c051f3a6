"""What folders and private file systems hold, measured by walking: cheap enough to do every few seconds."""

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchmark.sandbox.trees import walk

BLOCK = 512
FILE_BYTES = 16384
"""What a file system sets aside for each file beside its contents (mke2fs.conf(5), inode_ratio)."""


@dataclass(frozen=True)
class Held:
    """How much of a disk something takes."""

    bytes: int = 0
    """Allocated."""
    files: int = 0
    """Files and folders, however small: a disk has room for so many."""

    def __add__(self, other: "Held") -> "Held":
        return Held(self.bytes + other.bytes, self.files + other.files)

    def __sub__(self, other: "Held") -> "Held":
        return Held(self.bytes - other.bytes, self.files - other.files)

    def reaches(self, limit: int) -> bool:
        """Whether it takes `limit` bytes, or as many files as belong to a disk of that size."""
        return self.bytes >= limit or self.files * FILE_BYTES >= limit


def tree_held(root: Path) -> Held:
    """What is allocated below `root`, itself included; symbolic links are not followed, hard links count once.

    What vanishes while we look counts nothing.
    """
    try:
        total = root.lstat().st_blocks * BLOCK
    except OSError:
        return Held()
    files = 1
    seen: set[tuple[int, int]] = set()
    if root.is_dir() and not root.is_symlink():
        with suppress(OSError):
            for _, entry in walk(root):
                total += _entry_bytes(entry, seen)
                files += 1
    return Held(total, files)


def tree_bytes(root: Path) -> int:
    """See `tree_held`."""
    return tree_held(root).bytes


def _entry_bytes(entry: os.DirEntry[str], seen: set[tuple[int, int]]) -> int:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return 0
    if status.st_nlink > 1 and not entry.is_dir(follow_symlinks=False):
        key = (status.st_dev, status.st_ino)
        if key in seen:
            return 0
        seen.add(key)
    return status.st_blocks * BLOCK


def trees_held(roots: Iterable[Path]) -> Held:
    """The sum over roots that do not lie within one another."""
    resolved = sorted({root.resolve() for root in roots})
    outer = [root for root in resolved if not any(other in root.parents for other in resolved)]
    return sum(map(tree_held, outer), Held())


def filesystem_held(mountpoint: str) -> tuple[Held, bool]:
    """What is in use on the file system at `mountpoint`, and whether that is full; nothing where we may not look."""
    try:
        told = os.statvfs(mountpoint)
    except OSError:
        return Held(), False
    return statvfs_held(told.f_frsize, told.f_blocks, told.f_bfree, told.f_files, told.f_ffree)


def statvfs_held(block: int, blocks: int, free: int, files: int, files_free: int) -> tuple[Held, bool]:
    """The same from what statvfs(3) told elsewhere; all zero where it told nothing."""
    used = Held((blocks - free) * block, files - files_free)
    return used, blocks > 0 and (free == 0 or (files > 0 and files_free == 0))
