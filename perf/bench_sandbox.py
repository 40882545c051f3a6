"""What a sandboxed run costs besides its agent: its start, its memory, and the draining of a long grading queue.

`python -m perf.bench_sandbox [--runs 50] [--evaluations 1000] [--starts 10]`; 0 leaves one out. Docker and
production's services only where they can be reached.
"""

import argparse
import json
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path, PurePosixPath

import psutil
import pytest

from benchmark.gateway.process import Gateway
from benchmark.sandbox.bubblewrap import BubblewrapSandbox
from benchmark.sandbox.choose import AnySandbox
from benchmark.sandbox.contract import Mount, Spec
from benchmark.sandbox.docker import DockerSandbox
from tests.support.checkpoint import small_checkpoint
from tests.support.platform import ROOT, Platform, services

MIB = 1 << 20
QUEUE = """
from datetime import timedelta
from django.utils import timezone
from benchmark.models import Run, RunState, secret_hash
from benchmark.services.protocols import engine_in_force
from grading.models import Evaluation, Submission, SubmissionState
now = timezone.now()
runs = [Run(agent="scripted", task="arithmetic", protocol="arithmetic/1", base_model="/nowhere", base_digest="b" * 64,
    budget_s=36000, state=RunState.RUNNING, started_at=now, deadline_at=now + timedelta(hours=9), lease="bench",
    heartbeat_at=now + timedelta(hours=9), sandbox="bubblewrap", slug=f"queue-{{n}}") for n in range({runs})]
runs = Run.objects.bulk_create(runs)
for n in range({count}):
    run, digest = runs[n % {runs}], f"{{n:064x}}"
    evaluation = Evaluation.objects.create(task=run.task, protocol=run.protocol, engine=engine_in_force(),
        digest=digest, base_model=run.base_model, base_digest=run.base_digest)
    Submission.objects.create(run=run, number=n // {runs} + 1, model_path="x", key=f"k{{n}}", elapsed_s=1.0,
        digest=digest, evaluation=evaluation, state=SubmissionState.QUEUED)
"""
LEFT = """
from grading.models import Submission
from django.db.models import Max, Min
open = Submission.objects.filter(state__in=("queued", "grading")).count()
told = Submission.objects.aggregate(first=Min("ended_at"), last=Max("ended_at"))
print(open, (told["last"] - told["first"]).total_seconds() if told["first"] else 0)
"""


def sandboxes() -> Iterator[AnySandbox]:
    for made in (BubblewrapSandbox(), DockerSandbox(image="python:3.11-slim-bookworm", python="python3")):
        if reason := made.unavailable():
            print(f"{made.kind}: not measured. {reason}")
        else:
            yield made


def start_s(sandbox: AnySandbox, folder: Path, number: int) -> float:
    """Seconds from `start` to the first line of the command's output, with a gateway, a workspace and limits."""
    socket, log = folder / "gateway" / "gateway.sock", folder / "agent.log"
    workspace = folder / "workspace"
    workspace.mkdir(parents=True)
    with Gateway(socket=socket, upstream="http://127.0.0.1:9", prefixes=["/grading/x/"]):
        spec = Spec(
            name=f"bench-start-{number}",
            command=["bash", "-c", "echo begun; exec sleep 60"],
            mounts=[Mount(workspace, PurePosixPath("/workspace"), read_only=False)],
            socket=socket,
            log_path=log,
        )
        began = time.monotonic()
        running = sandbox.start(spec)
        while not (log.exists() and log.stat().st_size) and time.monotonic() - began < 60:
            time.sleep(0.005)
        took = time.monotonic() - began
        running.stop(0)
    return took


def starts(count: int) -> None:
    for sandbox in sandboxes():
        with tempfile.TemporaryDirectory(prefix="agent2-bench-") as folder:
            Path(folder).chmod(0o755)
            took = [start_s(sandbox, Path(folder, str(number)), number) for number in range(count)]
        print(f"start, {sandbox.kind}: median {statistics.median(took):.2f} s, worst {max(took):.2f} s of {count}")


def tree_bytes(process: psutil.Process) -> int:
    """Proportional set size of a process and everything below it."""
    total = 0
    for each in (process, *process.children(recursive=True)):
        try:
            total += each.memory_full_info().pss
        except psutil.Error:
            continue
    return total


def memory(runs: int, sandbox: str) -> None:
    """The worker's process tree with `runs` sleeping agents beside the same without, over their number."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="agent2-bench-")))
        folder.chmod(0o755)
        extra = {
            "AGENT2_AGENT_SLOTS": str(runs),
            "AGENT2_AGENT_DIRS": str(ROOT / "perf" / "agents"),
            "AGENT2_SANDBOX": sandbox,
        }
        platform = Platform(folder / "data", extra).start()
        stack.callback(platform.stop)
        base = small_checkpoint(folder / "base")
        assert platform.worker is not None
        worker = psutil.Process(platform.worker.pid)
        platform.ended(platform.run(base, "none", budget=5, agent="sleeper"), 120)
        before = tree_bytes(worker)
        began = time.monotonic()
        platform.manage("shell", "-v0", "-c", RUNS.format(runs=runs, base=base))

        def running() -> int:
            listed = platform.manage("shell", "-v0", "-c", RUNNING)
            return int(listed.strip().splitlines()[-1])

        platform.until(lambda: running() >= runs, 900, f"{runs} runs at once")
        took = time.monotonic() - began
        time.sleep(5)
        after = tree_bytes(worker)
        each = (after - before) / runs / MIB
        print(f"memory, {sandbox}: {each:.1f} MiB a run, {runs} at once, worker {before / MIB:.0f} MiB; {took:.0f} s")


RUNS = """
from benchmark.services.runs import run_create
for _ in range({runs}):
    run_create(agent="sleeper", task="arithmetic", base_model="{base}", driver="none", budget_s=3600)
"""
RUNNING = "from benchmark.models import Run; print(Run.objects.filter(state='running').count())"


def drain(count: int, platform: Platform, name: str) -> None:
    """`count` evaluations that answer at once, from fifty runs; between the first verdict and the last."""
    platform.manage("migrate", "-v0")
    platform.manage("shell", "-v0", "-c", QUEUE.format(count=count, runs=50))
    platform.start_worker()
    told = "0 0"

    def drained() -> bool:
        nonlocal told
        told = platform.manage("shell", "-v0", "-c", LEFT).strip().splitlines()[-1]
        time.sleep(1)
        return told.startswith("0 ")

    try:
        platform.until(drained, 600, f"{count} evaluations are drained")
    finally:
        platform.stop()
    seconds = float(told.split()[1])
    print(f"queue, {name}: {1000 * seconds / max(1, count - 1):.1f} ms an evaluation, {count} in {seconds:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--evaluations", type=int, default=1000)
    parser.add_argument("--starts", type=int, default=10)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    print(json.dumps({"cores": psutil.cpu_count(), "load": psutil.getloadavg()[0]}))
    if given.starts:
        starts(given.starts)
    if given.evaluations:
        with tempfile.TemporaryDirectory(prefix="agent2-bench-") as folder:
            drain(given.evaluations, Platform(Path(folder)), "embedded")
        try:
            with services() as environment, tempfile.TemporaryDirectory(prefix="agent2-bench-") as folder:
                drain(given.evaluations, Platform(Path(folder), environment), "PostgreSQL and Redis")
        except pytest.skip.Exception as skipped:
            print(f"queue: not measured with services. {skipped}")
    if given.runs:
        memory(given.runs, "bubblewrap")


if __name__ == "__main__":
    main()
