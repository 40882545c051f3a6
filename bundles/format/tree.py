"""The files of a run directory, each named by its path below the top with `/`."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

BLOCK = 1 << 20


class Tree:
    """Regular files below `top`. Links are never followed and are listed in `links`."""

    def __init__(self, top: Path, sizes: dict[str, int] | None = None) -> None:
        self.top = top
        self.links: list[str] = []
        self.sizes = dict(sorted(_walk(top, "", self.links))) if sizes is None else sizes
        """Path → bytes, sorted by path."""
        self._digests: dict[str, str] = {}
        self._folders: dict[str, list[str]] = {}

    def below(self, root: str) -> Tree:
        """The same of one folder inside; `root` "" is this tree."""
        if not root:
            return self
        start = root + "/"
        inside = {path[len(start) :]: size for path, size in self.sizes.items() if path.startswith(start)}
        return Tree(self.top / root, inside)

    def __contains__(self, path: str) -> bool:
        return path in self.sizes

    def right_in(self, folder: str) -> list[str]:
        """Paths of the files in `folder` ("" or ending in `/`) that lie in no further folder."""
        if not self._folders:
            for path in self.sizes:
                self._folders.setdefault(path[: path.rfind("/") + 1], []).append(path)
        return self._folders.get(folder, [])

    def place(self, path: str) -> Path:
        return self.top / path

    def open(self, path: str) -> BinaryIO:
        """Raises: OSError."""
        return open(self.top / path, "rb")

    def text(self, path: str, limit: int = 1 << 20) -> str:
        """The first `limit` bytes, what is no UTF-8 replaced; "" when it is not there."""
        if path not in self.sizes:
            return ""
        with self.open(path) as file:
            return file.read(limit).decode("utf-8", "replace")

    def sha256(self, path: str) -> str:
        """Raises: OSError."""
        if path not in self._digests:
            digest = hashlib.sha256()
            with self.open(path) as file:
                for block in iter(lambda: file.read(BLOCK), b""):
                    digest.update(block)
            self._digests[path] = digest.hexdigest()
        return self._digests[path]


def _walk(folder: Path, prefix: str, links: list[str]) -> Iterator[tuple[str, int]]:
    pending = [(folder, prefix)]
    while pending:
        here, before = pending.pop()
        with os.scandir(here) as entries:
            for entry in entries:
                name = before + entry.name
                if entry.is_symlink():
                    links.append(name)
                elif entry.is_dir(follow_symlinks=False):
                    pending.append((Path(entry.path), name + "/"))
                elif entry.is_file(follow_symlinks=False):
                    yield name, entry.stat(follow_symlinks=False).st_size
