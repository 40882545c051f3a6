"""A host with a disk of its own joins with one command; its run is watched and read on the web server all the same."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.platform import ROOT, Platform, services

pytestmark = [pytest.mark.bubblewrap, pytest.mark.services]


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    with services() as environment:
        elsewhere = {
            "AGENT2_HOSTS_DATABASE_URL": environment["AGENT2_DATABASE_URL"],
            "AGENT2_HOSTS_REDIS_URL": environment["AGENT2_REDIS_URL"],
        }
        made = Platform(tmp_path / "web", environment | elsewhere)
        made.manage("migrate", "-v0")
        made.start_server()
        made.worker = made._spawn("worker", "manage.py", "worker", "--queues", "default")
        try:
            yield made
        finally:
            made.stop()


def test_a_run_on_another_hosts_disk(platform: Platform, base: Path, tmp_path: Path) -> None:
    told = platform.manage("host", "enrol", "gpu-1")
    url, token = next(line for line in told.splitlines() if "benchmark.join" in line).split()[3:5]
    data = tmp_path / "host"
    for name in ("AGENT2_DATABASE_URL", "AGENT2_REDIS_URL", "AGENT2_PUBLIC_URL"):
        assert name not in os.environ
    own = {name: value for name, value in platform.environment.items() if not name.startswith("AGENT2_")}
    own |= {"AGENT2_SANDBOX": "bubblewrap", "AGENT2_AGENT_DIRS": platform.environment["AGENT2_AGENT_DIRS"]}
    own |= {name: platform.environment[name] for name in ("AGENT2_GRADING_RUNNER", "AGENT2_HEARTBEAT_S")}
    data.mkdir()
    with (data / "host.log").open("wb") as log:
        host = subprocess.Popen(
            [sys.executable, "-m", "benchmark.join", url, token, "--data", str(data), "--start"],
            cwd=ROOT, env=own, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        slug = platform.run(base, "submit:2")
        run = platform.ended(slug)
        assert (run["state"], run["submission_count"]) == ("finished", 2), (data / "host.log").read_text()[-3000:]
        assert (data / "runs" / slug / "agent.log").exists()
        assert not (platform.data / "runs").exists()
        assert (data / "worker.env").stat().st_mode & 0o077 == 0
        platform.until(lambda: b"submitted" in _transcript_of(data), 120, "the transcript is written")
        platform.until(
            lambda: _transcript_of(platform.data) == _transcript_of(data), 120, "the transcript has travelled"
        )
        platform.until(lambda: _code_of(platform.data) == _code_of(data), 120, "the code has travelled")
        page = f"{platform.url}/runs/{slug}/trace/"
        platform.until(lambda: "submitted" in platform.http.get(page).text, 120, "the page has what the agent said")
        assert "gpu-1: joined" in platform.manage("host", "list")
        assert "1 workers of gpu-1 were told" in platform.manage("host", "drain", "gpu-1")
    finally:
        os.killpg(host.pid, signal.SIGTERM)
        host.wait(120)


def _code_of(data: Path) -> list[str]:
    return sorted(path.name for path in (data / "traces" / "code").rglob("*") if path.is_file())


def _transcript_of(data: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted((data / "traces").glob("??/*/transcript")))
