"""Metrics, report, differences of code and labels, for everybody and for those who may label."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from benchmark.models import Run, RunState
from frontend import run_diff
from frontend.run_machine import POINTS, line, machine
from tests.support.rows import baseline_row, graded_row, run_row, submission_row, verdict_row
from traces.models import CodeSnapshot, LabelSource, MethodLabel, Recording, ResourceSample
from traces.services.snapshots_diff import FileDiff, file_diff
from traces.services.snapshots_store import blob_put

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def store(settings: Any, tmp_path: Path) -> None:
    settings.TRACES_DIR = tmp_path / "traces"


@pytest.fixture
def researcher(db: None) -> Client:
    user = User.objects.create_user("researcher")
    user.user_permissions.add(Permission.objects.get(codename="label_run"))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def run() -> Run:
    made = run_row()
    baseline_row(made, 10.0)
    graded_row(made, 20.0)
    graded_row(made, 15.0)
    kept(made, 1, **{"train.py": b"a = 1\nb = 2\n", "x.bin": b"\0"})
    kept(made, 2, **{"train.py": b"a = 1\nb = 3\n", f"{HOSTILE}.py": HOSTILE.encode()})
    for number, method in ((1, "SFT"), (2, "GRPO")):
        MethodLabel.objects.create(run=made, number=number, source=LabelSource.RULES, methods=[method])
    return made


def kept(run: Run, number: int, **files: bytes) -> None:
    listed = {path: [blob_put(content), len(content), 0] for path, content in files.items()}
    CodeSnapshot.objects.create(run=run, number=number, model_path="v", files=listed)


def text(client: Client, path: str, status: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == status
    return answer.content.decode()


def test_everybody_reads_the_record(anyone: Client, run: Run) -> None:
    page = text(anyone, f"/runs/{run.slug}/")
    for told in (
        '<span class="method ">SFT</span>',
        '<span class="method rl">GRPO</span>',
        "from SFT",
        "SFT+RL",
        f"/runs/{run.slug}/submissions/1..2/diff",
    ):
        assert told in page
    assert "Valid-submission rate" in text(anyone, f"/runs/{run.slug}/routes/")
    told_json = anyone.get(f"/api/v1/runs/{run.slug}/metrics/").json()
    assert told_json["reference"]["time_to_best"] == 60
    assert "+10.00 against the baseline" in text(anyone, f"/runs/{run.slug}/report.md")
    assert "Rules" in text(anyone, f"/runs/{run.slug}/submissions/1/labels/")


def test_files_that_are_not_shown_are_not_compared(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(run, 3, **{f"{number}.py": b"x\n" * 10 for number in range(9)})
    compared: list[str] = []

    def counted(a: CodeSnapshot, b: CodeSnapshot, path: str, status: str) -> FileDiff:
        compared.append(path)
        return file_diff(a, b, path, status)

    monkeypatch.setattr(run_diff, "file_diff", counted)
    monkeypatch.setattr(run_diff, "FILES_MOST", 6)
    monkeypatch.setattr(run_diff, "LINES_MOST", 35)
    diff = run_diff.code_diff(run, 0, 3)
    assert diff is not None
    assert compared == ["0.py", "1.py", "2.py", "3.py"]
    assert [file.path for file in diff.files] == [f"{number}.py" for number in range(6)]
    assert [bool(file.lines) for file in diff.files] == [True] * 3 + [False] * 3
    assert diff.total == 9


def test_the_difference_is_escaped_and_complete(anonymous: Client, run: Run) -> None:
    page = text(anonymous, f"/runs/{run.slug}/submissions/1..2/diff")
    assert HOSTILE not in page
    assert '<li class="del" data-n="2">b = 2</li>' in page
    assert '<li class="add" data-n="2">b = 3</li>' in page
    assert "x.bin" in page
    assert "3 files differ" in page
    part = text(anonymous, f"/runs/{run.slug}/submissions/1..2/diff?part=1")
    assert "<html" not in part
    assert "b = 3" in part
    assert "2 added" in text(anonymous, f"/runs/{run.slug}/submissions/0..1/diff")


def test_an_imported_run_may_leave_numbers_out(anonymous: Client, run: Run) -> None:
    kept(run, 90, **{"train.py": b"a = 1\n"})
    assert "1 added" in text(anonymous, f"/runs/{run.slug}/submissions/0..90/diff")


@pytest.mark.parametrize("pair", ["1..3", "7..9", "2..0", f"1..{10**30}"])
def test_code_that_was_not_kept_is_not_found(anonymous: Client, run: Run, pair: str) -> None:
    text(anonymous, f"/runs/{run.slug}/submissions/{pair}/diff", 404)


def test_only_those_who_may_correct_a_label(
    anonymous: Client, stranger: Client, operator: Client, researcher: Client, run: Run
) -> None:
    url = f"/runs/{run.slug}/submissions/2/labels/correct/"
    body = {"methods": "SFT → DPO", "reason": "pairs.py"}
    assert anonymous.post(url, body).status_code == 302
    assert stranger.post(url, body).status_code == operator.post(url, body).status_code == 403
    assert researcher.get(url).status_code == 405
    assert MethodLabel.objects.filter(source=LabelSource.PERSON).count() == 0
    assert researcher.post(url, body).status_code == 302
    label = MethodLabel.objects.get(source=LabelSource.PERSON)
    assert (label.methods, label.author_name, label.reason) == (["SFT", "DPO"], "researcher", "pairs.py")
    page = text(anonymous, f"/runs/{run.slug}/")
    assert "by researcher" in page


def test_a_refused_correction_keeps_what_was_typed_and_says_why(researcher: Client, run: Run) -> None:
    url = f"/runs/{run.slug}/submissions/1/labels/correct/"
    answer = researcher.post(url, {"methods": "magic", "reason": HOSTILE})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "Unknown: magic" in page
    assert 'value="magic"' in page
    assert HOSTILE not in page


def test_an_ended_run_shows_its_seal_failures_and_the_agents_words(anonymous: Client) -> None:
    run = run_row(state=RunState.FINISHED, ended_at=timezone.now())
    submission_row(run, state="rejected", verdict=verdict_row(run, None), ended_at=timezone.now())
    Recording.objects.create(
        run=run, log_bytes=7, log_sha256="a" * 64, sealed_at=timezone.now(), summary=HOSTILE, notes=["the log changed"]
    )
    page = text(anonymous, f"/runs/{run.slug}/artifacts/")
    assert "a" * 64 in page
    assert "The log changed." in page
    assert "Early coding failure" in text(anonymous, f"/runs/{run.slug}/routes/")
    report = text(anonymous, f"/runs/{run.slug}/report.md")
    assert f"    {HOSTILE}" in report
    assert "Early coding failure (certain)" in report or "Early coding failure (probable)" in report


def test_ten_thousand_samples_are_a_line_of_bounded_length(django_assert_num_queries: Any) -> None:
    run = run_row()
    began = timezone.now()
    ResourceSample.objects.bulk_create(
        [
            ResourceSample(
                run=run, at=began + timedelta(seconds=10 * n), cpus=n % 3, gpus=[{"index": 0, "percent": 50}]
            )
            for n in range(10_000)
        ]
    )
    with django_assert_num_queries(2):
        found = machine(run)
    assert found.count == 10_000
    assert 100 <= found.drawn <= 2 * POINTS
    assert [measure.name for measure in found.measures] == ["CPU, cores", "GPU"]


@pytest.mark.parametrize(("peak", "told"), [(3 << 20, "3.0 MiB"), (3 << 29, "1.50 GiB")])
def test_bytes_are_told_in_the_unit_that_fits_the_peak(peak: int, told: str) -> None:
    run = run_row()
    for n, value in enumerate((peak // 3, peak), 1):
        ResourceSample.objects.create(run=run, at=timezone.now() + timedelta(seconds=n), disk_bytes=value)
    assert [measure.peak for measure in machine(run).measures] == [told]


def test_a_line_leaves_unknown_values_out() -> None:
    assert line([None, 0.0, 2.0]) == "72.0,24.0 144.0,0.0"
    assert line([1.0]) == ""
