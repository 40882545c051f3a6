"""Static files as the web server hands them out: collected in one folder, each with a compressed copy beside it."""

import fcntl
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from whitenoise.storage import CompressedStaticFilesStorage

UNUSED = ("widgetbundle.js", "datasets", "templates")
"""Of Plotly's package, beside the one file that pages load."""

PRECISION = 1e-3
"""Seconds: times pass through floating point when they are copied."""


class OnceCompressed(CompressedStaticFilesStorage):  # type: ignore[misc]  # WhiteNoise has no types
    """What was compressed before and has not changed since is left alone: another server may be reading it."""

    def post_process(self, paths: dict[str, Any], dry_run: bool = False, **options: Any) -> Iterator[Any]:
        stale = {name: found for name, found in paths.items() if not self._compressed(name)}
        yield from super().post_process(stale, dry_run, **options)

    def _compressed(self, name: str) -> bool:
        """WhiteNoise gives the copy the time of its file."""
        path = Path(self.path(name))
        copy = path.with_name(f"{path.name}.gz")
        return path.exists() and copy.exists() and abs(copy.stat().st_mtime - path.stat().st_mtime) < PRECISION


@cache
def static_collect() -> None:
    """Bring STATIC_ROOT up to date, once in a process and by one process at a time."""
    root = Path(settings.STATIC_ROOT)
    root.mkdir(parents=True, exist_ok=True)
    with (root.parent / "static.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=list(UNUSED))
