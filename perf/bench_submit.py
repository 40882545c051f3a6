"""What a submission costs around its evaluation, with a runner that answers at once.

POST to answer, POST to browser, and many at once.
Queue, database, authentication, snapshot and static checks are all on; the checkpoint is a real one of about 60 kB.
`python -m perf.bench_submit` measures both deployments (PostgreSQL and Redis only where they can be reached).
"""

import argparse
import concurrent.futures
import json
import shutil
import statistics
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import psutil
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.support.checkpoint import small_checkpoint
from tests.support.platform import Platform, services

CONTENTS = 200
SETUP = """
from pathlib import Path
from datetime import timedelta
from django.utils import timezone
from benchmark.models import Run, RunState, secret_hash
from grading.services.baselines import baseline_request
now = timezone.now()
run = Run.objects.create(agent="scripted", task="arithmetic", protocol="arithmetic/1", base_model="{base}",
    budget_s=36000,
    state=RunState.RUNNING, token_hash=secret_hash("{secret}"), started_at=now, deadline_at=now + timedelta(hours=10),
    heartbeat_at=now + timedelta(hours=10), lease="bench", sandbox="bubblewrap", slug="{slug}")
baseline_request(run.pk, Path("{base}"))
"""


def make_run(platform: Platform, base: Path, name: str) -> tuple[str, str]:
    """A running run with `CONTENTS` different checkpoints in its workspace; its slug and grading URL."""
    output = platform.data / "runs" / name / "workspace" / "output"
    raw = bytearray((base / "model.safetensors").read_bytes())
    start = 8 + int.from_bytes(raw[:8], "little")
    for number in range(CONTENTS):
        shutil.copytree(base, output / f"v{number}")
        raw[start : start + 2] = number.to_bytes(2, "little")
        (output / f"v{number}" / "model.safetensors").write_bytes(raw)
    secret = f"secret-{name}"
    platform.manage("shell", "-v0", "-c", SETUP.format(base=base, secret=secret, slug=name))
    return name, f"{platform.url}/grading/{secret}"


def post(url: str, path: str, client: httpx.Client | None = None) -> httpx.Response:
    """A blocking submission; over a new connection unless a client is given."""
    if client is not None:
        return client.post(f"{url}/submit", json={"model_path": path}, timeout=600)
    return httpx.post(f"{url}/submit", json={"model_path": path}, timeout=600, verify=False)


def one_by_one(url: str, count: int, *, keep_alive: bool) -> list[float]:
    """Milliseconds from POST to answer."""
    taken = []
    with ExitStack() as stack:
        client = stack.enter_context(httpx.Client(verify=False)) if keep_alive else None
        for number in range(count):
            began = time.perf_counter()
            answer = post(url, f"output/v{number % CONTENTS}", client)
            taken.append(1000 * (time.perf_counter() - began))
            assert answer.json()["state"] == "graded", answer.text
    return taken


def to_browser(platform: Platform, slug: str, url: str, count: int) -> list[float]:
    """Milliseconds from POST until a websocket client holds the graded event of that submission."""
    seen: dict[str, float] = {}
    ready = threading.Event()

    def watch() -> None:
        with connect(f"ws://127.0.0.1:{platform.port}/ws/runs/{slug}/", origin=Origin(platform.url)) as socket:
            socket.send(json.dumps({"after": 0}))
            ready.set()
            while len(seen) < count:
                for event in json.loads(socket.recv(timeout=60)).get("events", []):
                    if event["kind"] == "submission" and event["data"]["state"] == "graded":
                        seen.setdefault(event["data"]["model_path"], time.perf_counter())

    thread = threading.Thread(target=watch)
    thread.start()
    ready.wait(30)
    sent = {}
    for number in range(count):
        path = f"output/v{number}"
        sent[path] = time.perf_counter()
        post(url, path)
        time.sleep(0.05)
    thread.join(60)
    return [1000 * (seen[path] - sent[path]) for path in sent]


def at_once(url: str, total: int, clients: int) -> dict[str, Any]:
    """`total` blocking submissions from `clients` clients: errors, lost ones and duplicate numbers."""

    def submit(number: int) -> tuple[int, int | None]:
        answer = post(url, f"output/v{number % CONTENTS}")
        return answer.status_code, answer.json().get("submission_id")

    began = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        told = list(pool.map(submit, range(total)))
    seconds = time.perf_counter() - began
    stored = httpx.get(f"{url}/submissions", timeout=120, verify=False).json()["submissions"]
    numbers = [number for status, number in told if status == 200]
    graded = {row["submission_id"] for row in stored if row["state"] == "graded"}
    return {
        "requests": total,
        "errors": sum(status != 200 for status, _ in told),
        "lost": len(set(numbers) - graded),
        "duplicate numbers": len(numbers) - len(set(numbers)),
        "per second": round(total / seconds, 1),
    }


def told(name: str, taken: list[float]) -> None:
    ordered = sorted(taken)
    print(f"  {name:38} p50 {statistics.median(ordered):7.1f} ms   p95 {ordered[int(0.95 * len(ordered))]:7.1f} ms")


def measure(name: str, extra: dict[str, str], folder: Path, base: Path, requests: int) -> None:
    # The sweeps come as often as in a real deployment, not as often as tests like them.
    platform = Platform(folder, {"AGENT2_HEARTBEAT_S": "5", "AGENT2_SWEEP_S": "5"} | extra).start()
    try:
        print(name)
        slug, url = make_run(platform, base, "bench-one")
        time.sleep(2)
        one_by_one(url, 5, keep_alive=True)
        told("POST to answer, kept-alive", one_by_one(url, 60, keep_alive=True))
        slug, url = make_run(platform, base, "bench-fresh")
        told("POST to answer, fresh connections", one_by_one(url, 60, keep_alive=False))
        slug, url = make_run(platform, base, "bench-browser")
        told("POST to browser", to_browser(platform, slug, url, 60))
        assert platform.server is not None
        memory = psutil.Process(platform.server.pid).memory_info().rss / 1024**2
        print(f"  web process {memory:.0f} MiB")
        slug, url = make_run(platform, base, "bench-many")
        print(f"  20 clients: {at_once(url, requests, 20)}", flush=True)
    finally:
        platform.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1600)
    parser.add_argument("--only", choices=["embedded", "services"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base = small_checkpoint(Path(folder) / "base")
        if options.only != "services":
            measure("embedded: SQLite, folder queue", {}, Path(folder) / "embedded", base, options.requests)
        if options.only != "embedded":
            with services() as extra:
                measure("PostgreSQL and Redis", extra, Path(folder) / "services", base, options.requests)


if __name__ == "__main__":
    main()
