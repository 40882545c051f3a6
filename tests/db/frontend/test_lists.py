"""The list of runs, the queue, and the pages for what went wrong."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client, override_settings
from django.utils import timezone

from benchmark.models import RunState
from frontend.queue_page import queue_page
from grading.models import Baseline, EvaluationState, SubmissionState
from tests.support.rows import baseline_row, evaluation_row, graded_row, run_row, submission_row

pytestmark = pytest.mark.django_db


def test_everybody_reads_the_runs(anyone: Client) -> None:
    run = run_row()
    baseline_row(run, 10.0)
    graded_row(run, 12.5)
    page = anyone.get("/runs/").content.decode()
    assert run.slug in page
    assert "12.50" in page
    assert "+2.50" in page


def test_filters_are_in_the_address_and_an_unknown_value_finds_nothing(anonymous: Client) -> None:
    one, other = run_row(agent="one"), run_row(agent="two", state=RunState.FAILED)
    page = anonymous.get("/runs/?agent=one").content.decode()
    assert one.slug in page
    assert other.slug not in page
    assert other.slug in anonymous.get("/runs/?state=failed&task=arithmetic").content.decode()
    empty = anonymous.get("/runs/?agent=<script>").content.decode()
    assert "No run matches these filters" in empty
    assert "<script>" not in empty.replace('<script src="', "").replace('<script type="module"', "")


def test_pages_keep_the_filter_and_a_missing_page_is_said(
    anonymous: Client, django_assert_max_num_queries: Any
) -> None:
    runs = [run_row(agent="many") for _ in range(60)]
    with django_assert_max_num_queries(7):
        first = anonymous.get("/runs/?agent=many").content.decode()
    assert "60 results match" in first
    assert "agent=many&amp;page=2" in first
    assert runs[-1].slug in first
    assert runs[0].slug not in first
    assert runs[0].slug in anonymous.get("/runs/?agent=many&page=3").content.decode()
    for page in ("x", "-1", "0", "99", "9" * 30, "²"):
        answer = anonymous.get("/runs/", {"agent": "many", "page": page})
        assert (answer.status_code, "<code>page</code>" in answer.content.decode()) == (400, True)


def test_one_odd_run_does_not_break_a_list(anonymous: Client) -> None:
    run = run_row(agent="no-longer-there", task="gone", protocol="", base_digest="", started_at=None, deadline_at=None)
    for path in ("/", "/runs/", "/queue/", f"/runs/{run.slug}/", f"/runs/{run.slug}/curve.json"):
        assert anonymous.get(path).status_code == 200


def test_the_queue_says_what_waits_and_for_how_long(anyone: Client) -> None:
    hour = timezone.now() - timedelta(hours=1)
    run_row(state=RunState.QUEUED, created_at=hour)
    run = run_row()
    submission_row(run, state=SubmissionState.QUEUED, received_at=timezone.now())
    submission_row(run)
    evaluation_row(run, run.base_digest)
    found = {kind.kind: kind for kind in queue_page().waiting}
    assert [found[kind].depth for kind in ("Runs", "Intake", "Grading", "Baselines")] == [1, 1, 1, 0]
    assert found["Runs"].oldest == hour
    assert queue_page().oldest == hour
    page = anyone.get("/queue/").content.decode()
    assert "60 min" in page
    assert 'id="queue"' in anyone.get("/queue/?piece=1").content.decode()
    assert "<html" not in anyone.get("/queue/?piece=1").content.decode()


def test_a_baseline_that_waits_is_counted_once_for_all_its_runs(anonymous: Client) -> None:
    one, other = run_row(), run_row()
    evaluation = baseline_row(one)
    evaluation.state, evaluation.verdict = EvaluationState.QUEUED, None
    evaluation.save()
    Baseline.objects.create(run=other, evaluation=evaluation)
    assert next(kind for kind in queue_page().waiting if kind.kind == "Baselines").depth == 1


@override_settings(HEARTBEAT_S=5)
def test_a_silent_worker_is_named(anonymous: Client) -> None:
    old = timezone.now() - timedelta(seconds=60)
    run = run_row(worker="host-lost/1", heartbeat_at=old)
    evaluation = evaluation_row(
        run, "c" * 64, state=EvaluationState.RUNNING, worker="host-fine/2", heartbeat_at=timezone.now(),
        phase="generating", n_done=3, n_expected=9,
    )  # fmt: skip
    submission_row(run, state=SubmissionState.GRADING, evaluation=evaluation)
    page = anonymous.get("/queue/").content.decode()
    assert "host-lost/1 has not reported" in page
    assert "host-fine/2 has not" not in page
    assert "grades #1" in page
    assert 'value="3" max="9"' in page
    assert queue_page().working == 1


def test_work_that_nobody_takes_is_pointed_out(anonymous: Client) -> None:
    assert "no worker lives" not in anonymous.get("/queue/").content.decode()
    run_row(state=RunState.QUEUED)
    assert "no worker lives" in anonymous.get("/queue/").content.decode()


def test_what_is_not_there_is_said_in_the_sites_style(anyone: Client) -> None:
    answer = anyone.get("/nothing/here")
    assert answer.status_code == 404
    assert "See all runs" in answer.content.decode()


def test_a_fault_of_the_server_is_said_in_the_sites_style(anonymous: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_user: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("frontend.views.queue.queue_page", broken)
    anonymous.raise_request_exception = False
    answer = anonymous.get("/queue/")
    assert answer.status_code == 500
    assert "This page could not be made" in answer.content.decode()
    assert "secret detail" not in answer.content.decode()
    assert "Content-Security-Policy" in answer.headers


def test_the_navigation_shows_only_pages_that_exist(operator: Client) -> None:
    page = operator.get("/").content.decode().split("<nav", 1)[1].split("</nav>")[0]
    links = [part.split('"')[0] for part in page.split('href="')[1:]]
    assert len(links) >= 4
    assert all(operator.get(link).status_code == 200 for link in links)
