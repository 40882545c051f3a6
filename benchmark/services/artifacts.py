"""Sealed files of the data folder, wherever they lie: on this disk, or in object storage.

Without object storage a path is what it is. With it the disk is a place to work, and a cache: what is missing there is
brought back when it is asked for, checked by its SHA-256. Whatever asks the storage may raise StorageUnavailable.
"""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast
from uuid import uuid4
from zlib import crc32

from django.conf import settings
from django.core.files.storage import storages

from benchmark.artifacts.contract import ArtifactStorage
from benchmark.services.locking import held_alone

log = logging.getLogger(__name__)
BLOCK = 1 << 20
LOCKS = 64


def artifact_storage() -> ArtifactStorage | None:
    """The object storage of this deployment; None: the data folder is all there is."""
    return cast(ArtifactStorage, storages["artifacts"]) if "artifacts" in settings.STORAGES else None


def artifact_name(path: Path) -> str:
    """The object's name. Raises: ValueError: the path is not below the data folder."""
    return path.relative_to(settings.DATA_DIR).as_posix()


def artifact_path(name: str) -> Path:
    return Path(settings.DATA_DIR) / name


def fetching_folder() -> Path:
    """What is on its way from object storage; on the data folder's own disk."""
    return Path(settings.DATA_DIR) / "fetching"


def artifact_local(path: Path, *, sha256: str = "") -> Path:
    """The same path, with the file there if it is anywhere. Raises: Damaged; OSError: the disk is full."""
    storage = artifact_storage()
    if storage is not None and not path.exists():
        with held_alone(fetching_folder() / f"{crc32(str(path).encode()) % LOCKS}.lock"):
            if not path.exists():
                _fetch(storage, path, sha256)
    return path


def _fetch(storage: ArtifactStorage, path: Path, sha256: str) -> None:
    """Nothing where the storage lacks it: whoever opens the path is told."""
    part = fetching_folder() / f"{uuid4().hex}.part"
    try:
        with part.open("xb") as file:
            for block in storage.blocks(artifact_name(path), sha256=sha256):
                file.write(block)
        part.chmod(0o640)
        path.parent.mkdir(parents=True, exist_ok=True)
        part.rename(path)
    except FileNotFoundError:
        log.info("%s is neither here nor in object storage", path)
    finally:
        part.unlink(missing_ok=True)


def artifact_open(path: Path) -> BinaryIO:
    """For reading parts of a large file without bringing it here. Raises: FileNotFoundError."""
    storage = artifact_storage()
    if storage is None or path.exists():
        return path.open("rb")
    return storage.opened(artifact_name(path))


def artifact_blocks(path: Path, *, sha256: str = "") -> Iterator[bytes]:
    """The whole content, a block at a time and without a copy here. Raises: FileNotFoundError; Damaged."""
    storage = artifact_storage()
    if storage is not None and not path.exists():
        yield from storage.blocks(artifact_name(path), sha256=sha256)
        return
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield block
