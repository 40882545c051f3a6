"""Where an archive is written to: names are judged, sizes are counted, and nothing leads out."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from bundles.format.names import is_junk, name_key, name_problem, shown
from bundles.unpacking.limits import Limits
from bundles.unpacking.refusal import RENAME, Refused, amount, refused

CONTAINERS = {".zip", ".tar", ".tgz", ".tbz2", ".txz", ".7z", ".rar", ".jar", ".gz", ".xz", ".bz2", ".zst", ""}
"""Endings below which an archive's magic means an archive; `.pt`, `.npz` or `.eval` are data that are zips too."""
MAGIC = (
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"Rar!\x1a\x07", "rar"),
    (b"\x1f\x8b", "gzip"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"BZh", "bzip2"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)
SINGLE = {"gzip", "xz", "bzip2", "zstd"}
"""One file compressed, unless its name says that it is a tar."""


def kind_of(head: bytes) -> str:
    """The archive that begins with `head`; "" for anything else."""
    for magic, kind in MAGIC:
        if head.startswith(magic):
            return kind
    return "tar" if head[257:262] == b"ustar" else ""


@dataclass
class Quarantine:
    """Writes below `folder`, which is empty and nobody else's. All methods raise Refused."""

    folder: Path
    limits: Limits
    left_out: dict[str, str] = field(default_factory=dict)
    """Name → why."""
    files: int = 0
    size: int = 0
    _entries: int = 0
    _seen: dict[str, tuple[str, bool]] = field(default_factory=dict)
    """Key → the name as written, and whether it is a file."""
    _began: float = field(default_factory=time.monotonic)

    def admit(self, name: str, is_folder: bool) -> bool:
        """Judge an entry before any of its bytes is read; False: it is left out."""
        self._entries += 1
        if self._entries > self.limits.entries:
            raise refused(
                "too_many_entries", what=f"more than {self.limits.entries:,}", limit=f"{self.limits.entries:,}"
            )
        path = name.rstrip("/")
        if (problem := name_problem(path)) is not None:
            raise Refused(problem[0], problem[1], RENAME)
        if is_junk(name):
            self.left_out[name] = "written by the operating system"
            return False
        self._claim(path, not is_folder)
        return not is_folder

    def _claim(self, path: str, is_file: bool) -> None:
        parts = path.split("/")
        for depth in range(1, len(parts)):
            self._claim_one("/".join(parts[:depth]), False)
        self._claim_one(path, is_file)

    def _claim_one(self, path: str, is_file: bool) -> None:
        key = name_key(path)
        before = self._seen.setdefault(key, (path, is_file))
        if before == (path, is_file) and not is_file:
            return
        if before[0] == path and before[1] != is_file:
            raise refused("file_as_folder", name=path)
        if before[0] == path and is_file and key in self._written:
            raise refused("duplicate", name=path)
        if before[0] != path:
            by_case = before[0].casefold() == path.casefold()
            raise refused("duplicate_case" if by_case else "duplicate_unicode", name=path, what=before[0])
        self._written.add(key)

    def __post_init__(self) -> None:
        self._written: set[str] = set()

    def write(self, name: str, blocks: Iterable[bytes], declared: int, packed: int | None) -> None:
        """Write one file that was admitted. `packed` bytes of the archive hold it, None where they cannot be told."""
        path = self.folder / name
        size, head = 0, b""
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o750)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o640), "wb") as out:
                for block in blocks:
                    size += len(block)
                    self._count(name, size, len(block), declared, packed)
                    if len(head) < 512:
                        head += block[:512]
                        self._nested(name, head)
                    out.write(block)
        except OSError as error:
            raise _of_system(error, name) from error
        if size < declared:
            raise refused("truncated", what=f"{name} has {size:,} of {declared:,} bytes")
        self.files += 1

    def _count(self, name: str, size: int, more: int, declared: int, packed: int | None) -> None:
        limits = self.limits
        self.size += more
        if size > declared:
            raise refused("size_mismatch", name=name, what=amount(declared))
        if size > limits.file:
            raise refused("file_too_large", name=name, limit=amount(limits.file))
        if self.size > limits.total:
            raise refused("too_large", limit=amount(limits.total))
        if packed is not None:
            self.ratio(name, size, packed)
        if time.monotonic() - self._began > limits.seconds:
            raise refused("too_slow", limit=f"{limits.seconds:g} s")

    def ratio(self, name: str, size: int, packed: int) -> None:
        if size > self.limits.ratio_from and size > self.limits.ratio * max(1, packed):
            raise refused("ratio", name=name, what=f"{size // max(1, packed):,}")

    def _nested(self, name: str, head: bytes) -> None:
        lower = name.lower()
        ending = os.path.splitext(lower)[1]
        kind = kind_of(head)
        if not kind or ending not in CONTAINERS:
            return
        if kind in SINGLE and not lower.endswith((".tgz", ".tbz2", ".txz")) and ".tar." not in lower:
            return
        raise refused("nested", name=name, what=kind)

    def end(self) -> None:
        """Raises: Refused: nothing came out of it."""
        if not self._entries:
            raise refused("empty")
        if not self.files:
            raise refused("only_folders")


def _of_system(error: OSError, name: str) -> Refused:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return refused("no_space")
    if error.errno in (errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL):
        return Refused("name_unusable", f"{shown(name)} cannot be a file's name here.", RENAME)
    if error.errno in (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ELOOP):
        return refused("file_as_folder", name=name)
    raise error
