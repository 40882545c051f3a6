"""What machines that keep watch are told, and who is told."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import DatabaseError, InterfaceError
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from benchmark.models import RunState
from grading.models import SubmissionState
from tests.support.rows import graded_row, run_row, submission_row, verdict_row
from traces.models import ResourceSample

pytestmark = pytest.mark.django_db
TOKEN = "of-prometheus"


@pytest.fixture(autouse=True)
def _token(settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN


def told(client: Client) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    answer = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    families = text_string_to_metric_families(answer.content.decode())
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for family in families for s in family.samples}


def test_health_needs_nobody_and_says_nothing(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok\n")
    assert client.post("/healthz").status_code == 405


@pytest.mark.parametrize("error", [DatabaseError, InterfaceError])
def test_health_without_a_database(client: Client, monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    def away(*_: object) -> None:
        raise error

    monkeypatch.setattr("frontend.views.metrics.connection.cursor", away)
    assert client.get("/healthz").status_code == 503


@pytest.mark.parametrize("shown", ["", "Bearer", "Bearer ", "Bearer wrong", TOKEN, f"Basic {TOKEN}", "Bearer é"])
def test_metrics_are_not_public(client: Client, shown: str) -> None:
    assert client.get("/metrics", headers={"Authorization": shown} if shown else {}).status_code == 404


def test_an_empty_token_opens_nothing(client: Client, settings: Any) -> None:
    settings.METRICS_TOKEN = ""
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


def test_operators_may_read_them_and_colleagues_may_not(client: Client) -> None:
    user = User.objects.create(username="ann")
    client.force_login(user)
    assert client.get("/metrics").status_code == 404
    user.user_permissions.add(Permission.objects.get(codename="operate_run"))
    assert client.get("/metrics").status_code == 200


def test_the_queue_and_the_runs(client: Client) -> None:
    run_row(state=RunState.QUEUED, created_at=timezone.now() - timedelta(seconds=90), started_at=None)
    run_row(state=RunState.FAILED, fault_code="worker_lost")
    silent = timezone.now() - timedelta(hours=1)
    held = run_row(worker="gpu-1/7", heartbeat_at=silent)
    submission_row(held, state=SubmissionState.QUEUED)
    values = told(client)
    assert values["agent2_queue_depth", (("kind", "runs"),)] == 1
    assert 89 < values["agent2_queue_oldest_seconds", (("kind", "runs"),)] < 120
    assert values["agent2_queue_depth", (("kind", "grading"),)] == 1
    assert values["agent2_runs", (("state", "failed"),)] == 1
    assert values["agent2_runs", (("state", "cancelled"),)] == 0
    assert values["agent2_run_faults_total", (("code", "worker_lost"),)] == 1
    assert values["agent2_workers_silent", ()] == 1


def test_grading_and_gpus(client: Client) -> None:
    run = run_row(worker="gpu-1/7")
    graded_row(run, 50.0)
    verdict_row(run, None)
    for percent in (10.0, 75.0):
        gpus = [{"index": 0, "percent": percent, "memory_bytes": 1 << 30, "memory_total": None, "watts": None}]
        ResourceSample.objects.create(run=run, at=timezone.now(), gpus=[*gpus, {"index": 1, "percent": None}])
    values = told(client)
    assert values["agent2_submissions", (("state", "graded"),)] == 1
    assert values["agent2_verdict_failures_total", (("code", "E_TEST"),)] == 1
    assert values["agent2_evaluation_seconds_count", (("protocol", run.protocol),)] == 1
    where = (("gpu", "0"), ("worker", "gpu-1"))
    assert values["agent2_gpu_utilization_ratio", where] == 0.75
    assert values["agent2_gpu_memory_used_bytes", where] == 1 << 30
