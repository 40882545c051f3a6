"""Workers report, are lost, and drain; the start form tells what a run would use."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from benchmark.jobs import run_execute
from benchmark.models import AuditEntry, Run, RunState, Worker
from benchmark.services import worker_beat
from benchmark.services.runs import worker_name
from frontend.queue_page import queue_page
from frontend.run_cost import run_cost
from grading.models import EvaluationState
from tests.support.rows import baseline_row, evaluation_row, graded_row, run_row, verdict_row

pytestmark = pytest.mark.django_db
VALID = {"agent": "example", "task": "arithmetic", "base_model": "tiny", "driver": "", "mode": "free", "budget": "2h"}


def worker(name: str = "host/1", **values: Any) -> Worker:
    facts = {"host": name.partition("/")[0], "queues": ["agents", "grading"], "slots": {"agents": 1, "grading": 1}}
    return Worker.objects.create(name=name, **facts | values)


def standings() -> dict[str, str]:
    return {row.name: row.standing for row in queue_page().workers}


@pytest.fixture
def undrained() -> Any:
    yield
    worker_beat.DRAINING.clear()


def test_a_worker_writes_its_row_and_keeps_it(db: None) -> None:
    facts = worker_beat.worker_facts(["agents", "grading", "default"])
    worker_beat.worker_enter(facts)
    row = Worker.objects.get()
    assert (row.name, row.standing) == (worker_name(), "live")
    assert set(row.slots) == {"agents", "grading"}
    assert row.versions["engine"].startswith("transformers/")
    Worker.objects.update(seen_at=timezone.now() - timedelta(minutes=5))
    assert Worker.objects.get().standing == "silent"
    assert worker_beat.worker_beat()
    assert Worker.objects.get().standing == "live"
    worker_beat.worker_leave()
    assert Worker.objects.get().standing == "ended"
    Worker.objects.all().delete()
    assert not worker_beat.worker_beat()


def test_old_rows_are_forgotten_when_a_worker_enters(db: None) -> None:
    worker("gone/1", seen_at=timezone.now() - timedelta(days=3))
    worker("lost/1", seen_at=timezone.now() - timedelta(hours=3))
    worker_beat.worker_enter(worker_beat.worker_facts(["default"]))
    assert set(Worker.objects.values_list("name", flat=True)) == {"lost/1", worker_name()}


def test_the_page_tells_busy_idle_lost_and_unreported_workers(anyone: Client) -> None:
    now = timezone.now()
    worker("busy/1", gpus=[{"index": 0, "percent": 94.0, "memory_bytes": 118 << 30, "memory_total": 140 << 30}])
    worker("idle/1", notices=["WebShop needs a <search>."])
    worker("lost/1", seen_at=now - timedelta(minutes=3))
    worker("drains/1", draining=True)
    worker("left/1", ended_at=now)
    worker("left-long-ago/1", ended_at=now - timedelta(hours=1))
    run_row(worker="busy/1", heartbeat_at=now)
    run_row(worker="unreported/1", heartbeat_at=now)
    assert standings() == {
        "busy/1": "running",
        "idle/1": "idle",
        "lost/1": "lost",
        "drains/1": "draining",
        "left/1": "ended",
        "unreported/1": "running",
    }
    page = anyone.get("/queue/").content.decode()
    assert "lost/1 has not reported for 3 min" in page
    assert "idle/1 has not" not in page
    assert "94%" in page
    assert "WebShop needs a &lt;search&gt;." in page
    told = {row["name"]: row for row in anyone.get("/api/v1/workers/").json()}
    assert told["lost/1"]["standing"] == "silent"
    assert "unreported/1" not in told


def test_operators_drain_and_resume(anonymous: Client, stranger: Client, operator: Client, undrained: None) -> None:
    row = worker(worker_name())
    path = f"/queue/workers/{row.pk}/drain/"
    assert anonymous.post(path, {"on": "1"}).status_code == 302
    assert stranger.post(path, {"on": "1"}).status_code == 403
    assert "Drain" not in stranger.get("/queue/").content.decode()
    assert operator.get(path).status_code == 405
    assert "takes nothing more" in operator.post(path, {"on": "1"}, follow=True).content.decode()
    assert "was told so before" in operator.post(path, {"on": "1"}, follow=True).content.decode()
    assert operator.post("/queue/workers/999999/drain/").status_code == 404
    worker_beat.worker_beat()
    assert not worker_beat.takes_work()
    run = run_row(state=RunState.QUEUED, started_at=None, deadline_at=None)
    run_execute(run.pk)
    run.refresh_from_db()
    assert run.state == RunState.QUEUED
    operator.post(path)
    worker_beat.worker_beat()
    assert worker_beat.takes_work()
    assert list(AuditEntry.objects.order_by("id").values_list("action", flat=True)) == ["worker.drain", "worker.resume"]


def test_hidden_runs_are_not_named_in_the_queue(anonymous: Client) -> None:
    run = run_row(worker="busy/1", heartbeat_at=timezone.now(), hidden=True)
    waits = run_row(state=RunState.QUEUED, hidden=True)
    page = anonymous.get("/queue/").content.decode()
    assert run.slug not in page
    assert waits.slug not in page
    assert "busy/1" in page


def test_the_cost_rests_on_budgets_and_past_runs(db: None, settings: Any) -> None:
    settings.RUN_GPUS = 2
    told = run_cost(task="arithmetic", base_model="tiny", budget_s=7200, runs=3)
    assert told.reserved_gpu_hours == 12.0
    assert (told.grading_hours, told.provider_usd, told.starts_at, told.baseline_known) == (None, None, None, False)
    past = run_row(state=RunState.FINISHED, cost_usd=4.0)
    baseline_row(past)
    graded_row(past, 20.0)
    verdict = verdict_row(past, 20.0, seconds=1800.0)
    evaluation_row(past, "e" * 64, state=EvaluationState.DONE, verdict=verdict)
    worker()
    told = run_cost(task="arithmetic", base_model="tiny", budget_s=7200, runs=3, agent="example")
    assert told.baseline_known
    assert (told.grading_hours, told.graded_before) == (1.5, 1)
    assert (told.provider_usd, told.paid_before) == (12.0, 1)
    assert told.starts_in_s == pytest.approx(0, abs=1)
    run_row(worker="host/1", deadline_at=timezone.now() + timedelta(minutes=30))
    run_row(state=RunState.QUEUED, budget_s=3600)
    told = run_cost(task="arithmetic", base_model="tiny", budget_s=60)
    assert told.waiting_before == 1
    assert told.starts_in_s == pytest.approx(90 * 60, abs=5)


def test_the_form_shows_the_cost_before_anything_starts(operator: Client, stranger: Client, settings: Any) -> None:
    settings.RUN_GPUS = 1
    shown = operator.post("/runs/new", VALID | {"runs": "3", "check": "1"}).content.decode()
    assert "3 × 1 GPU × 2:00:00" in shown
    assert "<dd>6 " in shown
    assert not Run.objects.exists()
    assert "3 × 1 GPU" in operator.get("/runs/new/cost/", VALID | {"runs": "3"}).content.decode()
    assert "once every field can be read" in operator.get("/runs/new/cost/?budget=soon").content.decode()
    assert stranger.get("/runs/new/cost/").status_code == 403


def test_several_runs_start_at_once_or_none(operator: Client) -> None:
    answer = operator.post("/runs/new", VALID | {"runs": "3"})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/queue/")
    assert Run.objects.count() == 3
    assert AuditEntry.objects.filter(action="run.start").count() == 3
    for odd in ("0", "11", "x", "-1", "9" * 30):
        assert operator.post("/runs/new", VALID | {"runs": odd}).status_code == 400
    assert Run.objects.count() == 3


def test_a_run_is_repeated_from_its_form(operator: Client) -> None:
    run = run_row(agent="example", driver="some-llm", budget_s=5400, mode="sft-only", state=RunState.FINISHED)
    assert f"/runs/new?like={run.slug}" in operator.get(f"/runs/{run.slug}/").content.decode()
    page = operator.get(f"/runs/new?like={run.slug}").content.decode()
    assert 'value="5400s"' in page
    assert 'value="some-llm"' in page
    assert operator.get("/runs/new?like=nobody").status_code == 404
    hidden = run_row(hidden=True, created_by=User.objects.create_user("other"))
    assert operator.get(f"/runs/new?like={hidden.slug}").status_code == 404
    operator.post(f"/runs/new?like={run.slug}", VALID)
    assert AuditEntry.objects.get(action="run.start").data["like"] == run.slug
