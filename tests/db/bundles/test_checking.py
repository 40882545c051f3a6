"""A bundle's check from its arrival to a run on the same pages as others."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from benchmark.models import AuditEntry, Origin, Run, RunState, Trust
from bundles.checking.report import Report
from bundles.jobs import bundles_sweep
from bundles.models import Bundle, BundleState, Notification
from bundles.services import check_process, checking
from bundles.services.checking import bundle_check_next
from grading.models import Evaluation, Submission, SubmissionState, TaskStanding
from tests.db.bundles.conftest import Make, run_of
from tests.support.bundling import FOLDER, bundle_bytes, workspace_files, zipped
from traces.models import CodeSnapshot, Recording, Trace, TraceState

pytestmark = pytest.mark.django_db


def test_a_consistent_bundle_becomes_a_hidden_checked_run(checked: Make, owner_user: User) -> None:
    bundle = checked()
    assert bundle.state == BundleState.ACCEPTED, bundle.report["findings"]
    run = bundle.run
    assert run is not None
    assert (run.origin, run.trust, run.hidden, run.state) == (Origin.EXTERNAL, Trust.CHECKED, True, RunState.FINISHED)
    assert (run.task, run.agent, run.driver) == ("gsm8k", "claude", "claude-opus-4-6")
    assert (run.base_model, run.protocol, run.budget_s) == ("Qwen/Qwen2.5-1.5B-Instruct", "gsm8k/1", 43200)
    assert run.created_by == owner_user
    assert run.source["bundle"] == bundle.slug
    assert Notification.objects.filter(user=owner_user, path=f"/bundles/{bundle.slug}/").count() == 1


def test_claimed_scores_are_rows_of_their_own_kind(checked: Make) -> None:
    run = checked().run
    rows = list(Submission.objects.filter(run=run).select_related("verdict").order_by("number"))
    assert [row.score for row in rows] == [61.0, None, 70.5]
    assert [row.state for row in rows] == [SubmissionState.GRADED, SubmissionState.ERRORED, SubmissionState.GRADED]
    assert [row.elapsed_s for row in rows] == [3600.0, 7200.0, 10800.0]
    for row in rows:
        assert row.verdict is not None
        assert row.verdict.claimed
        assert row.verdict.protocol == "claimed:gsm8k/1"
        assert row.verdict.digest == ""
        assert row.evaluation is None
    assert rows[1].verdict is not None
    assert "CUDA out of memory" in rows[1].verdict.message
    assert not Evaluation.objects.exists()
    standing = TaskStanding.objects.get(run=run)
    assert (standing.protocol, standing.baseline, standing.best, standing.best_number) == ("gsm8k/1", 60.0, 70.5, 3)
    assert (standing.submissions, standing.scored) == (3, 2)


def test_transcript_code_and_summary_are_kept_as_of_local_runs(checked: Make) -> None:
    run = checked().run
    trace = Trace.objects.get(run=run)
    assert (trace.state, trace.dialect, trace.agent_version) == (TraceState.SEALED, "claude-stream", "2.1.78")
    assert trace.event_count >= 6
    code = CodeSnapshot.objects.get(run=run)
    assert (code.number, list(code.files)) == (3, ["train.py"])
    recording = Recording.objects.get(run=run)
    assert (recording.trace, recording.code_files) == (trace, 1)
    assert "SFT on the visible set" in recording.summary


def test_the_run_opens_on_the_same_pages(checked: Make, owner: Client, anonymous: Client) -> None:
    run = checked().run
    assert run is not None
    page = owner.get(f"/runs/{run.slug}/").content.decode()
    assert "none of them was reached here" in page
    assert 'class="trust checked">claimed' in page
    assert "70.50" in page
    assert "+10.50" in page
    assert owner.get(f"/runs/{run.slug}/trace/").status_code == 200
    rows = owner.get(f"/api/v1/runs/{run.slug}/submissions/").json()["results"]
    assert [row["claimed"] for row in rows] == [True, True, True]
    for path in (f"/runs/{run.slug}/", f"/runs/{run.slug}/trace/", f"/api/v1/runs/{run.slug}/"):
        assert anonymous.get(path).status_code == 404


def test_errors_stop_a_bundle(checked: Make) -> None:
    files = workspace_files()
    files[f"{FOLDER}/scores.json"] = files[f"{FOLDER}/scores.json"].replace(b"70.5", b"170.5")
    bundle = checked(zipped(files))
    assert bundle.state == BundleState.REJECTED
    assert [each["code"] for each in bundle.report["findings"] if each["severity"] == "error"] == ["score_range"]
    assert bundle.run is None
    assert not Run.objects.exists()
    assert bundle.path.is_file()


@pytest.mark.parametrize("odd", [-3, 0, 2**31, 10**30])
def test_a_number_that_no_submission_can_have_is_its_place(checked: Make, odd: int) -> None:
    files = workspace_files()
    path = f"{FOLDER}/scores.json"
    files[path] = files[path].replace(b'"submission_id": 2', f'"submission_id": {odd}'.encode())
    bundle = checked(zipped(files))
    assert bundle.state == BundleState.ACCEPTED, bundle.report["findings"]
    assert sorted(Submission.objects.filter(run=bundle.run).values_list("number", flat=True)) == [1, 2, 3]


def test_a_report_of_more_submissions_than_were_imported_is_shown(checked: Make, owner: Client) -> None:
    bundle = checked()
    Submission.objects.filter(run=bundle.run, number=3).delete()
    page = owner.get(f"/bundles/{bundle.slug}/")
    assert page.status_code == 200


def test_a_contradiction_leaves_it_claimed(checked: Make) -> None:
    files = workspace_files()
    files[f"{FOLDER}/scores.json"] = files[f"{FOLDER}/scores.json"].replace(
        b'"improvement": 10.5', b'"improvement": 20.5'
    )
    bundle = checked(zipped(files))
    assert bundle.state == BundleState.ACCEPTED
    assert bundle.run is not None
    assert run_of(bundle).trust == Trust.CLAIMED


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"PK\x03\x04 not a zip", ""), (bundle_bytes()[:-200], ""), (zipped({"../../evil": b"x"}), "name_traversal")],
)
def test_refused_archives_write_nothing_and_the_next_is_unaffected(
    checked: Make, settings: Any, content: bytes, code: str
) -> None:
    bundle = checked(content)
    assert bundle.state == BundleState.REJECTED
    assert bundle.report["refused"]["text"]
    assert code in ("", bundle.report["refused"]["code"])
    left = {path.name for path in Path(settings.BUNDLES_DIR).rglob("*") if path.is_file()}
    assert left == {bundle.path.name}
    assert checked().state == BundleState.ACCEPTED


def test_one_archive_with_several_runs_is_several_bundles(checked: Make) -> None:
    files = workspace_files()
    other = {name.replace("_claude", "_codex"): content for name, content in workspace_files((62.0,)).items()}
    bundle = checked(zipped(files | other))
    rows = list(Bundle.objects.order_by("id"))
    assert [row.part for row in rows] == [FOLDER, FOLDER.replace("_claude", "_codex")]
    assert rows[1].part_of == bundle
    assert [row.state for row in rows] == [BundleState.ACCEPTED, BundleState.ACCEPTED]
    assert [len(row.report["claim"]["submissions"]) for row in rows] == [3, 1]
    assert TaskStanding.objects.count() == 2


def test_the_same_archive_from_another_account_is_said(checked: Make) -> None:
    checked()
    again = checked(user=User.objects.create_user("copier"))
    assert "same_archive" in [each["code"] for each in again.report["findings"]]
    assert again.run is not None
    assert again.run.trust == Trust.CLAIMED


def test_a_lost_worker_gives_the_bundle_back(received: Make) -> None:
    bundle = received()
    long_ago = timezone.now() - timedelta(hours=1)
    Bundle.objects.filter(pk=bundle.pk).update(
        state=BundleState.CHECKING, lease="gone", heartbeat_at=long_ago, attempts=1
    )
    bundles_sweep()
    bundle.refresh_from_db()
    assert bundle.state == BundleState.RECEIVED
    assert bundle_check_next()
    bundle.refresh_from_db()
    assert (bundle.state, bundle.attempts) == (BundleState.ACCEPTED, 2)


def test_an_import_that_another_worker_has_taken_over_is_given_up(
    received: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = received()

    def taken_over(_: Bundle, report: Report) -> Report:
        Bundle.objects.filter(pk=bundle.pk).update(lease="another worker's")
        return report

    monkeypatch.setattr(checking, "report_about_versions", taken_over)
    assert bundle_check_next()
    bundle.refresh_from_db()
    assert (bundle.state, bundle.lease, bundle.run) == (BundleState.CHECKING, "another worker's", None)
    assert not Run.objects.exists()


def test_a_check_that_always_dies_ends_as_a_fault_of_ours(received: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = received()
    monkeypatch.setattr(check_process, "MEMORY_BYTES", 16 << 20)
    for _ in range(checking.ATTEMPTS):
        assert bundle_check_next()
    bundle.refresh_from_db()
    assert bundle.state == BundleState.REJECTED
    assert [each["code"] for each in bundle.report["findings"]] == ["check_fault"]
    assert not bundle_check_next()


def test_a_check_has_a_deadline(received: Make, settings: Any) -> None:
    settings.BUNDLE_CHECK_S = 0.001
    bundle = received()
    assert bundle_check_next()
    bundle.refresh_from_db()
    assert (bundle.state, bundle.attempts) == (BundleState.RECEIVED, 1)


def test_an_import_that_was_interrupted_goes_on(received: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = received()

    def broken(*_: Any) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr("bundles.services.importing.record_import", broken)
    assert bundle_check_next()
    bundle.refresh_from_db()
    assert bundle.state == BundleState.RECEIVED
    run = bundle.run
    assert run is not None
    monkeypatch.undo()
    assert bundle_check_next()
    bundle.refresh_from_db()
    assert (bundle.state, bundle.run) == (BundleState.ACCEPTED, run)
    assert (Run.objects.count(), Trace.objects.count(), Submission.objects.count()) == (1, 1, 3)


def test_the_history_names_every_step(checked: Make) -> None:
    bundle = checked()
    told = AuditEntry.objects.filter(subject=bundle.slug).order_by("id").values_list("action", flat=True)
    assert list(told) == ["bundle.upload", "bundle.accepted"]


def test_real_archives(checked: Make, shared_data: Path) -> None:
    """The public samples, as they are."""
    folder = shared_data / "bundles" / "posttrainbench"
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    checked(zipped(files), details={})
    rows = Bundle.objects.order_by("part")
    assert [row.state for row in rows] == [BundleState.ACCEPTED] * 4
    assert [row.run.standings.get().best for row in rows if row.run] == [
        None,
        None,
        None,
        pytest.approx(70.43, abs=0.01),
    ]
    assert Trace.objects.filter(event_count__gt=200).count() == 1
    workspace = shared_data / "bundles" / "autorl_workspace"
    files = {str(path.relative_to(workspace)): path.read_bytes() for path in workspace.rglob("*") if path.is_file()}
    bundle = checked(zipped(files), details={})
    errors = {each["code"] for each in bundle.report["findings"] if each["severity"] == "error"}
    assert (bundle.state, errors) == (BundleState.REJECTED, {"transcript_other_run", "transcript_never_submits"})
