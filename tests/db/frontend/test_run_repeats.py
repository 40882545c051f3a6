"""How far a score repeats, on the page of its submission: what is told, and who may ask for more."""

import re
from typing import Any

import pytest
from django.test import Client

from grading.models import Evaluation, Submission
from tests.support.rows import evaluation_row, graded_row, run_row, verdict_row

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda *_, **__: None)


@pytest.fixture
def submission() -> Submission:
    run = run_row()
    submission = graded_row(run, 40.0, digest="d1")
    submission.evaluation = evaluation_row(run, "d1", state="done", verdict=submission.verdict)
    submission.save(update_fields=["evaluation"])
    return submission


def page(client: Client, submission: Submission) -> str:
    answer = client.get(f"/runs/{submission.run.slug}/submissions/{submission.number}/records/")
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def again(client: Client, submission: Submission, times: Any) -> str:
    address = f"/runs/{submission.run.slug}/submissions/{submission.number}/again/"
    answer = client.post(address, {"times": times}, follow=True)
    return " ".join(answer.content.decode().split())


def test_once_graded_says_that_repetition_was_not_measured(submission: Submission, anonymous: Client) -> None:
    told = page(anonymous, submission)
    assert "how far the score repeats was not measured" in told
    assert "Grade again" not in told


def test_the_spread_stands_beside_the_score(submission: Submission, anonymous: Client) -> None:
    run = submission.run
    evaluation_row(run, "d1", repeat=1, state="done", verdict=verdict_row(run, 42.0))
    evaluation_row(run, "d1", repeat=2, state="done", verdict=verdict_row(run, 38.0))
    evaluation_row(run, "d1", repeat=3)
    evaluation_row(run, "d1", repeat=4, state="faulted", fault={"message": "the <b>engine</b> was down"})
    evaluation_row(run, "other", repeat=1, state="done", verdict=verdict_row(run, 99.0))
    told = page(anonymous, submission)
    assert "3 gradings of the same files" in told
    assert re.search(r"38\.0+ to 42\.0+, standard deviation 2\.0+ points; 1 more to come", told)
    assert "the &lt;b&gt;engine&lt;/b&gt; was down" in told
    assert "99.0" not in told


def test_operators_ask_for_more(submission: Submission, operator: Client) -> None:
    assert "Grade again" in page(operator, submission)
    assert "graded again once a worker is free" in again(operator, submission, 2)
    assert Evaluation.objects.filter(repeat__gt=0).count() == 2
    assert "2 more to come" in page(operator, submission)


@pytest.mark.parametrize("times", ["", "0", "-1", "x", "21", "1e3", "9" * 40])
def test_nonsense_is_told(submission: Submission, operator: Client, times: str) -> None:
    assert "up to 20 further times are possible" in again(operator, submission, times)
    assert not Evaluation.objects.filter(repeat__gt=0).exists()


def test_what_was_not_graded_here_cannot_be(operator: Client) -> None:
    told = again(operator, graded_row(run_row(), 10.0), 1)
    assert "was not graded here" in told
