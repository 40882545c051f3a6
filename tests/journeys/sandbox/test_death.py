"""Nothing survives its supervisor, nothing is left behind, and limits hold without control groups."""

import os
import signal
import subprocess
import sys
import threading
import uuid
from pathlib import Path

import psutil
import pytest

from benchmark.sandbox.bubblewrap import BubblewrapSandbox
from benchmark.sandbox.cgroup_find import find_controllers
from benchmark.sandbox.contract import Exit, Limits, SandboxFault, Spec
from tests.support.waiting import until

from .conftest import ALL, BUBBLEWRAP, DOCKER, PROCESS, Bench, make, mark_of_sleep
from .test_contract import holders

ROOT = Path(__file__).resolve().parents[3]
SUPERVISOR = """
import sys
from tests.journeys.sandbox.conftest import make
from benchmark.sandbox.contract import Spec
kind, mark = sys.argv[1:]
script = f"trap '' TERM HUP; (setsid bash -c 'sleep {mark} & sleep {mark}' &); echo x; sleep {mark}"
running = make(kind).start(Spec(name="agent2-test-orphan", command=["bash", "-c", script]))
print("started", flush=True)
running.wait(600)
"""


@pytest.mark.parametrize("sandbox", [BUBBLEWRAP, PROCESS], indirect=True)
def test_a_killed_supervisor_takes_everything_with_it(bench: Bench) -> None:
    mark = mark_of_sleep()
    command = [sys.executable, "-c", SUPERVISOR, bench.sandbox.kind, mark]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as supervisor:
        assert supervisor.stdout is not None
        assert supervisor.stdout.readline() == "started\n"
        until(lambda: len(holders(f"sleep {mark}")) >= 3)
        supervisor.send_signal(signal.SIGKILL)
    until(lambda: holders(f"sleep {mark}") == [])
    if bench.sandbox.kind == "process" or find_controllers():
        assert "agent2-test-orphan" in bench.sandbox.names()
    bench.sandbox.reap("agent2-test-orphan")
    assert "agent2-test-orphan" not in bench.sandbox.names()


@pytest.mark.parametrize("sandbox", [DOCKER], indirect=True)
def test_what_a_killed_supervisor_left_makes_room_for_the_next_of_that_name(bench: Bench) -> None:
    name, mark = f"test-{uuid.uuid4().hex[:12]}", mark_of_sleep()
    command = [sys.executable, "-c", SUPERVISOR.replace("agent2-test-orphan", name), bench.sandbox.kind, mark]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as supervisor:
        assert supervisor.stdout is not None
        assert supervisor.stdout.readline() == "started\n"
        supervisor.send_signal(signal.SIGKILL)
    try:
        assert bench.run("echo again", name=name) == (Exit(0), "again\n")
    finally:
        bench.sandbox.reap(name)
    until(lambda: holders(f"sleep {mark}") == [])
    assert name not in bench.sandbox.names()


@pytest.mark.parametrize("sandbox", ALL, indirect=True)
def test_many_at_once_leave_nothing_behind(bench: Bench) -> None:
    count = 20 if bench.sandbox.kind != "docker" else 8
    children = len(psutil.Process().children(recursive=True))
    descriptors = len(os.listdir("/proc/self/fd"))
    ended: list[Exit | None] = []

    def one(number: int) -> None:
        spec = Spec(name=f"test-many-{number}", command=["bash", "-c", f"sleep 0.{number % 5}; exit {number}"])
        ended.append(make(bench.sandbox.kind).start(spec).wait(240))

    bench.run("true")
    threads = [threading.Thread(target=one, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(each.code for each in ended if each) == list(range(count))
    until(lambda: len(psutil.Process().children(recursive=True)) <= children, "processes have gone")
    if bench.sandbox.kind != "docker":  # whose client keeps connections
        until(lambda: len(os.listdir("/proc/self/fd")) <= descriptors + 1, "descriptors are given back")
    for controller in find_controllers().values():
        assert not list(controller.parent.glob("test-many-*"))


@pytest.mark.parametrize("sandbox", [BUBBLEWRAP], indirect=True)
class TestWithoutControlGroups:
    @pytest.fixture(autouse=True)
    def _without(self, bench: Bench) -> None:
        bench.sandbox = BubblewrapSandbox(control_groups=False)

    def test_memory(self, bench: Bench) -> None:
        script = "python3 -c 'import time; held = bytearray(400 << 20); time.sleep(200)'"
        assert bench.run(script, limits=Limits(memory_bytes=150 << 20))[0] == Exit(137, "memory")

    def test_processes(self, bench: Bench) -> None:
        script = "for n in $(seq 40); do sleep 200 & done; wait"
        assert bench.run(script, limits=Limits(processes=25))[0] == Exit(137, "processes")

    def test_cpus(self, bench: Bench) -> None:
        assert bench.run("nproc", limits=Limits(cpus=1))[1] == "1\n"

    def test_says_so(self, bench: Bench) -> None:
        assert "measured" in bench.sandbox.means()["memory"]


@pytest.mark.parametrize("sandbox", [BUBBLEWRAP], indirect=True)
class TestFaultsOfBubblewrap:
    def test_a_command_that_never_ran_is_no_exit_code(self, bench: Bench) -> None:
        running = bench.sandbox.start(Spec(name="test-nothing", command=["/no/such/program"]))
        with pytest.raises(SandboxFault, match="before its command started"):
            running.wait(240)

    def test_a_name_is_taken_while_it_runs(self, bench: Bench) -> None:
        if not find_controllers():
            pytest.skip("no control groups here")
        bench.start("sleep 200", name="test-taken")
        with pytest.raises(SandboxFault, match="still running"):
            bench.start("true", name="test-taken")
