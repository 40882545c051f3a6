"""Killing one component of the platform while a run is in one state, and looking at what is left afterwards.

`python -m tests.support.killing [--sandbox docker] [component ...]` does all of it and prints the table.
"""

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import psycopg

from tests.support.checkpoint import small_checkpoint
from tests.support.docker_image import host_python_image
from tests.support.own_services import OwnServices, own_services
from tests.support.platform import Platform

COMPONENTS = ("web", "worker", "redis", "postgres", "agent")
STATES = ("queued", "preparing", "running", "grading", "finishing")
DRIVERS = {"grading": "submit:1", "finishing": "leave:2"}
"""What the agent does so that its run stays in that state for a while; otherwise it works."""
ENDS = ("finished", "failed", "cancelled", "timed_out")
WORK_S = 6


@dataclass
class Row:
    """One kill and what came of it."""

    sandbox: str
    component: str
    state: str
    outcome: str = ""
    fault: str = ""
    seconds: float = 0.0
    graded: int = 0
    wrong: list[str] = field(default_factory=list)

    def line(self) -> str:
        told = f"{self.outcome} {self.fault}".strip()
        wrong = "; ".join(self.wrong) or "nothing"
        cells = (self.sandbox, self.component, self.state, told, self.graded, f"{self.seconds:.1f}", wrong)
        return "| " + " | ".join(map(str, cells)) + " |"


HEAD = "| sandbox | killed | while the run was | ended as | graded | seconds | left or wrong |\n" + "|---" * 7 + "|"


@dataclass
class Scene:
    """A platform on services of its own."""

    platform: Platform
    services: OwnServices
    base: Path
    sandbox: str

    def query(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        with psycopg.connect(self.services.environment["AGENT2_DATABASE_URL"], connect_timeout=5) as connection:
            return connection.execute(sql, values).fetchall()

    def until(self, true: Callable[[], bool], seconds: float, what: str) -> None:
        self.platform.until(true, seconds, what)

    def state(self, slug: str) -> str:
        (state,) = self.query("SELECT state FROM benchmark_run WHERE slug = %s", slug)[0]
        return str(state)

    def is_in(self, slug: str, state: str) -> bool:
        if state != "grading":
            return self.state(slug) == state
        sql = (
            "SELECT 1 FROM grading_submission s JOIN benchmark_run r ON r.id = s.run_id "
            "WHERE r.slug = %s AND s.state = 'grading'"
        )
        return bool(self.query(sql, slug))


@contextmanager
def scene(folder: Path, sandbox: str) -> Iterator[Scene]:
    """Skips where what it needs is not here."""
    with own_services(folder / "services") as services:
        extra = services.environment | {
            "AGENT2_GRADING_RUNNER": "tests.support.slow_runner.SlowRunner",
            "AGENT2_TEST_GRADING_S": "6",
            "AGENT2_HEARTBEAT_S": "1",
            "AGENT2_ADOPT_S": "120",
        }
        extra |= host_python_image() if sandbox == "docker" else {"AGENT2_SANDBOX": "bubblewrap"}
        platform = Platform(folder / "data", extra)
        (folder / "data").mkdir(parents=True)
        for parent in (folder / "data", folder):
            parent.chmod(0o755)
        platform.start()
        try:
            yield Scene(platform, services, small_checkpoint(folder / "base"), sandbox)
        finally:
            platform.stop()


def kill_once(at: Scene, component: str, state: str) -> Row:
    """Start a run, kill when it is in that state, bring the component back, and wait for the run's end."""
    row = Row(at.sandbox, component, state)
    if state == "queued":
        at.platform.kill("worker")
    base = _another(at.base) if state == "preparing" else at.base
    slug = at.platform.run(base, DRIVERS.get(state, f"work:{WORK_S}"), budget=120)
    at.until(lambda: at.is_in(slug, state), 60, f"{slug} is {state}")
    if state == "running":
        log = at.platform.data / "runs" / slug / "agent.log"
        at.until(lambda: log.exists() and "working 1" in log.read_text(), 60, "the agent works")
    _kill(at, component, slug)
    if state == "queued" and component != "worker":
        at.platform.start_worker()
    began = time.monotonic()
    at.until(lambda: at.state(slug) in ENDS, 120, f"{slug} ends after {component} was killed while {state}")
    row.seconds = time.monotonic() - began
    _look(at, slug, row)
    return row


def _another(base: Path) -> Path:
    """A base model whose own score nobody knows yet: the same with a few weights changed."""
    folder = base.with_name(f"base-{time.time_ns()}")
    shutil.copytree(base, folder)
    weights = folder / "model.safetensors"
    raw = bytearray(weights.read_bytes())
    start = 8 + int.from_bytes(raw[:8], "little")
    raw[start : start + 2] = os.urandom(2)
    weights.write_bytes(bytes(raw))
    return folder


def _kill(at: Scene, component: str, slug: str) -> None:
    platform, services = at.platform, at.services
    if component == "web":
        platform.kill("server")
        time.sleep(1)
        platform.start_server()
    elif component == "worker":
        platform.kill("worker")
        time.sleep(0.5)
        platform.start_worker()
    elif component == "agent":
        for process in _of_run(at, slug):
            process.kill()
    else:
        service = services.postgres if component == "postgres" else services.redis
        service.kill()
        time.sleep(2)
        service.start()
        services.wait()


def _of_run(at: Scene, slug: str) -> list[psutil.Process]:
    """Processes of the run's sandbox on this host, bubblewrap's own included."""
    (number,) = at.query("SELECT id FROM benchmark_run WHERE slug = %s", slug)[0]
    names = (f"-run-{number}", "scripted")
    found = []
    for process in psutil.process_iter(["cmdline", "name"]):
        words = process.info["cmdline"] or []
        if any(word.endswith(names[0]) for word in words) or any(word.endswith("/agent/agent.py") for word in words):
            found.append(process)
    return found


def _look(at: Scene, slug: str, row: Row) -> None:
    """What is in the rows, and what is left on this machine."""
    sql = "SELECT state, fault_code, id, event_seq FROM benchmark_run WHERE slug = %s"
    row.outcome, row.fault, number, events = at.query(sql, slug)[0]  # type: ignore[assignment]
    states = [str(state) for (state,) in at.query("SELECT state FROM grading_submission WHERE run_id = %s", number)]
    row.graded = states.count("graded")
    if any(state not in ("graded", "rejected", "errored") for state in states):
        row.wrong.append(f"submissions {states}")
    if row.outcome == "failed" and row.fault in ("", "internal_fault"):
        row.wrong.append(f"an untyped fault {row.fault}")
    numbers = [seq for (seq,) in at.query("SELECT seq FROM benchmark_runevent WHERE run_id = %s ORDER BY seq", number)]
    (told,) = (at.query("SELECT tail FROM benchmark_agentlog WHERE run_id = %s", number) or [("",)])[0]
    if str(told).count("working 1\n") > 1:
        row.wrong.append("the log's tail is there twice")
    if numbers != list(range(1, int(str(events)) + 1)):
        row.wrong.append("event numbers have a gap")

    def left() -> list[str]:
        found = [f"process {process.pid}" for process in _of_run(at, slug)]
        running = at.query("SELECT id FROM grading_evaluation WHERE state IN ('running', 'queued')")
        found += [f"evaluation {pk}" for (pk,) in running]
        found += [f"socket {path.name}" for path in (at.platform.data / "runs" / slug).rglob("*.sock")]
        return found + _containers(at, int(str(number)))

    deadline = time.monotonic() + 45
    while left() and time.monotonic() < deadline:
        time.sleep(0.5)
    row.wrong += left()


def _containers(at: Scene, number: int) -> list[str]:
    if at.sandbox != "docker":
        return []
    from docker import from_env

    found = from_env().containers.list(all=True, filters={"label": "agent2.sandbox"})
    return [f"container {each.name}" for each in found if str(each.name).endswith(f"-run-{number}")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sandbox", default="bubblewrap", choices=["bubblewrap", "docker"])
    parser.add_argument("--states", default=",".join(STATES))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("components", nargs="*", default=list(COMPONENTS))
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(HEAD, flush=True)
    bad = 0
    with tempfile.TemporaryDirectory(prefix="agent2-kill-") as folder, scene(Path(folder), given.sandbox) as at:
        for _ in range(given.rounds):
            for component in given.components:
                for state in given.states.split(","):
                    if component == "agent" and state not in ("running", "grading"):
                        continue
                    try:
                        row = kill_once(at, component, state)
                    except AssertionError as error:
                        row = Row(given.sandbox, component, state, wrong=[json.dumps(str(error)[:300])])
                    bad += bool(row.wrong)
                    print(row.line(), flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
