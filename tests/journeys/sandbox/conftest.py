"""Real sandboxes. `sandbox` runs a test in each kind that works here; the others are skipped with their reason."""

import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmark.sandbox.bubblewrap import BubblewrapSandbox
from benchmark.sandbox.choose import AnySandbox
from benchmark.sandbox.contract import Exit, Running, Spec
from benchmark.sandbox.docker import DockerSandbox
from benchmark.sandbox.process import ProcessSandbox

TEST_IMAGE = os.environ.get("AGENT2_TEST_IMAGE", "python:3.11-slim-bookworm")
BUBBLEWRAP = pytest.param("bubblewrap", marks=pytest.mark.bubblewrap)
DOCKER = pytest.param("docker", marks=pytest.mark.docker)
PROCESS = pytest.param("process")
ISOLATING = [BUBBLEWRAP, DOCKER]
ALL = [*ISOLATING, PROCESS]


def make(kind: str) -> AnySandbox:
    if kind == "bubblewrap":
        return BubblewrapSandbox()
    if kind == "docker":
        return DockerSandbox(image=TEST_IMAGE, python="python3")
    return ProcessSandbox()


@pytest.fixture
def sandbox(request: pytest.FixtureRequest) -> AnySandbox:
    made = make(request.param)
    if reason := made.unavailable():
        pytest.skip(reason)
    return made


class Bench:
    """Starts commands in one sandbox and makes sure that each is gone after the test."""

    def __init__(self, sandbox: AnySandbox, folder: Path) -> None:
        self.sandbox = sandbox
        self.log_path = folder / "command.log"
        self.started: list[Running] = []

    def spec(self, script: str, **given: Any) -> Spec:
        given.setdefault("name", f"test-{uuid.uuid4().hex[:12]}")
        given.setdefault("log_path", self.log_path)
        return Spec(command=["bash", "-c", script], **given)

    def start(self, script: str, **given: Any) -> Running:
        running = self.sandbox.start(self.spec(script, **given))
        self.started.append(running)
        return running

    def run(self, script: str, *, seconds: float = 240, **given: Any) -> tuple[Exit, str]:
        """The exit and everything that the command wrote."""
        ended = self.start(script, **given).wait(seconds)
        assert ended is not None, f"still running after {seconds} s: {self.output()}"
        return ended, self.output()

    def output(self) -> str:
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""


@pytest.fixture
def bench(sandbox: AnySandbox, tmp_path: Path) -> Iterator[Bench]:
    made = Bench(sandbox, tmp_path)
    yield made
    for running in made.started:
        running.stop(0)


def mark_of_sleep() -> str:
    """Seconds of a sleep that nobody else sleeps, many times longer than anything here is waited for."""
    return f"1{uuid.uuid4().int % 10**3:03}.{uuid.uuid4().int % 10**9:09}"
