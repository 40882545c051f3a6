"""The grading API of a run with several tasks, and of a run with one that is asked by task."""

import json
from typing import Any

import pytest
from django.test import Client

from benchmark.models import Run, secret_hash
from grading.models import Submission
from grading.selectors import run_on_task
from tests.support.rows import SECRET, run_row

pytestmark = pytest.mark.django_db(transaction=True)
URL = f"/grading/{SECRET}"


@pytest.fixture(autouse=True)
def broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda *_, **__: None)


@pytest.fixture
def several() -> Run:
    return run_row(mode="multi", task_list=["arithmetic", "gsm8k"])


def post(client: Client, path: str, **body: Any) -> Any:
    told = {"model_path": "output/v1", "wait": False} | body
    return client.post(f"{URL}{path}", json.dumps(told), content_type="application/json")


def test_the_task_comes_from_the_url_or_from_the_body(client: Client, several: Run) -> None:
    assert post(client, "/tasks/gsm8k/submit").status_code == 202
    assert post(client, "/submit", task="arithmetic").status_code == 202
    assert list(Submission.objects.values_list("number", "task")) == [(1, "gsm8k"), (2, "arithmetic")]
    assert [each.number for each in run_on_task(several, "gsm8k").submissions] == [1]
    assert [each.number for each in run_on_task(several).submissions] == [2]
    assert run_on_task(several, "humaneval").submissions == []
    told = client.get(f"{URL}/tasks/gsm8k/submissions").json()["submissions"]
    assert [each["submission_id"] for each in told] == [1]
    assert len(client.get(f"{URL}/submissions").json()["submissions"]) == 2


def test_health_and_time_are_told_for_each_task(client: Client, several: Run) -> None:
    told = client.get(f"{URL}/tasks/gsm8k/health").json()
    assert (told["task"], told["tasks"]) == ("gsm8k", ["arithmetic", "gsm8k"])
    assert told["protocol"].startswith("gsm8k/")
    assert client.get(f"{URL}/tasks/gsm8k/time").json()["timeout_s"] == 3600
    assert client.get(f"{URL}/health").json()["task"] == "arithmetic"


@pytest.mark.parametrize("path", ["/tasks/humaneval/submit", "/tasks/gsm8k'/submit", "/tasks/%00/submit"])
def test_another_task_is_not_found_and_the_own_ones_are_named(client: Client, several: Run, path: str) -> None:
    answer = post(client, path)
    assert answer.status_code == 404
    assert "arithmetic, gsm8k" in answer.json()["error"]
    assert not Submission.objects.exists()


@pytest.mark.parametrize("body", [{}, {"task": ""}])
def test_without_a_task_it_says_where_to_submit(client: Client, several: Run, body: dict[str, Any]) -> None:
    answer = post(client, "/submit", **body)
    assert answer.status_code == 400
    assert "tasks/arithmetic/submit" in answer.json()["error"]


@pytest.mark.parametrize("task", [3, ["gsm8k"], "x" * 100, "a\nb"])
def test_an_odd_task_is_a_bad_request(client: Client, several: Run, task: Any) -> None:
    answer = post(client, "/submit", task=task)
    assert answer.status_code == 400
    assert "task" in answer.json()["error"]


def test_a_run_with_one_task_may_be_asked_by_its_name(client: Client) -> None:
    run_row()
    assert post(client, "/tasks/arithmetic/submit").status_code == 202
    assert post(client, "/tasks/gsm8k/submit").status_code == 404
    assert list(Submission.objects.values_list("task", flat=True)) == [""]


def test_a_strangers_secret_finds_nothing(client: Client, several: Run) -> None:
    Run.objects.filter(pk=several.pk).update(token_hash=secret_hash("another"))
    assert post(client, "/tasks/gsm8k/submit").status_code == 404
    assert client.get(f"{URL}/tasks/gsm8k/health").status_code == 404
