"""The tabs of a run's page, its citation and its files, for everybody who may see the run."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from benchmark.models import IntegrityFinding, Origin, Run, Trust
from frontend.published.loading import published_load
from grading.models import SubmissionState, TaskStanding, Verdict
from tests.db.frontend.run_pages import text
from tests.support.rows import baseline_row, run_row, submission_row, verdict_row
from tests.support.stories import story_row
from traces.models import CodeSnapshot, Trace
from traces.services.snapshots_store import blob_put

pytestmark = pytest.mark.django_db
TABS = ("", "curve/", "submissions/", "routes/", "artifacts/", "integrity/", "configuration/")
PIECES = ("fragment/", "fragment/curve/", "fragment/submissions/")
FILES = ("cite.bib", "submissions.csv", "curve.json")
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def folders(settings: Any, tmp_path: Path) -> None:
    settings.TRACES_DIR, settings.DATA_DIR = tmp_path / "traces", tmp_path


@pytest.mark.parametrize("part", [*TABS, *PIECES, *FILES])
def test_everybody_reads_every_tab(anyone: Client, part: str) -> None:
    text(anyone, story_row([20.0, None, 40.0], [["SFT"], [], ["GRPO"]]), part)


@pytest.mark.parametrize("part", [*TABS, *PIECES, *FILES, "submissions/1/records/"])
def test_a_hidden_run_is_for_its_owner_and_moderators(anonymous: Client, stranger: Client, part: str) -> None:
    owner = User.objects.create_user("owner")
    run = story_row([20.0], hidden=True, created_by=owner)
    for client in (anonymous, stranger):
        text(client, run, part, status=404)
    own = Client()
    own.force_login(owner)
    text(own, run, part)


@pytest.mark.parametrize("part", [*TABS, *PIECES])
def test_tabs_survive_hostile_words(anonymous: Client, part: str) -> None:
    run = story_row([1.0], agent=HOSTILE, driver=HOSTILE, base_model=HOSTILE, versions={HOSTILE: HOSTILE})
    IntegrityFinding.objects.create(run=run, source="log", code="x", title=HOSTILE, places=[HOSTILE])
    assert HOSTILE not in text(anonymous, run, part)


@pytest.mark.parametrize("part", TABS)
def test_every_tab_is_a_few_queries(anonymous: Client, part: str, django_assert_max_num_queries: Any) -> None:
    run = story_row([float(n) for n in range(1, 30)], [["SFT"], ["GRPO"]] * 14)
    with django_assert_max_num_queries(12):
        text(anonymous, run, part)


def test_each_tab_knows_that_it_is_open(anonymous: Client) -> None:
    run = story_row([1.0])
    for part in TABS:
        found = re.findall(r'<a href="([^"]+)" aria-current="page">', text(anonymous, run, part))
        assert f"/runs/{run.slug}/{part}" in found
    assert f'href="/runs/{run.slug}/curve/" aria-current="page"' in text(anonymous, run, "fragment/curve/")


def test_the_curve_has_a_band_of_methods_and_its_switches(anonymous: Client) -> None:
    run = story_row([20.0, 10.0, 40.0], [["SFT"], ["DPO"], ["GRPO"]])
    figure = json.loads(text(anonymous, run, "curve.json"))
    named = {trace["name"]: trace for trace in figure["data"]}
    assert named["switch"]["customdata"] == [3]
    assert named["failed switch"]["customdata"] == [2]
    assert [note["text"] for note in figure["layout"]["annotations"]].count("GRPO") == 1
    assert "1 of 2 method switches raised the best score" in text(anonymous, run, "curve/")


def test_any_two_submissions_are_compared(anonymous: Client) -> None:
    run = story_row([20.0, 30.0, 40.0])
    for number, code in ((1, b"a = 1\n"), (3, b"a = 3\n")):
        files = {"train.py": [blob_put(code), len(code), 0]}
        CodeSnapshot.objects.create(run=run, number=number, model_path="v", files=files)
    page = text(anonymous, run, "submissions/", a="1", b="3")
    assert '<li class="add" data-n="1">a = 3</li>' in page
    assert "No code was kept of submission 2" in text(anonymous, run, "submissions/", status=400, a="1", b="2")
    assert "is no number" in text(anonymous, run, "submissions/", status=400, a="1", b="x")
    assert "There are pages 1 to 1" in text(anonymous, run, "submissions/", status=400, page="9")


def test_old_submissions_have_pages(anonymous: Client) -> None:
    run = run_row()
    verdict = verdict_row(run, 1.0)
    for _ in range(201):
        submission_row(run, state=SubmissionState.GRADED, verdict=verdict, ended_at=timezone.now())
    assert 'id="s1"' not in text(anonymous, run, "submissions/")
    assert 'id="s1"' in text(anonymous, run, "submissions/", page="2")


def test_integrity_tells_attempts_copies_and_flags(anonymous: Client) -> None:
    run = story_row([20.0])
    assert "Nothing odd was seen" in text(anonymous, run, "integrity/")
    IntegrityFinding.objects.create(run=run, source="gateway", code="foreign_token", title="asked for another run")
    submission_row(run, state="graded", verdict=verdict_row(run, 10.0), intake={"equals_base": True})
    submission_row(run, state="graded", verdict=verdict_row(run, 10.0), intake={"distance": {"relative_l2": 1e-6}})
    page = text(anonymous, run, "integrity/")
    for told in ("asked for another run", "its score is the baseline", "near copy", "1 of 3 submissions"):
        assert told in page
    TaskStanding.objects.filter(run=run).update(flag_reason="near copy", final=10.0)
    assert "A score of this run was flagged" in text(anonymous, run, "integrity/")


def test_what_a_submission_planted_is_an_attempt(anonymous: Client) -> None:
    run = story_row([20.0])
    planted = {"code": "E_SYMLINK", "message": "config.json: a symlink leads outside", "detail": {"rule": "outside"}}
    wandered = {"code": "E_PATH", "message": "the path leads outside", "detail": {"rule": "outside"}}
    honest = {"code": "E_PATH", "message": "it does not exist", "detail": {"rule": "missing"}}
    for findings in ([planted, wandered], [planted], [honest], None):
        submission_row(run, state="rejected", intake={} if findings is None else {"findings": findings})
    told = anonymous.get(f"/api/v1/runs/{run.slug}/integrity/").json()
    assert [(each["source"], each["code"], each["count"]) for each in told] == [
        ("submission", "E_SYMLINK", 2),
        ("submission", "outside", 1),
    ]
    assert told[0]["places"][0] == "submission 2: config.json: a symlink leads outside"
    page = text(anonymous, run, "integrity/")
    for each in told:
        assert each["title"] in page


def test_a_claimed_score_took_no_time_to_grade(anonymous: Client) -> None:
    run = story_row([20.0])
    assert re.search(r'class="gt num">\d', text(anonymous, run))
    Verdict.objects.filter(submissions__run=run).update(protocol="claimed:arithmetic/1")
    assert 'class="gt num"></td>' in text(anonymous, run)


def test_a_claimed_run_without_submissions_does_not_look_idle(anonymous: Client) -> None:
    run = story_row([], origin=Origin.EXTERNAL, trust=Trust.CLAIMED, baseline=None)
    assert "submitted nothing" not in text(anonymous, run)
    assert "No score and no submission is stated" in text(anonymous, run)
    TaskStanding.objects.filter(run=run).update(best=40.0, baseline=10.0)
    page = text(anonymous, run)
    assert "Claimed best 40.00, 30.00 above the base model" in page
    assert "+30.00" in page


@pytest.mark.parametrize("part", TABS)
def test_published_runs_have_every_tab(anonymous: Client, part: str) -> None:
    published_load()
    run = Run.objects.get(slug="paper-16-1-alfworld")
    page = text(anonymous, run, part)
    assert "Printed in a paper" in page
    assert "97.76" in page
    assert "submitted nothing" not in page


def test_configuration_cites_the_run(anonymous: Client) -> None:
    run = story_row([42.0], agent="a_b", driver="x&y", versions={"seed": 43})
    page = text(anonymous, run, "configuration/")
    for told in ("Seed", "43", run.base_digest, "best score 42.00", f"/runs/{run.slug}/"):
        assert told in page
    entry = text(anonymous, run, "cite.bib")
    assert entry.startswith(f"@misc{{agent2rlbench-{run.slug},")
    assert r"x\&y" in entry
    assert entry.count("{") == entry.count("}")


def test_a_run_without_anything_has_every_tab(anonymous: Client) -> None:
    run = run_row(started_at=None, deadline_at=None, state="queued")
    for part in (*TABS, *PIECES, *FILES):
        text(anonymous, run, part)


@pytest.mark.parametrize("form", ["jsonl", "atif.json", "log"])
def test_transcripts_that_are_not_here_say_so(anonymous: Client, form: str) -> None:
    run = story_row([1.0])
    trace = Trace.objects.create(run=run, name="log", event_count=1)
    link = f"trace/{trace.key}/whole.{form}"
    assert anonymous.get(f"/runs/{run.slug}/{link}").status_code in (200, 503)
    other = story_row([1.0])
    text(anonymous, other, link, status=404)
    assert link in text(anonymous, run, "artifacts/")


def test_the_log_comes_as_it_is_stored(anonymous: Client, settings: Any, tmp_path: Path) -> None:
    settings.TRACES_DIR = tmp_path
    run, printed = story_row([1.0]), b"\xff\x1b[1mbold\x1b[0m\n" * 40_000
    trace = Trace.objects.create(run=run, name="agent.log", event_count=1, transcript_bytes=len(printed))
    trace.folder.mkdir(parents=True)
    (trace.folder / "transcript").write_bytes(printed + b"not yet committed")
    answer = anonymous.get(f"/runs/{run.slug}/trace/{trace.key}/whole.log")
    assert b"".join(answer) == printed
    assert answer["Content-Disposition"].startswith("attachment;")


def test_an_unknown_piece_is_refused(anonymous: Client) -> None:
    text(anonymous, story_row([1.0]), "fragment/other/", status=400)


@pytest.mark.parametrize("part", [*TABS, *PIECES, *FILES])
def test_only_reading(operator: Client, part: str) -> None:
    run = run_row()
    baseline_row(run)
    assert operator.post(f"/runs/{run.slug}/{part}").status_code == 405
