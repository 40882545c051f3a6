"""Export, import, export again: the same bytes, and the same run."""

import hashlib
import io
import json
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from benchmark.models import Origin, Run, RunState
from bundles.export.bundle import NothingHere, NotYet, bundle_export
from bundles.models import BundleState
from bundles.rules.check import bundle_check
from bundles.unpacking.unpack import archive_unpack
from grading.models import SubmissionState
from tests.db.bundles.conftest import Make
from tests.support.bundling import DETAILS, bundle_bytes, zipped
from tests.support.rows import baseline_row, run_row, submission_row, verdict_row
from traces.models import CodeSnapshot, Recording, Trace
from traces.services.ingest import trace_import
from traces.services.snapshots import tree_digest
from traces.services.snapshots_store import blob_path, blob_put, masked

pytestmark = pytest.mark.django_db(transaction=True)
START = datetime(2026, 10, 3, 12, 0, 0, 123456, UTC)
KEY = "sk-ant-api03-" + "Ab3" * 20
GIVEN = {"contact": {"name": "Ada", "email": "ada@example.org"}, "licence": "CC-BY-4.0"}


def exported(run: Run, **details: Any) -> bytes:
    out = io.BytesIO()
    bundle_export(run=run, into=out, details=details)
    return out.getvalue()


def contents(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def manifest(data: bytes) -> Any:
    return json.loads(contents(data)["manifest.json"])


def transcript() -> bytes:
    lines: list[dict[str, Any]] = [
        {"type": "system", "subtype": "init", "session_id": "s", "model": "m-1", "claude_code_version": "2.1"}
    ]
    for number in range(1, 5):
        at = (START + timedelta(minutes=10 * number)).isoformat()
        call = {"type": "tool_use", "id": f"c{number}", "name": "Bash"}
        call["input"] = {"command": f"export KEY={KEY}; curl $GRADING_SERVER_URL/submit -d v{number}"}  # type: ignore[assignment]
        lines.append({"type": "assistant", "session_id": "s", "message": {"id": f"m{number}", "content": [call]}})
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": "état: ✓"}
        lines.append({"type": "user", "timestamp": at, "session_id": "s", "message": {"content": [result]}})
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def times(number: int) -> dict[str, Any]:
    """Of the submission that came ten minutes after the one before, and was graded in one."""
    at = START + timedelta(minutes=10 * number)
    return {"received_at": at, "elapsed_s": 600.0 * number, "ended_at": at + timedelta(minutes=1)}


def scored_row(run: Run, score: float, **values: Any) -> None:
    submission_row(run, state=SubmissionState.GRADED, verdict=verdict_row(run, score), **values)


def code_row(run: Run, number: int, files: dict[str, bytes]) -> None:
    kept = {}
    for name, content in files.items():
        safe, count = masked(content, "")
        kept[name] = (blob_put(safe), len(safe), count)
    CodeSnapshot.objects.create(
        run=run, number=number, model_path=f"output/v{number}", files=kept, digest=tree_digest(kept)
    )


@pytest.fixture
def local(tmp_path: Path) -> Run:
    """A run that ended here, with all that a bundle can carry."""
    run = run_row(
        agent="claude-code",
        agent_version="2.1",
        driver="claude-opus-4-6",
        state=RunState.FINISHED,
        outcome=RunState.FINISHED,
        started_at=START,
        ended_at=START + timedelta(seconds=3333.25),
        tokens=123456,
        cost_usd=1.25,
        versions={"base_revision": "abc123"},
    )
    baseline_row(run, 12.5)
    for number, score in enumerate((33.333333333333336, 41.0), 1):
        digest = hashlib.sha256(b"%d" % number).hexdigest()
        scored_row(run, score, **times(number), digest=digest, tokens=100 * number)
    submission_row(run, state=SubmissionState.ERRORED, verdict=verdict_row(run, None), **times(3))
    scored_row(run, 41.0, **times(4), same_as="#2", digest=hashlib.sha256(b"2").hexdigest())
    log = tmp_path / "agent.log"
    log.write_bytes(transcript())
    trace_import(run, log, name="agent.log")
    code_row(run, 1, {"train.py": b"from trl import SFTTrainer\n", "lib/a.py": f"KEY = '{KEY}'\n".encode()})
    code_row(run, 4, {"train.py": "# é\nfrom trl import GRPOTrainer\n".encode()})
    Recording.objects.create(run=run, summary="# Done\n", summary_entries=[{"iteration": 1, "b": None, "a": "é"}])
    return run


def test_the_same_run_twice_is_the_same_bytes(local: Run) -> None:
    assert exported(local, **GIVEN) == exported(local, **GIVEN)


def test_export_import_export_is_byte_identical(local: Run, checked: Make) -> None:
    first = exported(local, **GIVEN)
    bundle = checked(first, details={})
    assert bundle.state == BundleState.ACCEPTED, bundle.report
    assert bundle.run is not None
    second = exported(bundle.run)
    assert contents(second) == contents(first)
    assert second == first
    again = checked(second, details={}, user=None)
    assert again.run is not None
    assert exported(again.run) == first


def test_what_is_in_it(local: Run) -> None:
    data = exported(local, **GIVEN)
    files, told = contents(data), manifest(data)
    assert sorted(files) == [
        "code/1/lib/a.py",
        "code/1/train.py",
        "code/4/train.py",
        "manifest.json",
        "reports/summary.jsonl",
        "reports/summary.md",
        "transcripts/01-agent.log",
    ]
    assert KEY.encode() not in b"".join(files.values())
    assert told["redactions"] == [{"path": "transcripts/01-agent.log", "kind": "secret", "count": 4}]
    assert [each["score"] for each in told["submissions"]] == [33.333333333333336, 41.0, None, 41.0]
    assert told["submissions"][2]["error_code"] == "E_TEST"
    assert told["submissions"][3]["same_as"] == 2
    assert told["baselines"] == {"arithmetic": 12.5}
    assert (told["run"], told["best"], told["tokens"]) == (local.slug, 41.0, 123456)


def test_it_is_checked_without_error(local: Run, tmp_path: Path) -> None:
    (tmp_path / "run.zip").write_bytes(exported(local, **GIVEN))
    opened = archive_unpack(tmp_path / "run.zip", tmp_path / "into", filename="run.zip")
    report = bundle_check(opened.folder, name="run.zip")
    assert [finding.code for finding in report.all_findings if finding.severity in ("error", "warning")] == []


def test_the_imported_run_stands_where_the_local_one_stands(local: Run, checked: Make) -> None:
    run = checked(exported(local, **GIVEN), details={}).run
    assert run is not None
    theirs, ours = run.standings.get(), local.standings.get()
    for name in ("best", "best_number", "best_elapsed_s", "baseline", "submissions", "scored"):
        assert getattr(theirs, name) == getattr(ours, name), name
    for name in (
        "agent",
        "agent_version",
        "driver",
        "task",
        "protocol",
        "base_model",
        "mode",
        "budget_s",
        "started_at",
    ):
        assert getattr(run, name) == getattr(local, name), name
    assert Trace.objects.get(run=run).event_count == Trace.objects.get(run=local).event_count


def test_a_workspace_of_others_stays_the_same_from_the_first_export_on(checked: Make) -> None:
    run = checked(bundle_bytes()).run
    assert run is not None
    first = exported(run)
    assert manifest(first)["layout"] == "workspace"
    assert manifest(first)["contact"] == {"name": "Ada"}
    bundle = checked(first, details={})
    assert bundle.state == BundleState.ACCEPTED, bundle.report
    assert bundle.run is not None
    assert exported(bundle.run) == first


def test_posttrainbench_keeps_its_layout(checked: Make) -> None:
    folder = "gsm8k_Qwen_Qwen3-1.7B-Base_20260318_180406"
    files = {"solve_out.txt": transcript(), "metrics.json": b'{"accuracy": 0.7, "stderr": 0.012}'}
    files |= {"time_taken.txt": b"09:44:42", "output.log": b"Task: gsm8k | Agent: claude | Model: Q/Q-1.7B | GPU: 0\n"}
    run = checked(zipped({f"{folder}/{name}": data for name, data in files.items()}), details=DETAILS).run
    assert run is not None
    first = exported(run)
    assert manifest(first)["layout"] == "posttrainbench"
    assert manifest(first)["submissions"][0]["score"] == 70.0
    again = checked(first, details={}).run
    assert again is not None
    assert exported(again) == first


def test_a_run_that_goes_on_is_not_exported() -> None:
    with pytest.raises(NotYet):
        exported(run_row())


def test_a_published_number_is_no_run() -> None:
    with pytest.raises(NothingHere):
        exported(run_row(origin=Origin.PUBLISHED, state=RunState.FINISHED))


def test_what_is_not_here_any_more_is_left_out_and_said(local: Run) -> None:
    trace = Trace.objects.get(run=local)
    (trace.folder / "transcript").write_bytes(b"cut")
    blob_path(CodeSnapshot.objects.get(run=local, number=4).files["train.py"][0]).unlink()
    report = bundle_export(run=local, into=io.BytesIO())
    assert [note.split(" was")[0] for note in report.notes] == [
        "Transcript 'agent.log'",
        "Code 'train.py' of submission 4",
    ]
    assert report.files == 4


def test_the_command(local: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.zip"
    given = ["--contact-name", "Ada", "--contact-email", "ada@example.org", "--licence", "CC-BY-4.0"]
    call_command("bundle_export", local.slug, "--out", str(out), *given)
    assert out.read_bytes() == exported(local, **GIVEN)
    with pytest.raises(CommandError, match="exists"):
        call_command("bundle_export", local.slug, "--out", str(out))
    with pytest.raises(CommandError, match="There is no run"):
        call_command("bundle_export", "nothing", "--out", str(out), "--force")
    with pytest.raises(CommandError, match="ended"):
        call_command("bundle_export", run_row().slug, "--out", str(out), "--force")
    assert out.read_bytes() == exported(local, **GIVEN)
    assert list(tmp_path.glob("*.part")) == []
