"""`manage.py prune` takes what is old or nobody's, and nothing else."""

import os
import time
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils import timezone

from benchmark.models import Run, RunState
from traces.models import CodeSnapshot, Trace
from traces.services.snapshots_store import blob_path, blob_put

pytestmark = pytest.mark.django_db
OLD_S = 40 * 86400


@pytest.fixture(autouse=True)
def _folders(settings: object, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path  # type: ignore[attr-defined]
    settings.TRACES_DIR = tmp_path / "traces"  # type: ignore[attr-defined]


def made(path: Path, *, old: bool = True) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x" * 1000)
    return aged(path) if old else path


def aged(path: Path) -> Path:
    for each in (path, path.parent):
        os.utime(each, (time.time() - OLD_S,) * 2)
    return path


def run(state: RunState, *, days: float = 40) -> Run:
    return Run.objects.create(
        agent="example",
        task="arithmetic",
        protocol="arithmetic/1",
        base_model="tiny",
        budget_s=60,
        state=state,
        ended_at=timezone.now() - timedelta(days=days) if state == RunState.FINISHED else None,
    )


def prune(*args: str) -> str:
    out = StringIO()
    call_command("prune", *args, stdout=out)
    return out.getvalue()


def test_workspaces_of_runs_that_ended_long_ago_go_and_their_logs_stay(tmp_path: Path) -> None:
    old, recent, running = run(RunState.FINISHED), run(RunState.FINISHED, days=3), run(RunState.RUNNING)
    for each in (old, recent, running):
        made(tmp_path / "runs" / each.slug / "workspace" / "output" / "weights")
        made(tmp_path / "runs" / each.slug / "agent.log")
    told = prune()
    assert not (tmp_path / "runs" / old.slug / "workspace").exists()
    assert (tmp_path / "runs" / old.slug / "agent.log").exists()
    for each in (recent, running):
        assert (tmp_path / "runs" / each.slug / "workspace" / "output" / "weights").exists()
    assert "1 of 1 removed" in told


def test_a_dry_run_removes_nothing_and_says_the_same(tmp_path: Path) -> None:
    old = run(RunState.FINISHED)
    weights = made(tmp_path / "runs" / old.slug / "workspace" / "weights")
    told = prune("--dry-run")
    assert weights.exists()
    assert str(weights.parent) in told
    assert "would be freed" in told


def test_files_of_deleted_runs_go(tmp_path: Path) -> None:
    gone, stays = run(RunState.FINISHED), run(RunState.FINISHED)
    traces = [Trace.objects.create(run=each, name="agent.log") for each in (gone, stays)]
    for each, trace in zip((gone, stays), traces, strict=True):
        aged(made(trace.folder / "transcript").parent)
        made(tmp_path / "traces" / "times" / each.slug)
        digest = blob_put(each.slug.encode())
        CodeSnapshot.objects.create(run=each, number=1, model_path="x", files={"a.py": [digest, 9, 0]})
        aged(blob_path(digest))
        aged(made(tmp_path / "runs" / each.slug / "agent.log").parent)
    kept, lost = (blob_path(CodeSnapshot.objects.get(run=each).files["a.py"][0]) for each in (stays, gone))
    slug = gone.slug
    gone.delete()
    prune()
    assert not traces[0].folder.exists()
    assert not lost.exists()
    assert not (tmp_path / "runs" / slug).exists()
    assert not (tmp_path / "traces" / "times" / slug).exists()
    assert kept.exists()
    assert traces[1].folder.exists()
    assert (tmp_path / "runs" / stays.slug).exists()
    assert (tmp_path / "traces" / "times" / stays.slug).exists()


def test_what_is_young_may_still_get_its_row(tmp_path: Path) -> None:
    fresh = made(tmp_path / "traces" / "ab" / ("ab" + "0" * 30) / "transcript", old=False)
    digest = blob_put(b"of a submission that is not committed yet")
    prune()
    assert fresh.exists()
    assert blob_path(digest).exists()


def test_code_that_was_not_written_to_its_end_goes() -> None:
    folder = blob_path(blob_put(b"kept")).parent
    young = made(folder / f".{'0' * 32}", old=False)
    aged(made(folder / f".{'1' * 32}"))
    assert "1 of 1 removed" in prune()
    assert set(folder.iterdir()) == {young, blob_path(blob_put(b"kept"))}


def test_code_that_comes_again_is_young_again() -> None:
    digest = blob_put(b"print()")
    aged(blob_path(digest))
    assert blob_put(b"print()") == digest
    prune()
    assert blob_path(digest).exists()


def test_a_checkpoint_nobody_waits_for_goes(tmp_path: Path) -> None:
    made(tmp_path / "checkpoints" / ("a" * 64) / "model.safetensors")
    aged(tmp_path / "checkpoints" / ("a" * 64) / "model.safetensors")
    made(tmp_path / "checkpoints" / ("b" * 64) / "model.safetensors", old=False)
    prune()
    assert [path.name[0] for path in (tmp_path / "checkpoints").iterdir()] == ["b"]
