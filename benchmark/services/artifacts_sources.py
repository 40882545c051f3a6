"""What is sealed, as the rooms above tell it; `settings.ARTIFACT_SOURCES` names their tuples of sources."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import CharField, Exists, OuterRef, QuerySet
from django.db.models.functions import Cast
from django.utils.module_loading import import_string

from benchmark.models import StoredArtifact


@dataclass(frozen=True)
class Source:
    """One kind of sealed files. They never change again and are read as wholes, or from a copy."""

    kind: str
    field: str
    """Of the rows: what names one, `StoredArtifact.key`."""
    rows: Callable[[], QuerySet[Any]]
    """Whose files are sealed and lie on this machine's disk."""
    files: Callable[[Any], Mapping[Path, str]]
    """Of one row: path → SHA-256, empty where nobody noted it."""

    def waiting(self) -> QuerySet[Any]:
        """Rows whose files are not in object storage yet, oldest first."""
        stored = StoredArtifact.objects.filter(kind=self.kind, key=Cast(OuterRef(self.field), CharField()))
        return self.rows().filter(~Exists(stored)).order_by("pk")

    def orphans(self) -> set[int]:
        """Numbers of `StoredArtifact` rows whose own row was deleted."""
        known = set(map(str, self.rows().model._default_manager.values_list(self.field, flat=True).iterator()))
        stored = StoredArtifact.objects.filter(kind=self.kind).values_list("pk", "key")
        return {pk for pk, key in stored.iterator() if key not in known}


@cache
def artifact_sources() -> tuple[Source, ...]:
    return tuple(_told())


def _told() -> Iterator[Source]:
    for place in settings.ARTIFACT_SOURCES:
        yield from import_string(place)
