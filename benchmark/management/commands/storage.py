"""`manage.py storage`: sealed files in object storage, looked at, moved there, checked and brought back."""

import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Count, Sum
from django.template.defaultfilters import filesizeformat

from benchmark.artifacts.contract import ArtifactStorage, Damaged, StorageUnavailable
from benchmark.models import StoredArtifact
from benchmark.services.artifacts import artifact_local, artifact_path, artifact_storage
from benchmark.services.artifacts_sources import artifact_sources
from benchmark.services.artifacts_storing import artifacts_store


class Command(BaseCommand):
    help = (
        "status: what is stored and what waits. move: store everything that waits; begun again it goes on. "
        "check: whether the bucket can be used and every object is there. fetch: bring everything back to this disk."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=("status", "move", "check", "fetch"))
        parser.add_argument("--contents", action="store_true", help="check: read every object and compare its SHA-256")

    def handle(self, *args: Any, **options: Any) -> None:
        storage = artifact_storage()
        if storage is None:
            raise CommandError("There is no object storage: set AGENT2_S3_BUCKET (docs/settings.md).")
        try:
            match options["action"]:
                case "status":
                    self._status()
                case "move":
                    self._move()
                case "check":
                    self._check(storage, contents=options["contents"])
                case "fetch":
                    self._fetch()
        except StorageUnavailable as error:
            raise CommandError(f"{error}. Nothing is lost; begin again when it is back.") from error

    def _status(self) -> None:
        where = settings.STORAGES["artifacts"]["OPTIONS"]
        place = f"{where['bucket_name']}/{where['location']}".rstrip("/")
        self.stdout.write(f"{place} at {where['endpoint_url'] or 'AWS'}")
        rows = StoredArtifact.objects.order_by().values_list("kind").annotate(Count("pk"), Sum("total_bytes"))
        stored = {kind: (count, size) for kind, count, size in rows}
        for source in artifact_sources():
            count, size = stored.get(source.kind, (0, 0))
            waiting = source.waiting().count()
            self.stdout.write(f"{source.kind:8} {count:8} stored, {filesizeformat(size)}; {waiting} wait")

    def _move(self) -> None:
        done = artifacts_store(
            tell=lambda about, size: self.stdout.write(f"{about}  {filesizeformat(size)}"), retry_faulty=True
        )
        for fault in done.faults:
            self.stderr.write(fault)
        self.stdout.write(f"{done.stored} stored, {filesizeformat(done.bytes)}; {len(done.faults)} could not be.")
        self.stdout.write("Their files stay on this disk as well: `manage.py prune --copies-days 0` removes them.")
        if done.faults:
            raise CommandError("Some files could not be stored; they are named above.")

    def _check(self, storage: ArtifactStorage, *, contents: bool) -> None:
        self._probe(storage)
        seen = bad = 0
        for name, size, digest in self._objects():
            seen += 1
            try:
                if storage.held(name) != (size, digest):
                    raise Damaged("it is not there, or another object")
                if contents:
                    for _ in storage.blocks(name, sha256=digest):
                        pass
            except OSError as error:
                bad += 1
                here = "a copy is on this disk" if artifact_path(name).is_file() else "there is no copy on this disk"
                self.stderr.write(f"{name}: {error}; {here}")
        told = "were read" if contents else "are there"
        self.stdout.write(f"The bucket can be written to and read. {seen - bad} of {seen} objects {told}.")
        if bad:
            raise CommandError(f"{bad} objects are missing or damaged.")

    def _probe(self, storage: ArtifactStorage) -> None:
        """An object put, read and deleted: whether the keys have the rights that are needed."""
        name, content = f"probe/{uuid4().hex}", uuid4().bytes
        with tempfile.NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            storage.keep(name, Path(file.name))
        read = b"".join(storage.blocks(name))
        storage.forget(name)
        if read != content or storage.held(name) is not None:
            raise CommandError("The bucket did not give back, or did not delete, what was put there.")

    def _fetch(self) -> None:
        count = 0
        for name, _, digest in self._objects():
            path = artifact_path(name)
            if not path.is_file():
                count += artifact_local(path, sha256=digest).is_file()
        self.stdout.write(f"{count} files were brought back; objects stay until AGENT2_S3_BUCKET is unset.")

    def _objects(self) -> Iterator[tuple[str, int, str]]:
        """Name, bytes, SHA-256; each once."""
        seen: set[str] = set()
        for files in StoredArtifact.objects.values_list("files", flat=True).iterator(chunk_size=500):
            for name, (size, digest) in files.items():
                if name not in seen:
                    seen.add(name)
                    yield name, size, digest
