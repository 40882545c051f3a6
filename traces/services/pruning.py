"""Records of runs that were deleted: their rows are gone, their files are not."""

from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from benchmark.models import Run
from benchmark.services.pruning import Prunable, is_old
from traces.models import CodeSnapshot, Trace
from traces.services.snapshots_store import code_store

KEY_CHARS, DIGEST_CHARS = 32, 64


def traces_prunable() -> Iterator[Prunable]:
    """Folders of transcripts, times of logs, and stored code that no row names any more, or that was begun only."""
    root = Path(settings.TRACES_DIR)
    folders = {path.name: path for path in root.glob("??/*") if path.is_dir() and len(path.name) == KEY_CHARS}
    known = set(Trace.objects.values_list("key", flat=True).iterator())
    yield from _gone(folders, known, "its transcript was deleted")
    times = {path.name: path for path in (root / "times").glob("*")}
    runs = set(Run.objects.filter(slug__in=times).values_list("slug", flat=True))
    yield from _gone(times, runs, "its run was deleted")
    for part in sorted(code_store().glob("??/.*")):
        if is_old(part):
            yield Prunable(part, "its writer was killed")
    blobs = {path.name: path for path in code_store().glob("??/*") if len(path.name) == DIGEST_CHARS}
    if blobs:
        yield from _gone(blobs, _digests_in_use(), "no submission's code holds it any more")


def _gone(found: dict[str, Path], known: set[str], why: str) -> Iterator[Prunable]:
    for name in sorted(found.keys() - known):
        if is_old(found[name]):
            yield Prunable(found[name], why)


def _digests_in_use() -> set[str]:
    rows = CodeSnapshot.objects.values_list("files", flat=True)
    return {str(entry[0]) for files in rows.iterator(chunk_size=500) for entry in files.values()}
