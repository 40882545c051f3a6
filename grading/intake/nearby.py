"""For a path that does not exist: where the agent's checkpoints might be instead."""

import os
import re
from itertools import islice
from pathlib import PurePosixPath

from grading.intake.codes import names, shown

CHECKPOINT_FILES = frozenset({"config.json", "adapter_config.json", "model.safetensors"})
_CHECKPOINT_NAME = re.compile(r"(checkpoint|ckpt|epoch|step|model|final|merged|output)", re.IGNORECASE)
_LOOKED_AT = 500


def nearest_text(inside: PurePosixPath, fd: int | None) -> str:
    """One sentence: the nearest folder that exists, and the checkpoint folders in it."""
    found = checkpoint_folders(fd) if fd is not None else []
    likely = f"it contains {names(found, 5)}" if found else "it contains no checkpoint folder"
    return f"The nearest folder that exists is {shown(str(inside))}; {likely}."


def checkpoint_folders(fd: int) -> list[str]:
    """Names of the subfolders that look like checkpoints, those with a model's files first. Unreadable: none."""
    try:
        listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=fd)
    except OSError:
        return []
    try:
        with os.scandir(listed) as entries:
            folders = [each.name for each in islice(entries, _LOOKED_AT) if each.is_dir(follow_symlinks=False)]
        rated = [(not _holds_model(listed, name), name) for name in folders]
    finally:
        os.close(listed)
    return [name for bare, name in sorted(rated) if not bare or _CHECKPOINT_NAME.search(name)]


def _holds_model(parent: int, name: str) -> bool:
    for file in CHECKPOINT_FILES:
        try:
            os.stat(f"{name}/{file}", dir_fd=parent, follow_symlinks=False)
        except OSError:
            continue
        return True
    return False
