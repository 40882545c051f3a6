"""What a task's held-out folder was when it was prepared: whatever changed in it since is never graded with."""

import hashlib
from pathlib import Path


def held_out_digest(folder: Path) -> str:
    """SHA-256 of every file's path below `folder` and its content."""
    whole = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as handle:
            content = hashlib.file_digest(handle, "sha256").hexdigest()
        whole.update(f"{content} {path.relative_to(folder).as_posix()}\n".encode(errors="surrogateescape"))
    return whole.hexdigest()
