"""A worker's health check: both its duties and its taking of messages, told apart."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmark.alive import DUTIES, MESSAGES
from tests.support.own_services import Service, killable_redis
from tests.support.platform import ROOT, Platform
from tests.support.waiting import until

pytestmark = pytest.mark.services
LONG_S = 180.0


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[tuple[Service, str]]:
    """To be killed, and its URL."""
    with killable_redis(tmp_path) as found:
        yield found


def test_a_worker_without_its_broker_lives_and_takes_no_messages(redis: tuple[Service, str], tmp_path: Path) -> None:
    service, url = redis
    beats = tmp_path / "beats"
    beats.mkdir()
    platform = Platform(tmp_path / "data", {"AGENT2_REDIS_URL": url, "TMPDIR": str(beats)})
    platform.manage("migrate", "-v0")
    asked = [sys.executable, "-m", "benchmark.alive"]

    def health() -> "subprocess.CompletedProcess[str]":
        return subprocess.run(asked, cwd=ROOT, env=platform.environment, capture_output=True, text=True, check=False)

    def beat(name: Path) -> float:
        return (beats / name.name).stat().st_mtime

    def goes_on(name: Path) -> None:
        before = beat(name)
        until(lambda: beat(name) > before, f"{name.name} goes on", LONG_S)

    assert health().returncode == 1
    assert "never yet" in health().stdout
    platform.worker = platform._spawn("worker", "manage.py", "worker", "--queues", "default")
    try:
        until(lambda: health().returncode == 0, "the worker is healthy", LONG_S)
        goes_on(MESSAGES)
        service.kill()
        for _ in range(3):
            goes_on(DUTIES)
        silent = beat(MESSAGES)
        for _ in range(3):
            goes_on(DUTIES)
        assert beat(MESSAGES) == silent
        # As long ago as nobody wants to wait here.
        os.utime(beats / MESSAGES.name, (time.time() - 100, time.time() - 100))
        told = health()
        assert (told.returncode, "messages: 1" in told.stdout) == (1, True), told.stdout
        service.start()
        until(lambda: health().returncode == 0, "the worker is healthy again", LONG_S)
        goes_on(MESSAGES)
    finally:
        platform.stop()
