"""Starting and cancelling runs: operators may, strangers get 403, anonymous people are asked to sign in."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchmark.catalogue import agents, tasks
from benchmark.models import Run, RunState
from tests.support.rows import run_row

pytestmark = pytest.mark.django_db
VALID = {"agent": "example", "task": "arithmetic", "base_model": "tiny", "driver": "", "mode": "free", "budget": "10m"}


@pytest.fixture(autouse=True)
def _an_agent(tmp_path: Any, settings: Any) -> Any:
    """The catalogue with one agent, whatever is shipped."""
    folder = tmp_path / "example"
    folder.mkdir()
    (folder / "config.yaml").write_text("title: Example\nversion: 7\ndrivers: [grpo, sft]\n")
    (folder / "start.sh").write_text("true\n")
    settings.AGENT_DIRS = [tmp_path]
    agents.cache_clear()
    yield
    agents.cache_clear()


def test_only_operators_see_the_form(anonymous: Client, stranger: Client, operator: Client) -> None:
    asked = anonymous.get("/runs/new")
    assert (asked.status_code, asked.headers["Location"]) == (302, "/login/?next=/runs/new")
    refused = stranger.get("/runs/new")
    assert refused.status_code == 403
    assert "Can start and cancel runs" in refused.content.decode()
    page = operator.get("/runs/new").content.decode()
    assert "Example 7" in page
    assert all(task.title in page for task in tasks().values())


def test_only_operators_start_runs(anonymous: Client, stranger: Client, operator: Client) -> None:
    assert anonymous.post("/runs/new", VALID).status_code == 302
    assert stranger.post("/runs/new", VALID).status_code == 403
    assert not Run.objects.exists()
    answer = operator.post("/runs/new", VALID)
    run = Run.objects.get()
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/runs/{run.slug}/")
    assert (run.budget_s, run.driver, run.mode, run.state) == (600, "grpo", "free", RunState.QUEUED)
    assert run.created_by == User.objects.get(username="operator")


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("budget", "soon", "Write a time such as 10m"),
        ("budget", "1s", "The budget must lie between"),
        ("base_model", "not a model", "Give a built-in model"),
        ("base_model", "", "This field is required"),
        ("agent", "nobody", "not one of the available choices"),
        ("task", "nothing", "not one of the available choices"),
        ("mode", "any", "not one of the available choices"),
        ("mode", "multi", "A multi run needs 2 to 16 tasks"),
        ("resumes", "99", "less than or equal to 20"),
        ("token_budget", "0", "greater than or equal to 1"),
    ],
)
def test_a_wrong_field_is_marked_and_nothing_starts(operator: Client, field: str, value: str, told: str) -> None:
    answer = operator.post("/runs/new", VALID | {field: value})
    page = answer.content.decode()
    assert answer.status_code == 400
    assert told in page
    assert page.count('aria-invalid="true"') == 1
    assert not Run.objects.exists()


def test_what_was_typed_stays_and_is_escaped(operator: Client) -> None:
    page = operator.post("/runs/new", VALID | {"base_model": '"><script>'}).content.decode()
    assert "&quot;&gt;&lt;script&gt;" in page
    assert '"><script>' not in page


def test_only_operators_cancel(anonymous: Client, stranger: Client, operator: Client) -> None:
    run = run_row(state=RunState.QUEUED, started_at=None, deadline_at=None)
    path = f"/runs/{run.slug}/cancel/"
    assert anonymous.post(path).status_code == 302
    assert stranger.post(path).status_code == 403
    run.refresh_from_db()
    assert run.state == RunState.QUEUED
    answer = operator.post(path, follow=True)
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED
    assert "is being cancelled" in answer.content.decode()
    assert "has ended" in operator.post(path, follow=True).content.decode()


def test_cancelling_needs_a_post_and_a_run(operator: Client) -> None:
    assert operator.get(f"/runs/{run_row().slug}/cancel/").status_code == 405
    assert operator.post("/runs/20260101-0000-abcdef/cancel/").status_code == 404


def test_the_button_is_for_operators_of_runs_under_way(anonymous: Client, stranger: Client, operator: Client) -> None:
    run, ended = run_row(), run_row(state=RunState.FINISHED)
    for client, shown in ((anonymous, False), (stranger, False), (operator, True)):
        assert ("Cancel this run" in client.get(f"/runs/{run.slug}/").content.decode()) == shown
        assert "Cancel this run" not in client.get(f"/runs/{ended.slug}/").content.decode()
    operator.post(f"/runs/{run.slug}/cancel/")
    page = operator.get(f"/runs/{run.slug}/").content.decode()
    assert "Cancelling" in page
    assert "Cancel this run" not in page


def test_forms_need_their_token(operator: Client) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.get(username="operator"))
    answer = strict.post("/runs/new", VALID)
    assert answer.status_code == 403
    assert "form has expired" in answer.content.decode()


def test_signing_in_and_out(anonymous: Client) -> None:
    User.objects.create_user("ada", password="correct-horse-9")
    wrong = anonymous.post("/login/", {"username": "ada", "password": "x"})
    assert "correct username and password" in wrong.content.decode()
    answer = anonymous.post(
        "/login/?next=/queue/", {"username": "ada", "password": "correct-horse-9", "next": "/queue/"}
    )
    assert answer.headers["Location"] == "/queue/"
    assert "Sign out" in anonymous.get("/").content.decode()
    assert anonymous.get("/logout/").status_code == 405
    anonymous.post("/logout/")
    assert "Sign in" in anonymous.get("/").content.decode()


def test_signing_in_leads_to_no_other_site(anonymous: Client) -> None:
    User.objects.create_user("ada", password="correct-horse-9")
    credentials = {"username": "ada", "password": "correct-horse-9", "next": "https://elsewhere.example/"}
    assert anonymous.post("/login/", credentials).headers["Location"] == "/"


def test_a_form_that_is_sent_twice_starts_its_run_once(operator: Client) -> None:
    page = operator.get("/runs/new").content.decode()
    once = page.partition('name="once" value="')[2].partition('"')[0]
    assert len(once) >= 12
    answers = [operator.post("/runs/new", VALID | {"once": once}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [302, 302]
    assert answers[1].headers["Location"] == "/queue/"
    assert Run.objects.count() == 1
    assert once not in operator.get("/runs/new").content.decode()


def test_the_api_refuses_what_it_does_not_know(operator: Client) -> None:
    body = {"agent": "example", "task": "arithmetic", "base_model": "tiny", "budget_s": 60, "bugdet": 5}
    answer = operator.post("/api/v1/runs/", body, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()["bugdet"][0].startswith("There is no such member; known are agent, task")
    assert not Run.objects.exists()
