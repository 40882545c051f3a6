"""One run of everything that is sealed: a transcript, code, records, the raw log, and an archive."""

import hashlib
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from benchmark.models import Run, RunState
from bundles.models import Bundle
from bundles.services.uploads import upload_create, upload_finish
from grading.models import EvaluationState, SubmissionState
from tests.support.bundling import DETAILS, bundle_bytes
from tests.support.rows import evaluation_row, run_row, submission_row, verdict_row
from tests.support.transcripts import telling
from traces.models import CodeSnapshot, Recording, Trace
from traces.services.ingest import trace_import
from traces.services.recording_sealing import log_path
from traces.services.snapshots_store import blob_put

SEALED = 6
"""Rows whose files are sealed; two of them are code."""


@dataclass
class World:
    run: Run
    trace: Trace
    bundle: Bundle

    def files(self) -> dict[str, bytes]:
        """What lies below the data folder: name → content."""
        data = Path(settings.DATA_DIR)
        return {
            path.relative_to(data).as_posix(): path.read_bytes()
            for path in data.rglob("*")
            if path.is_file() and not path.is_relative_to(data / "fetching")
        }

    def age(self, days: float = 30) -> None:
        """Everything on this disk was written that long ago."""
        then = time.time() - days * 86400
        for path in Path(settings.DATA_DIR).rglob("*"):
            os.utime(path, (then, then))


def code(run: Run, number: int, **files: bytes) -> CodeSnapshot:
    listed = {f"{name}.py": [blob_put(content), len(content), 0] for name, content in files.items()}
    return CodeSnapshot.objects.create(run=run, number=number, model_path="v", files=listed)


def records(run: Run) -> None:
    """A graded submission with its record of two items."""
    content = "".join(json.dumps({"item_id": f"q{n}", "reward": n, "tokens": 7}) + "\n" for n in range(2)).encode()
    evaluation = evaluation_row(run, "d" * 64, state=EvaluationState.DONE)
    name = f"evaluations/{evaluation.pk}/out/samples.jsonl"
    path = Path(settings.DATA_DIR) / name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    verdict = verdict_row(run, 50.0, records=name, records_sha256=digest, n_scored=2, n_expected=2)
    evaluation.verdict = verdict
    evaluation.save()
    graded = {"state": SubmissionState.GRADED, "verdict": verdict, "evaluation": evaluation}
    submission_row(run, **graded, ended_at=timezone.now())


def world(owner: User, folder: Path) -> World:
    now = timezone.now()
    run = run_row(state=RunState.FINISHED, outcome=RunState.FINISHED, ended_at=now)
    records(run)
    submission_row(run, state=SubmissionState.REJECTED, verdict=verdict_row(run, None), ended_at=now)
    code(run, 1, train=b"a = 1\n", same=b"same = True\n")
    code(run, 2, train=b"a = 2\n", same=b"same = True\n")
    source = folder / "session.jsonl"
    source.write_bytes(telling().data)
    trace = trace_import(run, source)
    log = log_path(run)
    log.parent.mkdir(parents=True)
    log.write_bytes(b"the raw log\n")
    Recording.objects.create(
        run=run, trace=trace, log_sha256=hashlib.sha256(b"the raw log\n").hexdigest(), sealed_at=now, ingested_at=now
    )
    content = bundle_bytes()
    upload = upload_create(owner=owner, length=len(content), filename="run.zip", details=dict(DETAILS))
    upload.path.write_bytes(content)
    return World(run, trace, upload_finish(upload))
