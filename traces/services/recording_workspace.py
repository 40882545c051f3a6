"""Counting code files and checkpoints of a workspace, and reading the agent's own summary."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from traces.methods.switches import CODE, WEIGHTS
from traces.services.ingest_rows import storable, storable_json
from traces.services.snapshots_store import masked
from traces.services.snapshots_walk import LIBRARIES, opened

ENTRIES_MOST = 200_000
SUMMARY_BYTES = 256 * 1024
LINES_MOST = 1000
MARKDOWN = ("summary.md", "reports/summary.md")
LINES = ("summary.jsonl", "reports/summary.jsonl")
GIVEN = ("models", "data")
"""What the platform put there."""


@dataclass
class WorkspaceWatch:
    """Folders that held weights at any look, and the code files of the last one (the paper's table 11)."""

    root: Path
    weights: set[str] = field(default_factory=set)
    code_files: int | None = None

    def look(self) -> None:
        code = 0
        for folder, name in _files(str(self.root)):
            suffix = os.path.splitext(name)[1]
            code += suffix in CODE
            if suffix in WEIGHTS and not name.startswith(("optimizer", "scheduler", "rng_state")):
                self.weights.add(folder)
        self.code_files = code


def _files(root: str) -> Iterator[tuple[str, str]]:
    """(folder, file name) below `root`, without links, what the platform put there, and libraries."""
    pending, left = [root], ENTRIES_MOST
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        return
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in LIBRARIES and not (folder == root and entry.name in GIVEN):
                            pending.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        yield folder, entry.name
        except OSError:
            continue


@dataclass(frozen=True)
class Summary:
    """What the agent wrote about its own run, secrets masked. `notes` say what could not be read."""

    text: str
    entries: tuple[dict[str, Any], ...]
    notes: tuple[str, ...] = ()


def summary_of(workspace: Path, token_hash: str) -> Summary:
    """`summary.md` and `summary.jsonl`, from the workspace's top or its `reports/`."""
    text = next((found for name in MARKDOWN if (found := _read(workspace, name, token_hash))), "")
    lines = next((found for name in LINES if (found := _read(workspace, name, token_hash))), "")
    entries, bad = [], 0
    for line in lines.splitlines()[:LINES_MOST]:
        try:
            value = storable_json(json.loads(line, parse_constant=lambda _: None))
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            entries.append(value)
        else:
            bad += bool(line.strip())
    notes = (f"{bad} lines of summary.jsonl are no JSON objects and were left out",) if bad else ()
    return Summary(text, tuple(entries), notes)


def _read(workspace: Path, name: str, token_hash: str) -> str:
    folder, _, file = name.rpartition("/")
    with opened(None, str(workspace / folder), os.O_DIRECTORY) as within, opened(within, file) as fd:
        if within is None or fd is None:
            return ""
        try:
            with open(fd, "rb", closefd=False) as source:
                content = source.read(SUMMARY_BYTES)
        except OSError:
            return ""
    return storable(masked(content, token_hash)[0].decode("utf-8", "replace"))
