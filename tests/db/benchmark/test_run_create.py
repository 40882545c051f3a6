"""What starts a run, and what is refused, by field."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from benchmark.models import Run
from benchmark.services.runs import run_create
from grading.models import TaskStanding

pytestmark = pytest.mark.django_db
GOOD: dict[str, Any] = {"agent": "example", "task": "arithmetic", "base_model": "tiny", "budget_s": 600}


@pytest.fixture(autouse=True)
def broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda *_, **__: None)


def test_a_multi_run_stands_on_each_of_its_tasks() -> None:
    run = run_create(**GOOD | {"task": "", "tasks": ["arithmetic", "gsm8k"], "mode": "multi"})
    assert (run.task, run.tasks) == ("arithmetic", ["arithmetic", "gsm8k"])
    rows = dict(TaskStanding.objects.filter(run=run).values_list("task", "protocol"))
    assert set(rows) == {"arithmetic", "gsm8k"}
    assert rows["gsm8k"].startswith("gsm8k/")


def test_budgets_and_the_resume_policy_are_kept() -> None:
    run = run_create(**GOOD, token_budget=5000, cost_budget_usd=2.5, resumes=3)
    run.refresh_from_db()
    assert (run.token_budget, run.cost_budget_usd, run.resumes, run.resumed) == (5000, 2.5, 3, 0)
    assert run_create(**GOOD).resumes == 0


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"agent": "nobody"}, "agent"),
        ({"task": "nothing"}, "task"),
        ({"task": ""}, "task"),
        ({"mode": "wild"}, "mode"),
        ({"mode": "multi"}, "mode"),
        ({"tasks": ["arithmetic", "gsm8k"]}, "mode"),
        ({"tasks": ["arithmetic", "arithmetic"], "mode": "multi"}, "task"),
        ({"budget_s": 1}, "budget"),
        ({"token_budget": 0}, "token_budget"),
        ({"cost_budget_usd": float("nan")}, "cost_budget_usd"),
        ({"cost_budget_usd": -1.0}, "cost_budget_usd"),
        ({"resumes": 21}, "resumes"),
        ({"resumes": -1}, "resumes"),
        ({"driver": "a\nb"}, "driver"),
        ({"base_model": "../x"}, "base_model"),
        ({"base_model": "/models/.."}, "base_model"),
        ({"base_model": "org/."}, "base_model"),
        ({"agent": "claude-code", "driver": "none"}, "driver"),
    ],
)
def test_what_is_wrong_is_named(given: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as found:
        run_create(**GOOD | given)
    assert field in found.value.message_dict
    assert not Run.objects.exists()
