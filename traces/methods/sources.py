"""The code of one submission as text: from a folder or a mapping, within limits, never executed."""

import math
import os
import posixpath
import re
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from traces.methods.notebooks import notebook_python
from traces.methods.words import Evidence

SUFFIXES = frozenset({".py", ".ipynb", ".sh", ".bash", ".yaml", ".yml", ".json"})
SCRIPTS = frozenset({".py", ".ipynb", ".sh", ".bash"})
LIBRARIES = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages", "venv", "wandb"})
MAX_FILE_BYTES = 256 * 1024
MAX_FILES = 5_000
MAX_TOTAL_BYTES = 16 * 1024 * 1024


@dataclass
class Sources:
    """Path below the folder, with forward slashes → text. `seen` counts code files, read or not."""

    texts: dict[str, str] = field(default_factory=dict)
    notes: list[Evidence] = field(default_factory=list)
    seen: int = 0
    read: int = 0
    _total: int = 0
    _by_name: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of_folder(cls, folder: Path, *, deadline: float = math.inf) -> "Sources":
        """Read the code below `folder` until `deadline` on the monotonic clock; links that lead out are passed over.

        Raises: NotADirectoryError.
        """
        if not folder.is_dir():
            raise NotADirectoryError(f"{folder} is not a folder of code")
        sources = cls()
        root = folder.resolve()
        for path in _walk(root):
            if time.monotonic() > deadline:
                sources._note("", "the time limit was reached while files were looked for")
                break
            sources._add_path(path.relative_to(root).as_posix(), path, root)
        return sources

    def _add_path(self, name: str, path: Path, root: Path) -> None:
        try:
            real = path.resolve()
            if not real.is_relative_to(root):
                self._note(name, "a link out of the folder, not followed")
                return
            found = real.lstat()
            if not stat.S_ISREG(found.st_mode):
                self._note(name, "no regular file, not read")
                return
            self._add(name, found.st_size, real)
        except (OSError, RuntimeError) as error:
            self._note(name, f"could not be read: {error}")

    @classmethod
    def of_mapping(cls, files: Mapping[str, bytes]) -> "Sources":
        sources = cls()
        for name in sorted(files):
            clean = posixpath.normpath(name.replace("\\", "/")).lstrip("/")
            if not clean.startswith("..") and _is_code(clean):
                sources._add(clean, len(files[name]), files[name])
        return sources

    def add_text(self, name: str, text: str) -> None:
        """A file that exists only in a command, such as a here-document."""
        if name not in self.texts:
            self.texts[name] = text
            self._by_name.setdefault(posixpath.basename(name), []).append(name)

    def find(self, path: str, *, near: str = "") -> str | None:
        """The known file that `path` means when used in folder `near`; else the one whose path ends alike."""
        for base in dict.fromkeys((near, "")):
            name = posixpath.normpath(posixpath.join(base, path))
            if name in self.texts:
                return name
        parts = [part for part in re.split(r"/+", path) if part not in ("", ".", "..") and not part.startswith("$")]
        if not parts:
            return None
        alike = [name for name in self._by_name.get(parts[-1], []) if _agree(name.split("/"), parts)]
        return min(alike, key=lambda name: (name.count("/"), name)) if alike else None

    def _add(self, name: str, size: int, content: Path | bytes) -> None:
        self.seen += 1
        if size > MAX_FILE_BYTES:
            # A large JSON file is data; a large script is worth a word.
            if not name.endswith(".json"):
                self._note(name, f"not read: {size} bytes, the limit is {MAX_FILE_BYTES}")
            else:
                self.seen -= 1
            return
        if self.read >= MAX_FILES or self._total + size > MAX_TOTAL_BYTES:
            return
        data = content if isinstance(content, bytes) else _bytes(content)
        self.read += 1
        self._total += size
        text = data.decode("utf-8-sig", errors="replace")
        if name.endswith(".ipynb"):
            try:
                text, broken = notebook_python(text)
            except ValueError as error:
                self._note(name, f"could not be parsed: {error}")
                return
            for number in broken:
                self._note(name, f"cell {number} could not be parsed")
        self.add_text(name, text)

    def _note(self, name: str, why: str) -> None:
        self.notes.append(Evidence(name, None, why))


def _bytes(path: Path) -> bytes:
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        return file.read(MAX_FILE_BYTES)


def _agree(left: list[str], right: list[str]) -> bool:
    """Whether one path ends with the other."""
    count = min(len(left), len(right))
    return left[-count:] == right[-count:]


def _is_code(name: str) -> bool:
    parts = name.split("/")
    return posixpath.splitext(name)[1] in SUFFIXES and not any(
        part in LIBRARIES or (part.startswith(".") and part != ".") for part in parts
    )


def _walk(root: Path) -> Iterator[Path]:
    """Code files in a fixed order, the shallow ones first within a folder; links to folders are not entered."""
    for parent, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in LIBRARIES and not name.startswith("."))
        for name in sorted(files):
            if _is_code(name):
                yield Path(parent, name)
