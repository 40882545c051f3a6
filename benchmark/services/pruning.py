"""What of the data folder may go: folders of runs that are over, or that nobody knows any more."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from benchmark.models import TERMINAL, Run
from benchmark.sandbox.disk import tree_bytes
from benchmark.sandbox.trees import tree_remove

YOUNG_S = 24 * 3600.0
"""What was touched more recently may still be being written, and its row not yet be there."""


@dataclass(frozen=True)
class Prunable:
    """One file or folder that may be removed."""

    path: Path
    why: str

    def size(self) -> int:
        """Bytes."""
        return tree_bytes(self.path) if self.path.is_dir() else self.path.lstat().st_size

    def remove(self) -> None:
        """Nothing there is not an error. Raises: OSError."""
        tree_remove(self.path)


def is_old(path: Path, age_s: float = YOUNG_S) -> bool:
    """Whether it was last touched longer ago than that."""
    try:
        return time.time() - path.lstat().st_mtime > age_s
    except OSError:
        return False


def runs_prunable(*, days: float) -> Iterator[Prunable]:
    """Workspaces of runs that ended more than `days` days ago, and whole folders of runs that were deleted.

    The raw log and the gateway's log of requests stay beside a workspace that goes.
    """
    folders = {path.name: path for path in (settings.DATA_DIR / "runs").glob("*") if path.is_dir()}
    known = dict(Run.objects.filter(slug__in=folders).values_list("slug", "pk"))
    for slug in sorted(folders.keys() - known.keys()):
        if is_old(folders[slug]):
            yield Prunable(folders[slug], "its run was deleted")
    over = Run.objects.filter(slug__in=folders, state__in=TERMINAL, ended_at__lt=timezone.now() - timedelta(days=days))
    for slug in over.order_by("ended_at").values_list("slug", flat=True):
        if (folders[slug] / "workspace").is_dir():
            yield Prunable(folders[slug] / "workspace", f"its run ended more than {days:g} days ago")
