"""Killing one component of the platform while a run is in one state, and looking at what is left afterwards.

`python -m tests.support.killing [--sandbox docker] [component ...]` does all of it and prints the table. What it kills
is its own: servers on ports and in folders of its own, and sandboxes by their whole names.
"""

import argparse
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.support.pools import ENDS, PACE, Scene, scene
from tests.support.remains import remains

COMPONENTS = (
    *("web", "beat", "worker-default", "worker-agents", "worker-grading"),
    *("redis", "postgres", "runner", "agent"),
)
"""The gateway is a thread of worker-agents: it dies with that, and never alone."""
STATES = ("queued", "preparing", "running", "grading", "finishing")
ONLY_IN: Mapping[str, tuple[str, ...]] = {
    "agent": ("running", "grading"),
    "runner": ("preparing", "grading", "finishing"),
}
"""States in which a component is there at all, where it is not in every one."""
DRIVERS = {"grading": "submit:1", "finishing": "leave:2"}
"""What the agent does so that its run stays in that state for a while; otherwise it works."""
WORK_S = 6
SLOW_S = 20.0
"""What is left for longer after a run's end is told."""
SETTINGS = {"AGENT2_TEST_GRADING_S": "4", "AGENT2_HEARTBEAT_S": "3"}
CASES = [(what, state) for what in COMPONENTS for state in STATES if state in ONLY_IN.get(what, STATES)]


@dataclass
class Row:
    """One kill and what came of it."""

    sandbox: str
    component: str
    state: str
    outcome: str = ""
    fault: str = ""
    ended_s: float = 0.0
    """From the kill until the run had ended."""
    seconds: float = 0.0
    """From the kill until the run had ended and nothing of it was left."""
    answers: list[int] = field(default_factory=list)
    """HTTP statuses that the agent got for its submissions."""
    states: list[str] = field(default_factory=list)
    """Of the submissions, in order."""
    wrong: list[str] = field(default_factory=list)
    last: list[str] = field(default_factory=list)
    """What was left last before nothing was."""

    def line(self) -> str:
        told = f"{self.outcome} {self.fault}".strip()
        wrong = "; ".join(self.wrong) or "nothing"
        answers, states = " ".join(map(str, self.answers)) or "-", " ".join(self.states) or "-"
        took = f"{self.ended_s:.1f}", f"{self.seconds:.1f}"
        cells = (self.sandbox, self.component, self.state, told, answers, states, *took, wrong)
        return "| " + " | ".join(map(str, cells)) + " |"


HEAD = (
    "| sandbox | killed | while the run was | ended as | the agent was answered | submissions | seconds until its end "
    "| until nothing was left | left or wrong |\n" + "|---" * 9 + "|"
)


def is_in(at: Scene, slug: str, state: str) -> bool:
    if state == "running":
        log = at.platform.data / "runs" / slug / "agent.log"
        return log.exists() and "working 1" in log.read_text()
    if state != "grading":
        return at.state(slug) == state
    sql = (
        "SELECT 1 FROM grading_submission s JOIN benchmark_run r ON r.id = s.run_id "
        "WHERE r.slug = %s AND s.state = 'grading'"
    )
    return bool(at.query(sql, slug))


def kill_once(at: Scene, component: str, state: str) -> Row:
    """Start a run, kill when it is in that state, bring the component back, and wait for the run's end."""
    row = Row(at.sandbox, component, state)
    if state == "queued":
        at.platform.kill_pool("worker-agents")
    base = _another(at.base) if state == "preparing" else at.base
    pace = at.platform.data / PACE
    pace.unlink(missing_ok=True)
    if component == "runner":
        if state != "preparing" and not at.query("SELECT 1 FROM benchmark_run LIMIT 1"):
            first, _ = _queued(at, at.base, "work:1")
            at.platform.until(lambda: at.state(first) in ENDS, 180, "the base model's own score is known")
        # However long it takes here to find it.
        pace.write_text("200")
    slug, number = _queued(at, base, DRIVERS.get(state, f"work:{WORK_S}"))
    at.platform.until(lambda: is_in(at, slug, state), 180, f"{slug} is {state}")
    if component == "runner":
        at.platform.until(lambda: bool(_runner(at)), 180, "the grading runner is there")
    volumes = at.volumes_used()
    began = time.monotonic()
    pace.unlink(missing_ok=True)
    _kill(at, component, number)
    if state == "queued" and component != "worker-agents":
        at.platform.start_pool("worker-agents")
    at.platform.until(lambda: at.state(slug) in ENDS, 400, f"{slug} ends after {component} was killed while {state}")
    row.ended_s = time.monotonic() - began
    _look(at, slug, number, row)
    row.wrong += unexpected(row)
    _wait_for_nothing(at, volumes, row)
    row.seconds = time.monotonic() - began
    return row


def unexpected(row: Row) -> list[str]:
    """What a run must not come to by this death."""
    told = (row.outcome, row.fault)
    if row.component == "agent":
        # It has submitted something by then, and that counts.
        return [] if row.outcome == "finished" and row.states == ["graded"] else ["what it submitted is not all there"]
    if row.component == "worker-agents" and row.state in ("running", "grading") and row.sandbox == "bubblewrap":
        # Its worker's death ends a bubblewrap sandbox, so there is nothing to go on with.
        return [] if told == ("failed", "worker_lost") else ["the worker's death is not told as such"]
    submissions = 1 if row.state == "grading" else 2
    wrong = [] if row.outcome == "finished" else ["the run did not finish"]
    wrong += [] if row.states == ["graded"] * submissions else ["not every submission was graded"]
    answered = row.state == "finishing" or row.answers == [200] * submissions
    return wrong + ([] if answered else ["the agent was not answered"])


def _queued(at: Scene, base: Path, driver: str) -> tuple[str, int]:
    """A new run as soon as it is stored: on a busy machine its command ends after short states of it have passed."""
    newest = "SELECT slug, id FROM benchmark_run ORDER BY id DESC LIMIT 1"
    before, commands = at.query(newest), ThreadPoolExecutor(1)
    command = commands.submit(at.platform.run, base, driver, budget=900)
    commands.shutdown(wait=False)
    at.platform.until(lambda: at.query(newest) != before or command.done(), 180, "the run is stored")
    ((slug, number),) = at.query(newest)
    assert [(slug, number)] != before, command.exception()
    return str(slug), int(str(number))


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


def _runner(at: Scene) -> list[psutil.Process]:
    names = [name for name in at.sandboxes() if name.startswith(f"{at.prefix}evaluation-")]
    return [process for name in names for process in at.inside(name)]


def _kill(at: Scene, component: str, number: int) -> None:
    if component in ("agent", "runner"):
        for process in _runner(at) if component == "runner" else at.inside(f"{at.prefix}run-{number}"):
            with suppress(psutil.NoSuchProcess):
                process.kill()
    elif component in ("redis", "postgres"):
        at.service(component).kill()
        time.sleep(2)
        at.service(component).start()
        at.services.wait()
    else:
        at.platform.kill_pool(component)
        time.sleep(1)
        at.platform.start_pool(component)


def _look(at: Scene, slug: str, number: int, row: Row) -> None:
    """What is in the rows, and what the agent saw."""
    outcome, fault, events = at.query("SELECT state, fault_code, event_seq FROM benchmark_run WHERE id = %s", number)[0]
    row.outcome, row.fault = str(outcome), str(fault)
    rows = at.query("SELECT state FROM grading_submission WHERE run_id = %s ORDER BY number", number)
    row.states = [str(state) for (state,) in rows]
    if any(state not in ("graded", "rejected", "errored") for state in row.states):
        row.wrong.append("a submission has not ended")
    log = at.platform.data / "runs" / slug / "agent.log"
    text = log.read_text() if log.exists() else ""
    row.answers = [int(each) for each in re.findall(r"^submitted \S+ (\d+) ", text, re.M)]
    if "Traceback" in text:
        row.wrong.append("the agent met an error: " + text.strip().splitlines()[-1][:120])
    if row.outcome == "failed" and row.fault in ("", "internal_fault"):
        row.wrong.append(f"an untyped fault {row.fault}")
    numbers = [seq for (seq,) in at.query("SELECT seq FROM benchmark_runevent WHERE run_id = %s ORDER BY seq", number)]
    if numbers != list(range(1, int(str(events)) + 1)):
        row.wrong.append("event numbers have a gap")
    (told,) = (at.query("SELECT tail FROM benchmark_agentlog WHERE run_id = %s", number) or [("",)])[0]
    if str(told).count("working 1\n") > 1:
        row.wrong.append("the log's tail is there twice")


def _wait_for_nothing(at: Scene, volumes: frozenset[str], row: Row) -> None:
    """Until nothing is left of the run (tests/support/remains.py); what stays is wrong."""
    began = time.monotonic()
    while (left := list(remains(at, volumes))) and time.monotonic() < began + 180:
        row.last = left
        time.sleep(0.5)
    row.wrong += left
    if time.monotonic() - began > SLOW_S:
        print(f"{row.line()} last of all: {'; '.join(row.last)}", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sandbox", default="bubblewrap", choices=["bubblewrap", "docker"])
    parser.add_argument("--states", default=",".join(STATES))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--logs", type=Path, help="a folder to which the platform's logs go when something was wrong")
    parser.add_argument("components", nargs="*", default=list(COMPONENTS))
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(HEAD, flush=True)
    bad = 0
    cases = [case for case in CASES if case[0] in given.components and case[1] in given.states.split(",")]
    with tempfile.TemporaryDirectory(prefix="agent2-kill-") as made, scene(Path(made), given.sandbox, **SETTINGS) as at:
        for component, state in cases * given.rounds:
            try:
                row = kill_once(at, component, state)
            except AssertionError as error:
                row = Row(given.sandbox, component, state, wrong=[json.dumps(str(error)[:300])])
                print(error, file=sys.stderr, flush=True)
            if row.wrong and given.logs:
                kept = given.logs / f"{given.sandbox}-{component}-{state}-{time.time_ns()}"
                shutil.copytree(at.platform.data, kept, ignore=shutil.ignore_patterns("workspace", "*.sock", "static"))
            bad += bool(row.wrong)
            print(row.line(), flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
