"""Keeping the code of every submission as it was when it arrived."""

import hashlib
import json
import logging
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from django.db import DatabaseError, IntegrityError, connection, transaction

from benchmark.models import Run
from benchmark.services.workspace import run_folder
from traces.models import CodeSnapshot
from traces.services.ingest_rows import storable
from traces.services.snapshots_store import blob_put, masked
from traces.services.snapshots_walk import Caps, CodeWalk, Found, Stamp, opened

log = logging.getLogger(__name__)
CAPS = Caps()
Entry = tuple[str, int, int]
"""Digest, bytes, secrets masked: as in `CodeSnapshot.files`."""
KNOWN_MOST = 20_000
SETTLED_NS = 100_000_000
"""A file changed more recently could change again without a trace, so it is read again."""
_known: dict[str, dict[Stamp, Entry]] = {}
"""By run: files that this process has kept already."""


def snapshot_take(*, run: Run, number: int, model_path: str, caps: Caps = CAPS) -> CodeSnapshot | None:
    """Copy `code/` of the run's workspace; None when it could not be kept. Never raises: a submission goes on."""
    try:
        snapshot = _taken(run, number, model_path, caps)
        with transaction.atomic():
            if connection.vendor == "postgresql":
                # It need not wait for the disk: the commit that accepts the submission comes later and does.
                with connection.cursor() as cursor:
                    cursor.execute("SET LOCAL synchronous_commit TO OFF")
            snapshot.save(force_insert=True)
    except IntegrityError:
        return None  # an intake that is repeated: what came with the submission stays
    except DatabaseError:
        log.exception("the code of %s#%s could not be stored", run.slug, number)
        connection.close()
        return None
    except Exception:
        log.exception("the code of %s#%s could not be kept", run.slug, number)
        return None
    return snapshot


def _taken(run: Run, number: int, model_path: str, caps: Caps) -> CodeSnapshot:
    began = time.monotonic()
    known = _known_of(run)
    walk = CodeWalk(caps, known)
    files: dict[str, Entry] = {}
    try:
        with opened(None, str(run_folder(run) / "workspace" / "code"), os.O_DIRECTORY) as code:
            if code is None:
                walk.notes.append("there is no folder code/ in the workspace")
            else:
                for found in walk.files(code):
                    files[storable(found.path)] = _kept(found, run.token_hash, known)
    except OSError as error:
        walk.notes.append(f"not kept whole: {error.strerror or error}")
    return CodeSnapshot(
        run=run,
        number=number,
        model_path=storable(model_path)[:1024],
        files=files,
        left_out={storable(path): why for path, why in walk.left_out.items()},
        notes=walk.notes,
        digest=tree_digest(files),
        total_bytes=sum(size for _, size, _ in files.values()),
        log_bytes=_size(run_folder(run) / "agent.log"),
        seconds=time.monotonic() - began,
    )


def _known_of(run: Run) -> dict[Stamp, Entry]:
    """Of few runs and files: a process lives long."""
    while len(_known) > 100 or sum(map(len, _known.values())) > KNOWN_MOST:
        _known.pop(next(iter(_known)))
    return _known.setdefault(run.slug, {})


def _kept(found: Found, token_hash: str, known: dict[Stamp, Entry]) -> Entry:
    if found.content is None:
        return known[found.stamp]
    kept, count = masked(found.content, token_hash)
    entry = (blob_put(kept), len(kept), count)
    if time.time_ns() - found.stamp[-1] > SETTLED_NS:
        known[found.stamp] = entry
    return entry


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def tree_digest(files: Mapping[str, Sequence[object]]) -> str:
    """SHA-256 over names and contents' digests in the order of names."""
    listed = sorted((path, str(entry[0])) for path, entry in files.items())
    return hashlib.sha256(json.dumps(listed, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()
