"""POST /grading/<secret>/submit: what it takes, what it refuses, and what it says."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.test import AsyncClient, Client
from django.utils import timezone

from benchmark.models import Run, RunState
from grading.models import Submission, SubmissionState
from grading.services.submissions import submission_end
from tests.support.rows import SECRET, baseline_row, graded_row, run_row, submission_row, verdict_row

pytestmark = pytest.mark.django_db(transaction=True)
URL = f"/grading/{SECRET}"


@pytest.fixture(autouse=True)
def broker(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[Any, ...]]]:
    sent: list[tuple[str, tuple[Any, ...]]] = []
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda _app, name, args=(), **_: sent.append((name, args)))
    return sent


def post(client: Client, body: Any, url: str = f"{URL}/submit", **headers: str) -> Any:
    data = body if isinstance(body, bytes | str) else json.dumps(body)
    return client.post(url, data, content_type="application/json", headers=headers)


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        (b"", 400, "JSON"),
        (b"{", 400, "JSON"),
        (b"[" * 50_000, 400, "JSON"),
        (b"\xff\xfe", 400, "JSON"),
        ([], 400, "object"),
        ({}, 400, "model_path"),
        ({"model_path": 3}, 400, "model_path"),
        ({"model_path": "  "}, 400, "model_path"),
        ({"model_path": "a\x00b"}, 400, "printable"),
        ({"model_path": "x" * 2000}, 400, "1024"),
        ({"model_path": "v", "wait": "no"}, 400, "wait"),
        ({"model_path": "v", "gpu": "all"}, 400, "gpu"),
        ({"model_path": "v", "gpu": "3"}, 400, "gpu"),
        (b'{"model_path": "' + b"x" * 3_000_000 + b'"}', 413, "65536"),
    ],
)
def test_bad_requests_are_told_what_to_do(client: Client, body: Any, status: int, says: str) -> None:
    run = run_row()
    answer = post(client, body)
    assert answer.status_code == status
    assert says in answer.json()["error"]
    assert Submission.objects.filter(run=run).count() == 0


def test_an_unknown_secret_is_not_found_and_says_which_url_to_use(client: Client) -> None:
    run_row()
    answer = post(client, {"model_path": "v"}, url="/grading/wrong/submit")
    assert answer.status_code == 404
    assert "GRADING_SERVER_URL" in answer.json()["error"]


@pytest.mark.parametrize("method", ["get", "put", "delete"])
def test_other_methods_are_refused(client: Client, method: str) -> None:
    run_row()
    assert getattr(client, method)(f"{URL}/submit").status_code == 405


def test_without_its_database_it_says_when_to_ask_again(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(**_: Any) -> Submission:
        raise OperationalError("the database system is starting up")

    run_row()
    monkeypatch.setattr("grading.api.views.submission_receive", away)
    answer = post(client, {"model_path": "v"})
    assert (answer.status_code, answer["Retry-After"]) == (503, "2")
    assert "database" in answer.json()["error"]


def test_set_baseline_is_refused(client: Client) -> None:
    run_row()
    assert post(client, {"score": 1.0}, url=f"{URL}/set_baseline").status_code == 403


def test_unknown_paths_list_what_is_known(client: Client) -> None:
    run_row()
    answer = client.get(f"{URL}/scores.json")
    assert answer.status_code == 404
    assert "/submit" in answer.json()["error"]


@pytest.mark.parametrize(
    "state", [RunState.QUEUED, RunState.FINISHING, RunState.FINISHED, RunState.CANCELLED, RunState.TIMED_OUT]
)
def test_a_run_that_does_not_run_takes_nothing(client: Client, state: RunState) -> None:
    run_row(state=state)
    answer = post(client, {"model_path": "v"})
    assert answer.status_code == 409
    assert Submission.objects.count() == 0
    assert Run.objects.get().submission_count == 0


def test_after_the_budget_the_answer_is_409(client: Client) -> None:
    run_row(deadline_at=timezone.now() - timedelta(seconds=1))
    answer = post(client, {"model_path": "v", "wait": False})
    assert answer.status_code == 409
    assert "budget" in answer.json()["error"]


def test_without_waiting_the_submission_is_stored_and_rung_for(client: Client, broker: Any) -> None:
    run_row()
    answer = post(client, {"model_path": "output/v1", "wait": False})
    assert answer.status_code == 202
    told = answer.json()
    assert told["submission_id"] == 1
    assert told["score"] is None
    assert told["status_url"].endswith(f"{URL}/submissions/1")
    assert broker == [("grading.jobs.submission_intake", (Submission.objects.get().pk,))]


def test_a_broker_that_is_down_loses_nothing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*_: Any, **__: Any) -> None:
        raise ConnectionError("no broker")

    monkeypatch.setattr("celery.app.base.Celery.send_task", down)
    run_row()
    assert post(client, {"model_path": "output/v1", "wait": False}).status_code == 202
    assert Submission.objects.get().state == SubmissionState.RECEIVED


def test_the_same_key_is_the_same_submission(client: Client) -> None:
    run_row()
    first = post(client, {"model_path": "v", "wait": False}, **{"Idempotency-Key": "abc"}).json()
    again = post(client, {"model_path": "v", "wait": False}, **{"Idempotency-Key": "abc"}).json()
    assert (first["submission_id"], again["submission_id"]) == (1, 1)
    assert Submission.objects.count() == 1


async def test_a_blocking_submit_returns_once_graded() -> None:
    from asgiref.sync import sync_to_async

    run = await sync_to_async(run_row)()
    await sync_to_async(baseline_row)(run, 10.0)

    def grade() -> None:
        submission = Submission.objects.select_related("run").get()
        submission_end(submission, after=SubmissionState.GRADED, verdict=verdict_row(run, 42.0))

    waiting = asyncio.create_task(
        AsyncClient().post(f"{URL}/submit", json.dumps({"model_path": "v"}), content_type="application/json")
    )
    while not await sync_to_async(Submission.objects.exists)():
        await asyncio.sleep(0.02)
    assert not waiting.done()
    await sync_to_async(grade)()
    told = (await asyncio.wait_for(waiting, 60)).json()
    assert (told["score"], told["improvement"], told["best"]["submission_id"]) == (42.0, 32.0, 1)


def test_a_rejected_submission_says_how_to_mend_it_and_has_no_score(client: Client) -> None:
    run = run_row()
    submission_row(run, state=SubmissionState.REJECTED, verdict=verdict_row(run, None), ended_at=timezone.now())
    answer = client.get(f"{URL}/submissions/1")
    told = answer.json()
    assert answer.status_code == 422
    assert told["score"] is None
    assert told["improvement"] is None
    assert (told["code"], told["error"], told["fix"]) == ("E_TEST", "refused", "mend it")


def test_submissions_lists_all_with_the_best(client: Client) -> None:
    run = run_row()
    for score in (5.0, 0.0, 30.0, 30.0):
        graded_row(run, score)
    told = client.get(f"{URL}/submissions").json()["submissions"]
    assert [row["score"] for row in told] == [5.0, 0.0, 30.0, 30.0]
    assert {row["best"]["submission_id"] for row in told} == {3}


def test_a_submission_that_does_not_exist(client: Client) -> None:
    run_row()
    assert client.get(f"{URL}/submissions/7").status_code == 404


def test_time_tells_what_is_left(client: Client) -> None:
    run_row()
    told = client.get(f"{URL}/time").json()
    assert told["timeout_s"] == 3600
    assert 3590 < told["remaining"] <= 3600
    assert set(told) == {"start_time", "timeout_s", "last_submit_time", "end_time", "now", "remaining"}


def test_health_names_the_task(client: Client) -> None:
    run_row()
    told = client.get(f"{URL}/health").json()
    assert (told["status"], told["task"], told["available_gpus"]) == ("ok", "arithmetic", [])


def test_another_runs_submission_is_not_shown(client: Client) -> None:
    run_row()
    other = run_row(token_hash="x")
    graded_row(other, 99.0)
    assert client.get(f"{URL}/submissions/1").status_code == 404
    assert client.get(f"{URL}/submissions").json()["submissions"] == []
