"""Many browsers on live pages while many runs emit an event a second: from the commit of an event to its arrival.

    python -m perf.bench_live [--watchers 200] [--runs 50] [--seconds 30]

PostgreSQL and Redis where the tests expect them; websocket clients stand for browsers, each on one run's page. Whoever
emits stamps its event with the time before it is stored.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from websockets.asyncio.client import connect
from websockets.typing import Origin

from tests.support.platform import ROOT, Platform, services

EMIT = """
import time
from benchmark.models import EventKind, Run
from benchmark.services.events import event_record
runs = list(Run.objects.values_list("pk", flat=True))
began = time.time()
for second in range({seconds}):
    for place, pk in enumerate(runs):
        due = began + second + place / len(runs)
        time.sleep(max(0.0, due - time.time()))
        event_record(pk, EventKind.TOKENS, sent=time.time())
print(len(runs) * {seconds}, time.time() - began)
"""
MAKE = """
from benchmark.models import Run, RunState
from django.utils import timezone
from datetime import timedelta
now = timezone.now()
for n in range({runs}):
    Run.objects.create(agent="scripted", task="arithmetic", protocol="arithmetic/1", base_model="tiny", budget_s=36000,
        state=RunState.RUNNING, started_at=now, deadline_at=now + timedelta(hours=10), slug=f"live-{{n}}",
        heartbeat_at=now + timedelta(hours=10), lease="bench", sandbox="bubblewrap")
"""


async def watch(platform: Platform, slug: str, delays: list[float], ready: asyncio.Semaphore) -> None:
    """Note how old every event is when it arrives."""
    url = f"ws://127.0.0.1:{platform.port}/ws/runs/{slug}/"
    async with connect(url, origin=Origin(platform.url), open_timeout=60) as socket:
        await socket.send(json.dumps({"after": 0}))
        await socket.recv()
        ready.release()
        async for message in socket:
            now = time.time()
            for event in json.loads(message).get("events", []):
                if "sent" in event["data"]:
                    delays.append(1000 * (now - event["data"]["sent"]))


async def measure(platform: Platform, watchers: int, runs: int, seconds: int) -> list[float]:
    delays: list[float] = []
    ready = asyncio.Semaphore(0)
    tasks = [asyncio.create_task(watch(platform, f"live-{n % runs}", delays, ready)) for n in range(watchers)]
    for _ in range(watchers):
        await ready.acquire()
    emitter = await asyncio.create_subprocess_exec(
        *(sys.executable, "manage.py", "shell", "-v0", "-c", EMIT.format(seconds=seconds)),
        cwd=ROOT,
        env=platform.environment,
        stdout=subprocess.PIPE,
    )
    told, _ = await emitter.communicate()
    print(f"  emitted {told.decode().strip()} s")
    await asyncio.sleep(2)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return sorted(delays)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--watchers", type=int, default=200)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--seconds", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, services() as extra:
        platform = Platform(Path(folder), extra)
        platform.manage("migrate", "-v0")
        platform.start_server()
        try:
            platform.manage("shell", "-v0", "-c", MAKE.format(runs=options.runs))
            delays = asyncio.run(measure(platform, options.watchers, options.runs, options.seconds))
            assert platform.server is not None
            expected = options.watchers * options.seconds
            print(
                f"  {len(delays)} of {expected} arrivals   p50 {statistics.median(delays):.0f} ms   "
                f"p95 {delays[int(0.95 * len(delays))]:.0f} ms   worst {delays[-1]:.0f} ms   "
                f"web process {psutil.Process(platform.server.pid).memory_info().rss / 1024**2:.0f} MiB"
            )
        finally:
            platform.stop()


if __name__ == "__main__":
    main()
