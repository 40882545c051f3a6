"""docker-compose.yml as an operator runs it: one run through the proxy over restarts, then backed up and restored."""

import asyncio
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException
from websockets.typing import Origin

from tests.support.checkpoint import small_checkpoint
from tests.support.compose import BY_HAND, ENDS, SITE, Stack, docker, stand_ins, without_token
from tests.support.platform import AGENTS

pytestmark = [*BY_HAND, pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(3000)]
PATIENCE_S = 65
"""Longer than the minute after which most proxies give up on an answer."""


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    made = Stack(Path(tempfile.mkdtemp(prefix="agent2-compose-", dir="/var/tmp")), "agent2-test", stand_ins())
    made.write()
    try:
        made.build()
        made.up()
        yield made
    finally:
        made.down()
    assert made.left() == []


@pytest.fixture(scope="module")
def base(stack: Stack) -> Path:
    return small_checkpoint(stack.data / "small")


class Watcher(threading.Thread):
    """Follows a run over a websocket through the proxy, coming back with the last number whenever it breaks off."""

    def __init__(self, stack: Stack, slug: str) -> None:
        super().__init__(daemon=True)
        self.stack, self.slug = stack, slug
        self.seqs: list[int] = []
        self.states: list[str] = []
        self.connections = 0
        self.over = threading.Event()

    def run(self) -> None:
        asyncio.run(self._follow())

    async def _follow(self) -> None:
        trusted = ssl.create_default_context(cafile=str(self.stack.root))
        where = f"wss://{self.stack.host}/ws/runs/{self.slug}/"
        while not self.over.is_set():
            with suppress(OSError, WebSocketException, TimeoutError):
                async with connect(
                    where,
                    ssl=trusted,
                    host="127.0.0.1",
                    port=self.stack.https_port,
                    origin=Origin(f"https://{self.stack.host}"),
                ) as channel:
                    self.connections += 1
                    await channel.send(json.dumps({"after": self.seqs[-1] if self.seqs else 0}))
                    while not self.over.is_set():
                        self._take(json.loads(await asyncio.wait_for(channel.recv(), 10)))
            await asyncio.sleep(0.5)

    def _take(self, told: dict[str, Any]) -> None:
        for event in told.get("events", ()):
            self.seqs.append(event["seq"])
            if event["kind"] == "run.state":
                self.states.append(event["data"]["state"])


class TestTheProxy:
    def test_plain_http_is_sent_to_https(self, stack: Stack) -> None:
        answer = stack.client.get(f"http://127.0.0.1:{stack.http_port}/queue/", headers={"Host": SITE})
        assert (answer.status_code, answer.headers["Location"]) == (308, f"https://{SITE}/queue/")

    def test_browsers_are_told_to_stay_with_https(self, stack: Stack) -> None:
        answer = stack.get("/login/")
        assert answer.status_code == 200
        assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
        cookies = answer.headers.get_list("Set-Cookie")
        assert cookies
        assert all("; Secure" in cookie for cookie in cookies)

    def test_nobody_outside_says_where_a_request_came_from(self, stack: Stack) -> None:
        answer = stack.get("/login/", **{"X-Forwarded-Proto": "http", "X-Forwarded-For": "203.0.113.9"})
        assert "Strict-Transport-Security" in answer.headers

    def test_what_is_the_operators_alone_does_not_pass(self, stack: Stack) -> None:
        assert (stack.get("/metrics").status_code, stack.get("/healthz").status_code) == (404, 200)

    def test_another_name_is_not_served(self, stack: Stack) -> None:
        trusted = ssl.create_default_context(cafile=str(stack.root))
        with (
            socket.create_connection(("127.0.0.1", stack.https_port), timeout=10) as plain,
            pytest.raises(ssl.SSLError, match=r"(?i)alert"),
        ):
            trusted.wrap_socket(plain, server_hostname="other.test")


def test_everything_is_healthy_and_nobody_is_root(stack: Stack) -> None:
    told = stack.compose("ps", "--format", "{{.Service}}={{.State}} {{.Health}}").split("\n")
    assert sorted(line.split("=")[0] for line in told if "running" in line) == sorted(
        ["beat", "postgres", "proxy", "redis", "web", "worker-agents", "worker-default", "worker-grading"]
    )
    assert not [line for line in told if "unhealthy" in line or "starting" in line]
    for service in ("web", "beat", "worker-agents"):
        assert stack.compose("exec", "-T", service, "id", "-u").strip() == "1000"
        with pytest.raises(AssertionError, match="Read-only file system"):
            stack.compose("exec", "-T", service, "touch", "/opt/agent2/x")


def test_a_run_through_the_proxy_over_restarts(stack: Stack, base: Path) -> None:
    told = stack.manage(
        *("run", "--agent", "scripted", "--task", "arithmetic", "--base-model", str(base), "--driver", "work:30"),
        *("--budget", "40m", "--detach"),
    )
    slug = told.strip().rstrip("/").rsplit("/", 1)[1]
    assert f"https://{stack.host}/runs/{slug}" in told
    watcher = Watcher(stack, slug)
    watcher.start()
    log = stack.data / "runs" / slug / "agent.log"
    stack.until(lambda: log.exists() and "working 1\n" in log.read_text(), 900, "the first score came back")
    first = stack.json(f"/api/v1/runs/{slug}/submissions/")["results"][0]
    assert first["state"] == "graded"

    # The agent's container goes on without its worker, and its submission waits without the server.
    stack.compose("kill", "-s", "SIGKILL", "worker-agents")
    stack.compose("stop", "worker-grading")
    stack.compose("restart", "web")
    stack.compose("up", "-d", "--wait", "worker-agents")
    stack.until(lambda: "working 29\n" in log.read_text(), 300, "the next worker follows the agent's container")
    stack.until(lambda: len(_submissions(stack, slug)) == 2, 300, "the second submission has arrived")
    offered = time.monotonic()
    photograph(stack, slug)
    time.sleep(max(0.0, offered + PATIENCE_S - time.monotonic()))
    assert stack.json(f"/api/v1/runs/{slug}/")["state"] == "running"
    stack.compose("start", "worker-grading")
    stack.until(lambda: stack.json(f"/api/v1/runs/{slug}/")["state"] in ENDS, 600, "the run ends")

    run = stack.json(f"/api/v1/runs/{slug}/")
    assert (run["state"], run["submission_count"]) == ("finished", 2)
    assert [row["state"] for row in _submissions(stack, slug)] == ["graded", "graded"]
    assert all(0 <= row["score"] <= 100 for row in _submissions(stack, slug))
    last = stack.json(f"/api/v1/runs/{slug}/")["event_seq"] if "event_seq" in run else None
    stack.until(lambda: bool(watcher.states) and watcher.states[-1] in ENDS, 60, "the watcher saw the end")
    watcher.over.set()
    watcher.join(30)
    assert watcher.seqs == list(range(1, len(watcher.seqs) + 1))
    assert last is None or watcher.seqs[-1] == last
    assert watcher.connections >= 2
    waited = [row for row in access_log(stack) if row["request"]["uri"].endswith("/submit")]
    assert {row["status"] for row in waited} <= {200, 502, 503}
    assert max(row["duration"] for row in waited if row["status"] == 200) > PATIENCE_S
    assert not [row for row in access_log(stack) if re.search(r"/grading/[^*/]", row["request"]["uri"])]
    samples = stack.manage("shell", "-v0", "-c", SAMPLES.format(slug=slug))
    assert json.loads(samples.split("SAMPLES", 1)[1])["seen"]
    page = stack.get(f"/runs/{slug}/artifacts/").text
    found = re.search(r'href="(/runs/[^"]+/whole\.log)"', page)
    assert found
    stored = stack.get(found[1]).text
    assert stored == without_token(stored) == without_token(log.read_text())


SAMPLES = """
import json
from traces.models import ResourceSample
rows = ResourceSample.objects.filter(run__slug="{slug}", memory_bytes__gt=1 << 20, processes__gte=1, cpus__gte=0)
print("SAMPLES" + json.dumps({{"seen": rows.count()}}))
"""


def _submissions(stack: Stack, slug: str) -> list[dict[str, Any]]:
    return list(stack.json(f"/api/v1/runs/{slug}/submissions/")["results"])


def access_log(stack: Stack) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stack.compose("exec", "-T", "proxy", "cat", "/data/access.log").splitlines()]


def photograph(stack: Stack, slug: str) -> None:
    """The live page in Chromium through the proxy, where Chromium is installed and a folder is named."""
    folder = os.environ.get("AGENT2_TEST_PICTURES", "")
    if not folder or shutil.which("chromium") is None:
        return
    Path(folder).mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [
            *(
                "chromium",
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--window-size=1440,1400",
            ),
            *(f"--host-resolver-rules=MAP {SITE} 127.0.0.1", "--ignore-certificate-errors", "--timeout=8000"),
            *(f"--screenshot={folder}/compose-live.png", f"https://{stack.host}/runs/{slug}/"),
        ],
        capture_output=True,
        timeout=120,
        check=True,
    )


def test_a_backup_is_restored_on_another_machine(stack: Stack, tmp_path: Path) -> None:
    """Another project with another data folder on the same engine, which knows neither."""
    kept = stack.script("backup.sh", str(tmp_path / "backups"))
    slug = stack.json("/api/v1/runs/")["results"][0]["slug"]
    page = stack.json(f"/api/v1/runs/{slug}/")
    points = [(row["number"], row["score"]) for row in _submissions(stack, slug)]
    trace = re.search(r"/trace/([0-9a-f]{32})/whole\.jsonl", stack.get(f"/runs/{slug}/artifacts/").text)
    assert trace
    whole = stack.get(f"/runs/{slug}/trace/{trace[1]}/whole.jsonl").content
    stack.compose("stop")
    other = Stack(
        Path(tempfile.mkdtemp(prefix="agent2-compose-", dir="/var/tmp")), "agent2-test-2", stack.sandbox,
        words={**stack.words, "db": "another-password-0123456789", "redis": "another-word-0123456789"},
    )  # fmt: skip
    other.write()
    # A new machine has nothing but the operator's own files.
    shutil.rmtree(other.data)
    shutil.copytree(AGENTS, other.data / "agents")
    try:
        other.script("restore.sh", kept)
        other.trust()
        other.until(lambda: other.get("/healthz").status_code == 200, 300, "the restored site answers")
        theirs = other.json(f"/api/v1/runs/{slug}/")
        assert {name: theirs[name] for name in ("state", "score", "submission_count") if name in theirs} == {
            name: page[name] for name in ("state", "score", "submission_count") if name in page
        }
        assert [(row["number"], row["score"]) for row in _submissions(other, slug)] == points
        assert other.get(f"/runs/{slug}/trace/{trace[1]}/whole.jsonl").content == whole
        other.until(lambda: "healthy" in other.health("worker-default"), 300, "its workers work")
        assert (other.data / "runs" / slug / "agent.log").read_bytes()
        assert not (other.data / "runs" / slug / "workspace").exists()
    finally:
        other.down()
    assert other.left() == []


def test_no_sandbox_is_left(stack: Stack) -> None:
    mine = [
        name
        for name in docker("ps", "-a", "--format", "{{.Names}} {{.Mounts}}").splitlines()
        if str(stack.data) in name
    ]
    assert [name for name in mine if name.startswith("agent2-") and "-run-" in name.split()[0]] == []
