"""Hosts join with a token that is good once, and send the records of their own runs."""

import hashlib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from benchmark.models import AuditEntry, Host
from benchmark.services.hosts import host_drain, host_enrol, host_join, host_remove
from benchmark.services.worker_beat import worker_enter, worker_facts
from tests.support.rows import run_row
from traces.models import Trace

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _deployment(settings: Any, tmp_path: Path) -> None:
    settings.TRACES_DIR = tmp_path / "traces"
    settings.HOSTS_DATABASE_URL, settings.HOSTS_REDIS_URL = "postgresql://db/x", "redis://cache/0"


def joined(name: str = "gpu-1") -> tuple[Host, str]:
    found = host_join(token=host_enrol(name=name, queues=["agents"], actor=None))
    assert found is not None
    return found.host, found.environment["AGENT2_HOST_TOKEN"]


def put(client: Client, place: str, data: bytes, token: str = "", offset: object = 0) -> Any:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    path = f"/worker/records/{place}?offset={offset}"
    return client.put(path, data, content_type="application/octet-stream", headers=headers)


class TestJoining:
    def test_is_told_its_settings_once(self, client: Client) -> None:
        token = host_enrol(name="gpu-1", queues=["agents", "grading"], actor=None)
        answer = client.post("/worker/join", headers={"Authorization": f"Bearer {token}"})
        told = answer.json()["environment"]
        assert (told["AGENT2_PLACE"], told["AGENT2_QUEUES"]) == ("gpu-1", "agents,grading")
        assert told["AGENT2_DATABASE_URL"] == "postgresql://db/x"
        assert client.post("/worker/join", headers={"Authorization": f"Bearer {token}"}).status_code == 403
        assert [entry.action for entry in AuditEntry.objects.order_by("id")] == ["host.enrol", "host.join"]

    @pytest.mark.parametrize("shown", ["", "Bearer", "Bearer x", "Basic eDp5"])
    def test_strangers_are_refused(self, client: Client, shown: str) -> None:
        host_enrol(name="gpu-1", queues=["agents"], actor=None)
        assert client.post("/worker/join", headers={"Authorization": shown}).status_code == 403

    def test_a_token_is_good_for_a_day(self, client: Client) -> None:
        token = host_enrol(name="gpu-1", queues=["agents"], actor=None)
        Host.objects.update(enrol_until=timezone.now() - timedelta(seconds=1))
        assert host_join(token=token) is None

    def test_enrolling_again_ends_what_was_before(self) -> None:
        _, old = joined()
        first = host_enrol(name="gpu-1", queues=["agents"], actor=None)
        second = host_enrol(name="gpu-1", queues=["grading"], actor=None)
        assert host_join(token=first) is None
        assert host_join(token=second) is not None
        assert not Host.objects.filter(token_hash=hashlib.sha256(old.encode()).hexdigest()).exists()

    def test_says_what_to_set(self, client: Client, settings: Any) -> None:
        settings.HOSTS_REDIS_URL = ""
        token = host_enrol(name="gpu-1", queues=["agents"], actor=None)
        answer = client.post("/worker/join", headers={"Authorization": f"Bearer {token}"})
        assert (answer.status_code, "AGENT2_HOSTS_REDIS_URL" in answer.json()["detail"]) == (409, True)

    @pytest.mark.parametrize(
        ("name", "queues"), [("a b", ["agents"]), ("ok", ["default"]), ("ok", []), ("", ["agents"])]
    )
    def test_bad_names_and_queues(self, name: str, queues: list[str]) -> None:
        with pytest.raises(ValidationError):
            host_enrol(name=name, queues=queues, actor=None)

    def test_draining_tells_its_workers(self, settings: Any) -> None:
        host, _ = joined()
        settings.PLACE = "gpu-1"
        worker_enter(worker_facts(["agents"]))
        assert host_drain(host=host, draining=True, actor=None) == 1


class TestRecords:
    def test_grow_on_the_server_as_on_the_host(self, client: Client) -> None:
        _, token = joined()
        trace = Trace.objects.create(run=run_row(place="gpu-1"), name="agent.log")
        place = f"{trace.key[:2]}/{trace.key}/transcript"
        assert put(client, place, b"first ", token).status_code == 200
        assert put(client, place, b"lost", token, 6).status_code == 200
        assert put(client, place, b"second", token, 6).status_code == 200
        assert (trace.folder / "transcript").read_bytes() == b"first second"
        answer = put(client, place, b"x", token, 100)
        assert (answer.status_code, answer.json()["size"]) == (409, 12)

    def test_only_its_own_runs(self, client: Client) -> None:
        _, token = joined("gpu-2")
        trace = Trace.objects.create(run=run_row(place="gpu-1"), name="agent.log")
        place = f"{trace.key[:2]}/{trace.key}/transcript"
        for shown in ("", "wrong"):
            assert put(client, place, b"x", shown).status_code == 403
        assert put(client, place, b"x", token).status_code == 404
        assert not trace.folder.exists()

    def test_a_removed_host_is_a_stranger(self, client: Client) -> None:
        host, token = joined()
        host_remove(host=host, actor=None)
        assert put(client, "code/ab/" + "ab" * 32, b"x", token).status_code == 403

    def test_code_by_its_digest(self, client: Client, settings: Any) -> None:
        _, token = joined()
        digest = hashlib.sha256(b"print()").hexdigest()
        place = f"code/{digest[:2]}/{digest}"
        assert put(client, place, b"other", token).status_code == 404
        assert put(client, place, b"print()", token).status_code == 200
        assert put(client, place, b"print()", token).status_code == 200
        assert (settings.TRACES_DIR / place).read_bytes() == b"print()"

    @pytest.mark.parametrize(
        "place",
        [
            "../x",
            "code/../../x",
            "ab/cd/transcript",
            "code/ab/xyz",
            "times/../x",
            "times/nobody",
            "ab/" + "a" * 32 + "/x",
        ],
    )
    def test_nothing_else_is_written(self, client: Client, tmp_path: Path, place: str) -> None:
        _, token = joined()
        assert put(client, place, b"x", token).status_code in (404, 400)
        assert not [path for path in tmp_path.rglob("*") if path.is_file()]

    @pytest.mark.parametrize("offset", ["", "-1", "x", "1.5", "9" * 30, "٣"])
    def test_bad_offsets(self, client: Client, offset: str) -> None:
        _, token = joined()
        assert put(client, "code/ab/" + "ab" * 32, b"x", token, offset).status_code == 400
