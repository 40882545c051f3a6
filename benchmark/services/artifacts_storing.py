"""Sealed files into object storage. What cannot be stored now stays on this disk and is tried again."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

from benchmark.artifacts.contract import ArtifactStorage, StorageUnavailable
from benchmark.models import StoredArtifact
from benchmark.services.artifacts import artifact_name, artifact_storage
from benchmark.services.artifacts_sources import Source, artifact_sources

log = logging.getLogger(__name__)
AGAIN_S = 3600.0
"""What has a fault of its own, such as a lost file, is looked at again after so long."""
_faulty: dict[tuple[str, str], float] = {}
_state = {"down": False}


@dataclass
class Storing:
    """What a pass over everything that waits came to."""

    stored: int = 0
    bytes: int = 0
    faults: list[str] = field(default_factory=list)


def artifacts_waiting() -> int:
    """How many rows have sealed files on this machine that are not in object storage."""
    return sum(source.waiting().count() for source in artifact_sources())


def artifacts_store(
    *, tell: Callable[[str, int], None] = lambda *_: None, retry_faulty: bool = False, most_s: float = float("inf")
) -> Storing:
    """Store what waits, oldest first, for at most about `most_s` seconds. `tell` is given each row, and its bytes.

    Raises: StorageUnavailable: nothing is lost, and what was stored before is noted.
    """
    storage, done = artifact_storage(), Storing()
    if storage is None:
        return done
    until = time.monotonic() + most_s
    for source in artifact_sources():
        for row in source.waiting().iterator(chunk_size=200):
            if time.monotonic() > until:
                return done
            about = (source.kind, str(getattr(row, source.field)))
            if not retry_faulty and time.monotonic() < _faulty.get(about, 0.0):
                continue
            _store(storage, source, row, done, tell)
    return done


def _store(storage: ArtifactStorage, source: Source, row: Any, done: Storing, tell: Callable[[str, int], None]) -> None:
    about = (source.kind, str(getattr(row, source.field)))
    try:
        files = {artifact_name(path): _kept(storage, path, digest) for path, digest in source.files(row).items()}
    except OSError as error:
        _faulty[about] = time.monotonic() + AGAIN_S
        done.faults.append(f"{source.kind} {about[1]}: {error}")
        log.warning("%s %s is not put into object storage: %s", *about, error)
        return
    size = sum(each[0] for each in files.values())
    StoredArtifact.objects.get_or_create(kind=source.kind, key=about[1], defaults={"files": files, "total_bytes": size})
    done.stored, done.bytes = done.stored + 1, done.bytes + size
    tell(" ".join(about), size)


def _kept(storage: ArtifactStorage, path: Path, digest: str) -> tuple[int, str]:
    """A file that is not on this disk may be there already, as the same code of an earlier submission is."""
    if path.exists():
        return storage.keep(artifact_name(path), path, sha256=digest)
    held = storage.held(artifact_name(path))
    if held is None or (digest and held[1] != digest):
        raise FileNotFoundError(f"{path} is not here")
    return held


def artifacts_pass() -> bool:
    """What the periodic job does; whether anything was stored. An outage is said once, and its end."""
    was_down = _state["down"]
    try:
        done = artifacts_store(most_s=10 * settings.SWEEP_S)
    except StorageUnavailable as error:
        _state["down"] = True
        if not was_down:
            log.warning("sealed files stay on this disk until the object storage can be reached: %s", error)
        return False
    _state["down"] = was_down and not done.stored
    if was_down and done.stored:
        log.warning("the object storage can be reached again")
    return done.stored > 0
