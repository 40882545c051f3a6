import csv
import json
from io import StringIO
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from benchmark.models import AgentLog, Run, RunState
from frontend.run_page import run_page
from grading.models import EvaluationState, SubmissionState
from tests.db.frontend.run_pages import text
from tests.support.rows import baseline_row, evaluation_row, graded_row, run_row, submission_row, verdict_row

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script>"


def refused(run: Run, state: SubmissionState = SubmissionState.REJECTED, **values: Any) -> None:
    submission_row(run, state=state, verdict=verdict_row(run, None, **values), ended_at=timezone.now())


def test_everybody_reads_every_part(anyone: Client) -> None:
    run = run_row()
    baseline_row(run, 10.1)
    graded_row(run, 65.2)
    for part in ("", "fragment/"):
        page = text(anyone, run, part)
        assert "Best so far 65.20, 55.10 above the base model, after 1 submission" in page
        assert "+55.10" in page
    assert json.loads(text(anyone, run, "curve.json"))["layout"]["yaxis"]["range"] == [0, 100]
    assert "65.2" in text(anyone, run, "submissions.csv")


@pytest.mark.parametrize("part", ["", "fragment/", "curve.json", "submissions.csv"])
def test_an_unknown_run_is_not_found(anonymous: Client, part: str) -> None:
    answer = anonymous.get(f"/runs/20260101-0000-abcdef/{part}")
    assert answer.status_code == 404
    assert "Not found" in answer.content.decode()


@pytest.mark.parametrize("part", ["", "fragment/", "curve.json", "submissions.csv"])
def test_reading_is_all_that_a_get_address_does(operator: Client, part: str) -> None:
    assert operator.post(f"/runs/{run_row().slug}/{part}").status_code == 405


@pytest.mark.parametrize(
    ("scores", "baseline", "told"),
    [
        ([], 10.0, "No submission yet"),
        ([5.0], 10.0, "Best so far 5.00, 5.00 below the base model, after 1 submission"),
        ([10.0, 3.0], 10.0, "Best so far 10.00, the same as the base model, after 2 submissions"),
        ([0.0], None, "Best so far 0.00 after 1 submission"),
        ([None], 10.0, "No score after 1 submission"),
    ],
)
def test_the_reading_says_what_the_curve_shows(scores: list[float | None], baseline: float | None, told: str) -> None:
    run = run_row()
    if baseline is not None:
        baseline_row(run, baseline)
    for score in scores:
        if score is None:
            refused(run)
        else:
            graded_row(run, score)
    assert run_page(run).reading == told


def test_an_ended_run_is_told_in_the_past(anonymous: Client) -> None:
    run = run_row(state=RunState.FINISHED, ended_at=timezone.now())
    assert run_page(run).reading == "The agent submitted nothing"
    graded_row(run, 4.0)
    assert run_page(run).reading == "Best 4.00 after 1 submission"
    assert 'data-terminal="1"' in text(anonymous, run)


def test_unscored_is_a_dash_with_its_reason_and_fix(anonymous: Client) -> None:
    run = run_row()
    refused(run, code="E_ADAPTER_ONLY", message="full weights are not there", fix="Run merge_and_unload()")
    refused(run, SubmissionState.ERRORED, code="I_TIMEOUT", message="no progress", fix="")
    page = text(anonymous, run)
    for told in (
        "E_ADAPTER_ONLY",
        "full weights are not there",
        "Run merge_and_unload()",
        "I_TIMEOUT",
        "the fault is ours",
    ):
        assert told in page
    assert page.count('—<span class="vh"> not scored') >= 3
    assert "1 rejected, 1 errored" in page


def test_waiting_submissions_say_for_what_and_grading_shows_its_progress(anonymous: Client) -> None:
    run = run_row()
    evaluation = evaluation_row(
        run, "c" * 64, state=EvaluationState.RUNNING, phase="generating", n_done=210, n_expected=500
    )
    submission_row(run, state=SubmissionState.GRADING, evaluation=evaluation)
    submission_row(run, state=SubmissionState.QUEUED)
    submission_row(run)
    page = text(anonymous, run)
    assert 'value="210" max="500"' in page
    assert "waits for #1: one evaluation at a time in a run" in page
    assert "its files are being checked" in page


def test_a_stored_verdict_and_warnings_are_told(anonymous: Client) -> None:
    run = run_row()
    graded_row(run, 5.0)
    again = graded_row(
        run, 5.0, same_as="#1", intake={"warnings": [{"code": "W_ODD", "message": "odd", "fix": "even"}]}
    )
    page = text(anonymous, run)
    assert "same files as #1" in page
    assert "W_ODD" in page
    assert run_page(run).best is not None
    assert not next(point for point in run_page(run).points if point.submission == again).new_best


def test_faults_say_what_to_do_and_missing_isolation_is_plain(anonymous: Client) -> None:
    run = run_row(
        state=RunState.FAILED, fault_code="worker_lost", fault_detail="The worker host/1 was not heard of.",
        sandbox_note="not isolated: a plain process",
    )  # fmt: skip
    page = text(anonymous, run)
    assert "The worker host/1 was not heard of." in page
    assert "start the run again" in page
    assert "Not isolated: a plain process." in page
    assert "<b>Sandbox.</b>" not in text(anonymous, run_row())


def test_preparing_says_its_step(anonymous: Client) -> None:
    run = run_row(state=RunState.PREPARING, step="Grading the base model.", started_at=None, deadline_at=None)
    assert "Grading the base model." in text(anonymous, run)
    assert "starts with the agent" in text(anonymous, run)


def test_a_missing_baseline_says_why(anonymous: Client) -> None:
    run = run_row()
    evaluation = baseline_row(run)
    evaluation.verdict = verdict_row(run, None, code="E_TEST", message="no template")
    evaluation.save()
    graded_row(run, 5.0)
    page = text(anonymous, run)
    assert "E_TEST: no template" in page
    assert run_page(run).improvement is None


def test_tokens_are_offered_only_when_known(anonymous: Client) -> None:
    run = run_row()
    graded_row(run, 5.0)
    assert "no token counts are known" in text(anonymous, run)
    graded_row(run, 6.0, tokens=1000)
    assert "?x=tokens" in text(anonymous, run)
    assert "no token counts are known" not in text(anonymous, run)


def test_an_unknown_axis_is_time(anonymous: Client) -> None:
    page = anonymous.get(f"/runs/{run_row().slug}/?x=<script>").content.decode()
    assert "curve.json?x=time" in page


def test_hostile_text_is_escaped_everywhere(anonymous: Client) -> None:
    run = run_row(
        agent=HOSTILE, driver=HOSTILE, base_model=HOSTILE, worker=HOSTILE, sandbox_note=HOSTILE, fault_code="x",
        fault_detail=HOSTILE, step=HOSTILE, state=RunState.PREPARING,
    )  # fmt: skip
    graded_row(
        run, 5.0, model_path=HOSTILE, same_as=HOSTILE, intake={"warnings": [{"code": HOSTILE, "message": HOSTILE}]}
    )
    refused(run, code=HOSTILE, message=HOSTILE, fix=HOSTILE)
    AgentLog.objects.create(run=run, tail=f"\x1b[31m{HOSTILE}\x1b[0m{HOSTILE}\x00", size=99)
    for part in ("", "fragment/"):
        page = text(anonymous, run, part)
        assert "<script>alert" not in page
        assert page.count("&lt;script&gt;alert") > 10
        assert "\x1b" not in page
        assert "\x00" not in page


def test_the_csv_has_empty_fields_for_unscored_and_no_formulas(anonymous: Client) -> None:
    run = run_row()
    baseline_row(run, 10.0)
    graded_row(run, 12.5, model_path='=HYPERLINK("http://x")')
    refused(run, code="E_X", message="-1+1")
    graded_row(run, 0.0)
    answer = anonymous.get(f"/runs/{run.slug}/submissions.csv")
    assert answer.headers["Content-Type"].startswith("text/csv")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{run.slug}-submissions.csv"'
    first, second, third = csv.DictReader(StringIO(answer.content.decode()))
    assert (first["score"], first["improvement"], first["best_so_far"], first["new_best"]) == (
        "12.5",
        "2.5",
        "12.5",
        "1",
    )
    assert first["model_path"].startswith("'=")
    assert (second["score"], second["improvement"], second["best_so_far"]) == ("", "", "12.5")
    assert second["message"] == "'-1+1"
    assert (third["score"], third["new_best"]) == ("0.0", "0")


def test_two_hundred_submissions_are_one_page_in_a_fixed_number_of_queries(
    anonymous: Client, django_assert_max_num_queries: Any
) -> None:
    run = run_row()
    baseline_row(run)
    for number in range(200):
        graded_row(run, number / 2)
    with django_assert_max_num_queries(12):
        page = text(anonymous, run)
    assert page.count('<tr id="s') == 50
    assert "All 200 submissions" in page
    with django_assert_max_num_queries(12):
        assert text(anonymous, run, "submissions/").count('<tr id="s') == 200
    assert "best 99.50, 89.50 above" in page.lower().replace("so far ", "")


def test_the_page_without_scripts_has_the_numbers_and_says_what_is_missing(anonymous: Client) -> None:
    page = text(anonymous, run_row())
    assert "<noscript>" in page
    assert "The curve needs JavaScript" in page


def test_the_policy_allows_nothing_inline(anonymous: Client) -> None:
    policy = anonymous.get(f"/runs/{run_row().slug}/").headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
