"""Files between the worker's user and the sandbox's."""

import contextlib
import os
import stat
from pathlib import Path

from benchmark.sandbox.trees import walk


def closed_to(path: Path, uid: int, gid: int) -> Path | None:
    """What of a file, or of a folder and the files right in it, its permissions keep from that user; None: nothing."""
    if uid == 0:
        return None
    inside = sorted(path.iterdir()) if path.is_dir() and _allows(path, uid, gid, folder=True) else []
    for each in (path, *inside):
        if each.exists() and not _allows(each, uid, gid, folder=each.is_dir()):
            return each
    return None


def _allows(path: Path, uid: int, gid: int, *, folder: bool) -> bool:
    found = path.stat()
    who = 0o700 if found.st_uid == uid else 0o070 if found.st_gid == gid else 0o007
    wanted = (0o555 if folder else 0o444) & who
    return stat.S_IMODE(found.st_mode) & wanted == wanted


def hand_over(path: Path, uid: int, gid: int) -> None:
    """Give what is below `path` to the container's user. Only root can, and only root has to."""
    if os.getuid() != 0:
        return
    if path.is_dir():
        os.chown(path, uid, gid)
        for folder, entry in walk(path.resolve()):
            with contextlib.suppress(FileNotFoundError):
                os.chown(entry.name, uid, gid, dir_fd=folder, follow_symlinks=False)
    elif stat.S_ISREG(path.lstat().st_mode):
        os.chown(path, uid, gid, follow_symlinks=False)
