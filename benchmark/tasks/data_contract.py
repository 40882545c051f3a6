"""How a task's data gets here: `data.py` of a task folder defines `prepare(target, source)`.

`prepare` writes `target.visible` (everything in it is mounted, read-only, into the agent's workspace as `data/`) and
`target.held_out` (never mounted there). It runs on a worker, once per task version, into a temporary folder that is
renamed when complete.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class DataUnavailable(Exception):
    """A source file is missing or its SHA-256 differs. The message names the file, its origin and the setting."""


@dataclass(frozen=True)
class DataTarget:
    """The two folders to fill; both exist and are empty."""

    visible: Path
    held_out: Path


class DataSource(Protocol):
    """Where source files come from: an operator's folder for this task, else the public source."""

    def file(self, name: str, *, sha256: str | None, url: str) -> Path:
        """A local path of the source file `name` with that digest; None where the caller checks the content itself.

        Raises: DataUnavailable: it is nowhere, cannot be downloaded, or its digest differs.
        """
        ...
