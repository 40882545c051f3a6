"""What changed in the code between two submissions."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from traces.models import CodeSnapshot
from traces.services.snapshots_store import blob_get

LINES_MOST = 4000
"""Of one file: longer ones take too long to compare line by line."""
SHOWN_MOST = 3000
"""Lines shown of one file's difference."""


@dataclass(frozen=True)
class FileDiff:
    """One file. `why` says why there are no lines: binary, too long, or its content is not here."""

    path: str
    status: str
    """`added`, `removed` or `changed`."""
    lines: tuple[str, ...] = ()
    """Unified diff without the two lines that name the file."""
    why: str = ""
    cut: int = 0
    """Lines not shown."""

    @property
    def added(self) -> int:
        return sum(line.startswith("+") for line in self.lines)

    @property
    def removed(self) -> int:
        return sum(line.startswith("-") for line in self.lines)

    @property
    def numbered(self) -> Iterator[tuple[str, int | None, str]]:
        """`(class, line number, text)`: `hunk`, `add`, `del` or empty; numbers are of the side that the line is on."""
        before = after = 0
        for line in self.lines:
            if line.startswith("@@"):
                before, after = (int(part[1:].split(",")[0]) for part in line.split()[1:3])
                yield "hunk", None, line
            elif line.startswith("-"):
                yield "del", before, line[1:]
                before += 1
            elif line.startswith("+"):
                yield "add", after, line[1:]
                after += 1
            else:
                yield "", after, line[1:]
                before, after = before + 1, after + 1


def snapshot_changes(a: CodeSnapshot, b: CodeSnapshot) -> dict[str, str]:
    """Path → status of each file that is not the same in both, by path. Reads no content."""
    found = {}
    for path in sorted(a.files.keys() | b.files.keys()):
        before, after = a.files.get(path), b.files.get(path)
        if before is None or after is None:
            found[path] = "added" if before is None else "removed"
        elif before[0] != after[0]:
            found[path] = "changed"
    return found


def file_diff(a: CodeSnapshot, b: CodeSnapshot, path: str, status: str) -> FileDiff:
    """One file of `snapshot_changes`, from `a` to `b`, line by line."""
    try:
        old, new = (blob_get(each.files[path][0]) if path in each.files else b"" for each in (a, b))
    except OSError:
        return FileDiff(path, status, why="its content is not in this server's store")
    if b"\x00" in old or b"\x00" in new:
        return FileDiff(path, status, why=f"binary, {len(old)} bytes before and {len(new)} after")
    left, right = (content.decode("utf-8", "replace").splitlines() for content in (old, new))
    if max(len(left), len(right)) > LINES_MOST:
        return FileDiff(path, status, why=f"too long to compare: {len(left)} lines before and {len(right)} after")
    lines = list(difflib.unified_diff(left, right, lineterm=""))[2:]
    return FileDiff(path, status, tuple(lines[:SHOWN_MOST]), cut=max(0, len(lines) - SHOWN_MOST))
