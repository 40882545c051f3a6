"""Sealed files go into object storage, come back when they are asked for, and nothing is lost on the way."""

import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from benchmark.artifacts.contract import StorageUnavailable
from benchmark.models import Run, StoredArtifact
from benchmark.services import artifacts, artifacts_pruning, artifacts_storing
from benchmark.services.artifacts import artifact_local, artifact_path, artifact_storage
from benchmark.services.artifacts_storing import artifacts_pass, artifacts_store, artifacts_waiting
from tests.db.artifacts.world import SEALED, World, code, world
from tests.support.object_storage import BUCKET, ObjectServer
from tests.support.people import person
from traces.models import Trace, TraceState
from traces.services.ingest import trace_open
from traces.services.snapshots_store import blob_get, blob_path

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
PREFIX = "bench/one/"


@pytest.fixture
def made(site: ObjectServer, tmp_path: Path) -> World:
    return world(person("owner", "submitter"), tmp_path)


def stored(site: ObjectServer) -> set[str]:
    return {name.removeprefix(PREFIX) for name in site.names()}


def told(*args: str) -> str:
    out = StringIO()
    call_command(*args, stdout=out, stderr=out)
    return out.getvalue()


def test_everything_that_is_sealed_is_stored_under_its_path(site: ObjectServer, made: World) -> None:
    open_trace = trace_open(made.run, name="live")
    open_trace.folder.mkdir(parents=True)
    (open_trace.folder / "transcript").write_bytes(b"still growing")
    assert artifacts_waiting() == SEALED
    assert artifacts_store().stored == SEALED
    files = made.files()
    assert stored(site) == {name for name in files if open_trace.key not in name}
    for name in stored(site):
        assert site.client.get_object(Bucket=BUCKET, Key=PREFIX + name)["Body"].read() == files[name]
    assert artifacts_waiting() == 0
    assert artifacts_store().stored == 0
    assert Trace.objects.get(pk=open_trace.pk).state == TraceState.READING


def test_without_object_storage_nothing_is_noted(made: World, settings: Any) -> None:
    settings.STORAGES = {name: each for name, each in settings.STORAGES.items() if name != "artifacts"}
    assert artifact_storage() is None
    assert artifacts_store().stored == 0
    assert not StoredArtifact.objects.exists()
    path = Path(settings.DATA_DIR) / "nothing"
    assert artifact_local(path) == path
    with pytest.raises(CommandError, match="set AGENT2_S3_BUCKET"):
        told("storage", "status")


def test_an_outage_loses_nothing_and_is_said_once(
    site: ObjectServer, made: World, caplog: pytest.LogCaptureFixture
) -> None:
    before = made.files()
    site.gate.shut()
    with pytest.raises(StorageUnavailable):
        artifacts_store()
    for _ in range(3):
        assert artifacts_pass() is False
    assert made.files() == before
    assert len([each for each in caplog.messages if "sealed files stay on this disk" in each]) == 1
    assert not StoredArtifact.objects.exists()
    site.gate.open()
    assert artifacts_pass() is True
    assert "the object storage can be reached again" in caplog.messages
    assert artifacts_waiting() == 0


def test_what_was_cut_goes_on(site: ObjectServer, made: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The third row's upload fails: what came before is noted, what came of the third is used."""
    keep = artifacts_storing._kept
    calls = iter(range(100))

    def cut(*args: Any) -> tuple[int, str]:
        if next(calls) == 6:
            site.gate.shut()
        return keep(*args)

    monkeypatch.setattr(artifacts_storing, "_kept", cut)
    with pytest.raises(CommandError, match="Nothing is lost; begin again"):
        told("storage", "move")
    assert 0 < StoredArtifact.objects.count() < SEALED
    site.gate.open()
    assert f"{SEALED - StoredArtifact.objects.count()} stored" in told("storage", "move")
    assert told("storage", "status").count("; 0 wait") == 5
    assert f"{len(stored(site))} of {len(stored(site))} objects were read" in told("storage", "check", "--contents")


def test_copies_go_by_age_and_come_back_as_they_were(site: ObjectServer, made: World) -> None:
    artifacts_store()
    before = made.files()
    told("prune")
    assert made.files() == before
    made.age(days=8)
    told("prune", "--dry-run")
    assert made.files() == before
    told("prune")
    assert made.files() == {}
    for name, content in before.items():
        assert artifact_local(artifact_path(name)).read_bytes() == content
    assert made.files() == before


def test_everything_is_fetched_at_once(site: ObjectServer, made: World) -> None:
    artifacts_store()
    before = made.files()
    shutil.rmtree(settings.DATA_DIR)
    assert f"{len(before)} files were brought back" in told("storage", "fetch")
    assert made.files() == before


def test_a_file_that_is_not_stored_yet_is_never_pruned(site: ObjectServer, made: World) -> None:
    site.gate.shut()
    before = made.files()
    made.age(days=400)
    assert "Objects stay: " in told("prune", "--copies-days", "0")
    assert made.files() == before


def test_the_same_code_again_needs_no_copy_here(site: ObjectServer, made: World) -> None:
    artifacts_store()
    made.age()
    told("prune")
    again = code(made.run, 3, same=b"same = True\n")
    digest = again.files["same.py"][0]
    blob_path(digest).unlink()
    assert artifacts_store().stored == 1
    assert blob_get(digest) == b"same = True\n"


def test_a_lost_file_is_told_and_the_rest_is_stored(site: ObjectServer, made: World) -> None:
    (made.trace.folder / "bodies").unlink()
    done = artifacts_store()
    assert done.stored == SEALED - 1
    assert done.faults == [f"trace {made.trace.key}: {made.trace.folder / 'bodies'} is not here"]
    with pytest.raises(CommandError, match="could not be stored"):
        told("storage", "move")


def test_a_changed_file_is_not_taken_for_the_sealed_one(site: ObjectServer, made: World) -> None:
    made.bundle.path.chmod(0o640)
    made.bundle.path.write_bytes(b"another archive")
    assert "changed after it was sealed" in artifacts_store().faults[0]
    assert not [name for name in stored(site) if name.startswith("bundles/")]


def test_check_names_what_is_missing_or_damaged(site: ObjectServer, made: World) -> None:
    artifacts_store()
    gone, broken = made.bundle.stored, f"traces/{made.trace.key[:2]}/{made.trace.key}/bodies"
    site.client.delete_object(Bucket=BUCKET, Key=f"{PREFIX}bundles/{gone}")
    head = site.client.get_object(Bucket=BUCKET, Key=PREFIX + broken)
    content = head["Body"].read()
    site.client.put_object(
        Bucket=BUCKET, Key=PREFIX + broken, Body=b"!" + content[1:], Metadata={"sha256": head["Metadata"]["sha256"]}
    )
    out = StringIO()
    with pytest.raises(CommandError, match="1 objects are missing or damaged"):
        call_command("storage", "check", stderr=out)
    with pytest.raises(CommandError, match="2 objects are missing or damaged"):
        call_command("storage", "check", "--contents", stderr=out)
    assert f"bundles/{gone}: it is not there, or another object; a copy is on this disk" in out.getvalue()
    assert f"{broken}: {broken} in the bucket is not what its SHA-256 says" in out.getvalue()
    assert not [name for name in site.names() if "probe" in name]


def test_a_damaged_object_is_not_brought_here(site: ObjectServer, made: World) -> None:
    artifacts_store()
    path = made.trace.folder / "bodies"
    name = f"{PREFIX}traces/{made.trace.key[:2]}/{made.trace.key}/bodies"
    site.client.put_object(Bucket=BUCKET, Key=name, Body=b"x", Metadata={"sha256": "0" * 64})
    path.unlink()
    with pytest.raises(OSError, match="is not what its SHA-256 says"):
        artifact_local(path)
    assert not path.exists()
    assert not list((Path(settings.DATA_DIR) / "fetching").glob("*.part"))


def test_objects_of_what_was_deleted_go_after_a_day(
    site: ObjectServer, made: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept_run = Run.objects.create(agent="a", task="arithmetic", base_model="tiny", budget_s=1, origin="external")
    kept = code(kept_run, 1, same=b"same = True\n")
    artifacts_store()
    site.client.put_object(Bucket=BUCKET, Key="bench/two/x", Body=b"another platform's")
    made.run.delete()
    told("prune")
    assert f"code {kept.pk}" in {str(row) for row in StoredArtifact.objects.all()}
    assert any(name.startswith("traces/") for name in stored(site))
    monkeypatch.setattr(artifacts_pruning, "YOUNG_S", -5.0)  # the server dates its objects, so the limit is moved
    told("prune")
    same = kept.files["same.py"][0]
    left = {name for name in stored(site) if name.startswith(("traces/", "runs/"))}
    assert left == {f"traces/code/{same[:2]}/{same}"}
    assert "bench/two/x" in site.names()
    assert artifact_storage().held(f"bundles/{made.bundle.stored}") is not None  # type: ignore[union-attr]


def test_hosts_with_a_disk_of_their_own_store_what_they_alone_have(
    site: ObjectServer, made: World, settings: Any
) -> None:
    settings.PLACE = "gpu-1"
    assert artifacts_waiting() == 0
    Run.objects.filter(pk=made.run.pk).update(place="gpu-1")
    done = artifacts_store()
    assert {name.split("/")[0] for name in stored(site)} == {"runs", "evaluations"}
    assert done.stored == 2
    settings.PLACE = ""
    assert artifacts_store().stored == SEALED - 2


def test_two_that_ask_for_the_same_file_fetch_it_once(
    site: ObjectServer, made: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifacts_store()
    path = made.trace.folder / "transcript"
    content = path.read_bytes()
    path.unlink()
    fetched, fetch = [], artifacts._fetch

    def noted(*args: Any) -> None:
        fetched.append(args)
        time.sleep(0.05)
        fetch(*args)

    monkeypatch.setattr(artifacts, "_fetch", noted)
    with ThreadPoolExecutor(8) as pool:
        found = [each.read_bytes() for each in pool.map(artifact_local, [path] * 8)]
    assert found == [content] * 8
    assert len(fetched) == 1
