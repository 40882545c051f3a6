"""The hyper-parameters that a submission's training code writes, read from what was kept of it."""

from collections.abc import Sequence
from functools import lru_cache

from frontend.run_stories import RunStory
from traces.methods.settings import settings_in
from traces.models import CodeSnapshot, LabelSource, MethodLabel
from traces.services.snapshots_store import blob_get

SNAPSHOTS_MOST = 400
BYTES_MOST = 200_000
ENDINGS = (".py", ".sh", ".bash", ".yaml", ".yml", ".json", ".toml")
Settings = dict[str, float]


def settings_read(stories: Sequence[RunStory]) -> dict[tuple[int, int], Settings]:
    """By run and submission: settings that the code gives one value. Two queries, and files read once a process.

    Where a label names the files that made the checkpoint, these decide; else every file does.
    """
    ids = [story.run.pk for story in stories]
    rows = CodeSnapshot.objects.filter(run__in=ids).order_by("-run_id", "number").only("run_id", "number", "files")
    snapshots = list(rows[:SNAPSHOTS_MOST])
    named = _named_files([snapshot.run_id for snapshot in snapshots])
    found = {}
    for snapshot in snapshots:
        key = (snapshot.run_id, snapshot.number)
        own = {path: entry for path, entry in snapshot.files.items() if path.endswith(ENDINGS)}
        chosen = {path: entry for path, entry in own.items() if path in named.get(key, frozenset())} or own
        settings = _merged([_of_blob(entry[0], path) for path, entry in chosen.items() if entry[1] <= BYTES_MOST])
        if settings:
            found[key] = settings
    return found


def _named_files(run_ids: Sequence[int]) -> dict[tuple[int, int], frozenset[str]]:
    """Files in which the rules saw the method of each submission."""
    labels = MethodLabel.objects.filter(run__in=set(run_ids), source=LabelSource.RULES).order_by("id")
    rows = labels.values_list("run_id", "number", "findings")
    return {(run, at): frozenset(str(each.get("file", "")) for each in findings) for run, at, findings in rows}


@lru_cache(maxsize=4096)
def _of_blob(digest: str, path: str) -> tuple[tuple[str, frozenset[float]], ...]:
    """Of one file; a file that is not on this machine has none."""
    try:
        text = blob_get(digest).decode("utf-8", "replace")
    except OSError:
        return ()
    return tuple(settings_in(path, text).items())


def _merged(files: Sequence[tuple[tuple[str, frozenset[float]], ...]]) -> Settings:
    """Settings with one value over all files; of several nobody can tell which one counted."""
    values: dict[str, set[float]] = {}
    for file in files:
        for setting, given in file:
            values.setdefault(setting, set()).update(given)
    return {setting: next(iter(given)) for setting, given in values.items() if len(given) == 1}
