"""What object storage lets go: copies on this disk that it holds too, and objects whose row was deleted."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from benchmark.artifacts.contract import ArtifactStorage, Listed
from benchmark.models import StoredArtifact
from benchmark.services.artifacts import artifact_path, artifact_storage, fetching_folder
from benchmark.services.artifacts_sources import artifact_sources
from benchmark.services.pruning import YOUNG_S, Prunable, is_old


@dataclass(frozen=True)
class PrunableObject:
    """One object that may be deleted; as `Prunable`."""

    storage: ArtifactStorage
    listed: Listed
    why: str

    @property
    def path(self) -> str:
        return f"object {self.listed.name}"

    def size(self) -> int:
        return self.listed.size

    def remove(self) -> None:
        """Raises: StorageUnavailable."""
        self.storage.forget(self.listed.name)


def copies_prunable(*, days: float) -> Iterator[Prunable]:
    """Files on this disk, older than `days` days, that object storage holds; what was cut on its way from there."""
    if artifact_storage() is None:
        return
    for part in sorted(fetching_folder().glob("*.part")):
        if is_old(part):
            yield Prunable(part, "it was cut on its way from object storage")
    seen: set[str] = set()
    for files in StoredArtifact.objects.values_list("files", flat=True).iterator(chunk_size=500):
        for name in sorted(files.keys() - seen):
            seen.add(name)
            path = artifact_path(name)
            if path.is_file() and is_old(path, days * 86400):
                yield Prunable(path, "object storage holds it")


def objects_prunable() -> Iterator[PrunableObject]:
    """Objects older than a day that belong to no row any more. Raises: StorageUnavailable."""
    storage = artifact_storage()
    if storage is None:
        return
    gone = {pk for source in artifact_sources() for pk in source.orphans()}
    rows = StoredArtifact.objects.values_list("pk", "files").iterator(chunk_size=500)
    known = {name for pk, files in rows if pk not in gone for name in files}
    before = timezone.now() - timedelta(seconds=YOUNG_S)
    for each in storage.listed(""):
        if each.name not in known and each.modified < before:
            yield PrunableObject(storage, each, "what it belonged to was deleted")


def stored_forget() -> int:
    """Drop the notes about rows that were deleted; how many. Their objects are `objects_prunable` from then on."""
    gone = [pk for source in artifact_sources() for pk in source.orphans()]
    for start in range(0, len(gone), 500):
        StoredArtifact.objects.filter(pk__in=gone[start : start + 500]).delete()
    return len(gone)
