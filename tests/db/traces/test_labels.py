"""Code kept at submissions, and what is said of it."""

import time
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from benchmark.models import Run, secret_hash, secret_new
from benchmark.services.workspace import run_folder
from grading.services.records import run_account
from tests.support.rows import baseline_row, graded_row, run_row
from traces.methods.words import Route
from traces.models import CodeSnapshot, LabelSource, MethodLabel
from traces.services import snapshots
from traces.services.labels import _stored, label_correct, label_make, label_next, labels_in_force
from traces.services.snapshots import snapshot_take
from traces.services.snapshots_store import blob_get

pytestmark = pytest.mark.django_db
SFT = "from trl import SFTTrainer\nt = SFTTrainer('m')\nt.train()\nt.save_model('output/v1')\n"


@pytest.fixture(autouse=True)
def folders(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR, settings.TRACES_DIR = tmp_path, tmp_path / "traces"


@pytest.fixture
def run() -> Run:
    made = run_row()
    (run_folder(made) / "workspace" / "code").mkdir(parents=True)
    return made


def code(run: Run) -> Path:
    return run_folder(run) / "workspace" / "code"


def test_code_is_kept_once_for_each_submission(run: Run) -> None:
    (code(run) / "train.py").write_text(SFT)
    first = snapshot_take(run=run, number=1, model_path="output/v1")
    assert first is not None
    (code(run) / "train.py").write_text("changed later")
    assert snapshot_take(run=run, number=1, model_path="output/v1") is None
    assert blob_get(CodeSnapshot.objects.get(run=run).files["train.py"][0]).decode() == SFT
    second = snapshot_take(run=run, number=2, model_path="output/v2")
    assert second is not None
    assert second.digest != first.digest


def test_unchanged_files_are_kept_by_their_stamp(run: Run) -> None:
    (code(run) / "old.py").write_text("old")
    time.sleep(0.15)
    entries = []
    for number in (1, 2, 3):
        (code(run) / "new.py").write_text(f"new {number}")
        kept = snapshot_take(run=run, number=number, model_path="v")
        assert kept is not None
        entries.append(kept.files)
    assert len({tuple(files["old.py"]) for files in entries}) == 1
    assert [blob_get(files["new.py"][0]) for files in entries] == [b"new 1", b"new 2", b"new 3"]


def test_a_token_in_code_is_masked_and_counted(run: Run) -> None:
    token = secret_new()
    Run.objects.filter(pk=run.pk).update(token_hash=secret_hash(token))
    run.refresh_from_db()
    (code(run) / "submit.py").write_text(f"URL = 'http://127.0.0.1:8900/grading/{token}/submit'\n")
    kept = snapshot_take(run=run, number=1, model_path="v")
    assert kept is not None
    digest, size, count = kept.files["submit.py"]
    assert token.encode() not in blob_get(digest)
    assert (count, size) == (1, len(blob_get(digest)))


def test_code_that_is_a_link_or_missing_is_said(run: Run) -> None:
    code(run).rmdir()
    code(run).symlink_to("/etc")
    kept = snapshot_take(run=run, number=1, model_path="v")
    assert kept is not None
    assert (kept.files, kept.notes) == ({}, ["there is no folder code/ in the workspace"])


def test_a_fault_of_the_store_never_reaches_the_submission(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (code(run) / "a.py").write_text("x")

    def full(_: bytes) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(snapshots, "blob_put", full)
    kept = snapshot_take(run=run, number=1, model_path="v")
    assert kept is not None
    assert kept.notes == ["not kept whole: No space left on device"]
    monkeypatch.setattr(snapshots, "masked", lambda *_: 1 / 0)
    assert snapshot_take(run=run, number=2, model_path="v") is None


def test_rules_judge_the_oldest_code_first_and_each_once(run: Run) -> None:
    (code(run) / "train.py").write_text(SFT)
    for number in (1, 2):
        snapshot_take(run=run, number=number, model_path="output/v1")
    assert [label_next(), label_next(), label_next()] == [True, True, False]
    first, second = MethodLabel.objects.filter(run=run)
    assert (first.number, second.number) == (1, 2)
    assert first.methods == ["SFT"]
    assert first.findings[0]["file"] == "train.py"


def test_the_same_judgement_twice_is_one_label_and_more_commands_are_another(run: Run) -> None:
    (code(run) / "train.py").write_text(SFT)
    kept = snapshot_take(run=run, number=1, model_path="output/v1")
    assert kept is not None
    first = label_make(kept, commands=[])
    assert label_make(kept, commands=[]) == first
    second = label_make(kept, commands=["python code/train.py"])
    assert second != first
    assert (second.commands, second.methods) == (1, ["SFT"])


def test_code_that_cannot_be_judged_is_labelled_so_once(run: Run) -> None:
    CodeSnapshot.objects.create(run=run, number=1, model_path="v", files={"a.py": ["0" * 64, 1, 0]})
    assert label_next()
    assert not label_next()
    label = MethodLabel.objects.get()
    assert label.methods == []
    assert "could not be judged" in label.notes[0]["why"]


def test_a_person_comes_before_rules_whenever_they_speak(run: Run) -> None:
    author = User.objects.create_user("rosalind")
    graded_row(run, 5.0)
    MethodLabel.objects.create(run=run, number=1, source=LabelSource.RULES, methods=["SFT"])
    label_correct(run=run, number=1, methods=["SFT", "DPO"], author=author, reason="pairs.py makes preference pairs")
    MethodLabel.objects.create(run=run, number=1, source=LabelSource.RULES, methods=["GRPO"])
    assert labels_in_force(run)[1].methods == ["SFT", "DPO"]
    label_correct(run=run, number=1, methods=[], author=author, reason="it was the base model after all")
    assert labels_in_force(run)[1].methods == []
    assert MethodLabel.objects.count() == 4


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"methods": ["magic"]}, "methods"),
        ({"methods": ["SFT", "SFT"]}, "methods"),
        ({"reason": "  "}, "reason"),
        ({"number": 2}, "number"),
    ],
)
def test_a_correction_that_is_incomplete_is_refused(run: Run, values: dict[str, Any], field: str) -> None:
    graded_row(run, 5.0)
    given = {"number": 1, "methods": ["SFT"], "reason": "seen", **values}
    with pytest.raises(ValidationError) as refused:
        label_correct(run=run, author=User.objects.create_user("x"), **given)
    assert list(refused.value.message_dict) == [field]
    assert not MethodLabel.objects.exists()


def test_exactly_the_submissions_that_exist_can_be_corrected(run: Run) -> None:
    """Those of a run made elsewhere keep the numbers that they had there."""
    author = User.objects.create_user("rosalind")
    for number in (2, 7):
        graded_row(run, 5.0, number=number)
    assert run.submission_count == 2
    for number in (2, 7):
        label_correct(run=run, number=number, methods=["SFT"], author=author, reason="seen")
    for number in (0, 1, 3, 8, 10**30):
        with pytest.raises(ValidationError, match="no such submission"):
            label_correct(run=run, number=number, methods=["SFT"], author=author, reason="seen")


def test_the_account_of_a_run_has_route_switches_and_report(run: Run) -> None:
    baseline_row(run, 10.0)
    for score, methods in ((20.0, ["SFT"]), (15.0, ["DPO"]), (30.0, ["SFT", "GRPO"])):
        row = graded_row(run, score)
        MethodLabel.objects.create(run=run, number=row.number, source=LabelSource.RULES, methods=methods)
    account = run_account(run)
    assert account.record.route is not None
    assert account.record.route.route == Route.SFT_RL
    report = account.report()
    assert "Best score 30.00 with submission 3 at 0:03:00, +20.00 against the baseline." in report
    assert "- Submission 2: SFT to DPO, 15.00, did not raise the best score (best before: 20.00)." in report
    assert "| Method switches | 2 |" in report


def test_a_report_of_hostile_words_stays_markdown(run: Run) -> None:
    row = graded_row(run, 1.0, model_path="output/<b>|x`y`\n# head")
    MethodLabel.objects.create(
        run=run,
        number=row.number,
        source=LabelSource.RULES,
        findings=[{"method": "SFT", "file": "<script>", "line": 1, "why": "[a](b)", "doubts": []}],
    )
    report = run_account(run).report()
    assert "<script>" not in report.replace("\\<script\\>", "")
    assert "\n# head" not in report
    assert "\\|x" in report


def test_findings_hold_nothing_that_a_database_cannot() -> None:
    finding = {"why": "a\x00" + "b" * 600, "line": 1, "doubts": ["its settings $\x00\ud800 are not known"]}
    (stored,) = _stored({"findings": [finding]})["findings"]
    assert stored == {"why": "a\ufffd" + "b" * 498, "line": 1, "doubts": ["its settings $\ufffd\ufffd are not known"]}
