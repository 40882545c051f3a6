"""Recording: live events equal those of the finished file, logs are sealed, lost workers are made up for."""

import json
import logging
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from benchmark.models import Run, RunState, secret_hash, secret_new
from benchmark.services.workspace import run_folder
from tests.support.rows import run_row
from traces.models import Event, Recording, ResourceSample, Trace, TraceState
from traces.services import recording as recording_module
from traces.services import recording_sealing
from traces.services.carrying import NotCarried
from traces.services.ingest import trace_import
from traces.services.recording import Recorder
from traces.services.recording_live import LogTail
from traces.services.recording_sealing import log_path, recording_ingest, recording_seal, recordings_mend
from traces.services.recording_times import log_times, times_path
from traces.storage import files

pytestmark = pytest.mark.django_db(transaction=True)
LINES: list[dict[str, Any]] = [
    {"type": "system", "subtype": "init", "session_id": "s", "model": "m", "claude_code_version": "1"},
    *(
        {
            "type": "assistant",
            "session_id": "s",
            "message": {"id": f"m{n}", "role": "assistant", "content": [{"type": "text", "text": f"step {n}"}]},
        }
        for n in range(5)
    ),
]


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> list[tuple[str, tuple[Any, ...]]]:
    settings.DATA_DIR, settings.TRACES_DIR = tmp_path, tmp_path / "traces"
    told: list[tuple[str, tuple[Any, ...]]] = []
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda _app, name, args=(), **_: told.append((name, args)))
    return told


@pytest.fixture
def token() -> str:
    return secret_new()


@pytest.fixture
def run(token: str) -> Run:
    made = run_row(token_hash=secret_hash(token))
    (run_folder(made) / "workspace" / "code").mkdir(parents=True)
    times_path(made).parent.mkdir(parents=True, exist_ok=True)
    Recording.objects.create(run=made)
    return made


def written(run: Run, *lines: Any) -> None:
    with log_path(run).open("ab") as log:
        log.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))


def facts(trace: Trace) -> list[dict[str, Any]]:
    return list(Event.objects.filter(trace=trace).order_by("seq").values(*(set(FIELDS))))


FIELDS = [field.name for field in Event._meta.fields if field.name not in ("id", "trace")]


def test_live_events_come_early_and_are_those_of_the_finished_file(run: Run, token: str) -> None:
    tail = LogTail(run, log_path(run), (token,))
    assert tail.look() is False
    counts = []
    for line in LINES:
        written(run, {**line, "note": f"http://127.0.0.1:8900/grading/{token}/submit and {token}"})
        assert tail.look() is True
        counts.append(Recording.objects.get(run=run).trace.event_count)  # type: ignore[union-attr]
    tail.close()
    assert counts == [1, 2, 3, 4, 5, 6]
    recording_seal(run, log_path(run), tail=tail, token_hash=run.token_hash)
    assert recording_ingest(run.pk)
    trace = Recording.objects.get(run=run).trace
    assert trace is not None
    assert (trace.state, trace.dialect, trace.event_count) == (TraceState.SEALED, "claude-stream", 6)
    assert token.encode() not in (trace.folder / "transcript").read_bytes()
    other = trace_import(run_row(token_hash="x"), log_path(run), secrets=(token,))
    assert facts(trace) == facts(other)
    assert trace.sha256 == other.sha256
    assert log_times(run).lines == (1, 2, 3, 4, 5, 6)


def test_the_seal_is_the_digest_of_the_raw_log_and_stays(run: Run, token: str) -> None:
    written(run, {"token": token})
    first = recording_seal(run, log_path(run), token_hash=run.token_hash)
    log_path(run).chmod(0o640)
    written(run, {"more": 1})
    assert recording_seal(run, log_path(run), token_hash=run.token_hash).log_sha256 == first.log_sha256
    assert first.log_bytes == len(json.dumps({"token": token})) + 1


def test_a_log_changed_after_it_was_read_is_said_and_both_stay(run: Run) -> None:
    written(run, *LINES[:3])
    tail = LogTail(run, log_path(run), ())
    tail.look()
    tail.close()
    log_path(run).write_bytes(log_path(run).read_bytes().replace(b"step 0", b"STEP 9"))
    recording = recording_seal(run, log_path(run), tail=tail, token_hash=run.token_hash)
    assert "changed after it was written" in recording.notes[0]
    recording_ingest(run.pk)
    names = set(Trace.objects.filter(run=run).values_list("name", flat=True))
    assert names == {"agent.log", "agent.log, as it was read live"}
    previews = Event.objects.filter(trace__run=run, seq=2).values_list("preview", flat=True)
    assert set(previews) == {"step 0", "STEP 9"}


def test_a_log_that_became_shorter_is_said(run: Run) -> None:
    written(run, *LINES)
    tail = LogTail(run, log_path(run), ())
    tail.look()
    log_path(run).write_bytes(b"")
    tail.look()
    tail.close()
    assert "shorter" in recording_seal(run, log_path(run), tail=tail, token_hash="").notes[0]


def test_a_lost_worker_is_made_up_for_by_the_sweep(run: Run, token: str, sent: list[Any]) -> None:
    written(run, *LINES, {"type": "x", "url": token})
    recordings_mend()
    assert Recording.objects.get(run=run).sealed_at is None
    Run.objects.filter(pk=run.pk).update(state=RunState.FAILED)
    recordings_mend()
    assert sent == [("traces.jobs.recording_ingest", (run.pk,))]
    assert recording_ingest(run.pk)
    recording = Recording.objects.get(run=run)
    assert recording.ingested_at is not None
    assert recording.trace is not None
    assert recording.trace.masked_count == 1
    assert recording.notes == [
        "sealed by the sweep and not by its worker: a change since it was written would not be seen"
    ]
    assert not recording_ingest(run.pk)


def test_a_job_delivered_twice_reads_once_and_a_failing_one_is_tried_three_times(run: Run) -> None:
    written(run, *LINES)
    recording_seal(run, log_path(run), token_hash="")
    log_path(run).rename(run_folder(run) / "away")
    for _ in range(3):
        with pytest.raises(OSError, match="No such file"):
            recording_ingest(run.pk)
    assert not recording_ingest(run.pk)


def test_a_long_log_stays_with_the_worker_that_reads_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    written(run, *LINES)
    recording_seal(run, log_path(run), token_hash="")
    mine, long_ago = Recording.objects.filter(run=run), timezone.now() - timedelta(days=1)
    others: list[bool] = []

    def slow(_: Recording) -> None:
        mine.update(lease_at=long_ago)
        deadline = time.monotonic() + 60
        while mine.filter(lease_at=long_ago).exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        others.append(recording_ingest(run.pk))

    monkeypatch.setattr(recording_sealing, "BEAT_S", 0.05)
    monkeypatch.setattr(recording_sealing, "_ingest", slow)
    assert recording_ingest(run.pk)
    assert others == [False]


def test_a_web_server_that_is_away_costs_no_try(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    written(run, *LINES)
    recording_seal(run, log_path(run), token_hash="")

    def away(path: Path, offset: int, data: bytes) -> None:
        raise NotCarried("nobody answers")

    monkeypatch.setattr(files, "carried", away)
    for _ in range(5):
        with pytest.raises(NotCarried):
            recording_ingest(run.pk)
    carried: dict[str, bytes] = {}
    monkeypatch.setattr(files, "carried", lambda path, offset, data: carried.update({path.name: data}))
    assert recording_ingest(run.pk)
    assert carried["transcript"] == log_path(run).read_bytes()


def test_when_lines_came_travels_as_well(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    carried: list[tuple[Path, int, bytes]] = []
    monkeypatch.setattr(files, "carried", lambda *told: carried.append(told))
    tail = LogTail(run, log_path(run), ())
    for line in LINES[:2]:
        written(run, line)
        assert tail.read()
    first, second = (each for each in carried if each[0] == times_path(run))
    assert (first[1], second[1]) == (0, len(first[2]))
    assert first[2] + second[2] == times_path(run).read_bytes()


def test_a_run_without_a_folder_does_not_stay_in_the_sweep(run: Run, sent: list[Any]) -> None:
    Run.objects.filter(pk=run.pk).update(state=RunState.CANCELLED)
    log_path(run).parent.rename(log_path(run).parent.with_name("gone"))
    recordings_mend()
    assert sent == []
    assert "could not be sealed" in Recording.objects.get(run=run).notes[0]


def test_a_whole_recording_in_its_thread(
    run: Run, token: str, sent: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording_module, "LOOK_S", 0.1)
    with Recorder().recording(
        run.pk, log_path=log_path(run), workspace=run_folder(run) / "workspace", secrets=(token,)
    ):
        written(run, *LINES)
        deadline = time.monotonic() + 60
        while not (_all_seen(run) and ResourceSample.objects.filter(run=run).exists()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert Event.objects.filter(trace__run=run).count() == 6
    recording = Recording.objects.get(run=run)
    assert recording.sealed_at is not None
    assert recording.notes == []
    assert sent == [("traces.jobs.recording_ingest", (run.pk,))]
    assert ResourceSample.objects.filter(run=run).count() >= 1
    assert log_path(run).stat().st_mode & 0o777 == 0o440


def _all_seen(run: Run) -> bool:
    return Event.objects.filter(trace__run=run).count() == len(LINES)


def test_faults_of_the_recorder_do_not_reach_the_run(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    with Recorder().recording(2**40, log_path=log_path(run), workspace=log_path(run)):
        pass
    assert "is not recorded further" in caplog.text
