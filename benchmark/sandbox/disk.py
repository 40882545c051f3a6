"""How many bytes folders and private file systems hold, measured by walking: cheap enough to do every few seconds."""

import os
from collections.abc import Iterable
from pathlib import Path

BLOCK = 512


def tree_bytes(root: Path) -> int:
    """Bytes allocated below `root`, itself included; symbolic links are not followed, hard links count once.

    What vanishes while we look counts nothing.
    """
    total = 0
    seen: set[tuple[int, int]] = set()
    pending: list[str] = []
    try:
        status = root.lstat()
    except OSError:
        return 0
    total += status.st_blocks * BLOCK
    if root.is_dir() and not root.is_symlink():
        pending.append(str(root))
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    total += _entry_bytes(entry, seen, pending)
        except OSError:
            continue
    return total


def _entry_bytes(entry: os.DirEntry[str], seen: set[tuple[int, int]], pending: list[str]) -> int:
    try:
        status = entry.stat(follow_symlinks=False)
        if entry.is_dir(follow_symlinks=False):
            pending.append(entry.path)
    except OSError:
        return 0
    if status.st_nlink > 1 and not entry.is_dir(follow_symlinks=False):
        key = (status.st_dev, status.st_ino)
        if key in seen:
            return 0
        seen.add(key)
    return status.st_blocks * BLOCK


def trees_bytes(roots: Iterable[Path]) -> int:
    """The sum over roots that do not lie within one another."""
    resolved = sorted({root.resolve() for root in roots})
    outer = [root for root in resolved if not any(other in root.parents for other in resolved)]
    return sum(tree_bytes(root) for root in outer)


def filesystem_bytes(mountpoint: str) -> int:
    """Bytes in use on the file system at `mountpoint`; 0 where we may not look."""
    try:
        status = os.statvfs(mountpoint)
    except OSError:
        return 0
    return (status.f_blocks - status.f_bfree) * status.f_frsize
