"""MLflow over the same runs, asked in turn with our API.

Its server keeps them in a database of its own beside ours, made by its own migrations and filled by COPY: a run with
its parameters, its best score as the latest metric, and every scored submission as a step of the metric `score`.
"""

import contextlib
import os
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import psutil
import psycopg

from tests.support.platform import free_port

ROWS = {
    "runs": (
        "(run_uuid, name, source_type, source_name, entry_point_name, user_id, status,"
        " start_time, end_time, lifecycle_stage, artifact_uri, experiment_id)",
        "SELECT md5(id::text), slug, 'LOCAL', '', '', 'somebody', 'FINISHED',"
        " (extract(epoch from started_at) * 1000)::bigint,"
        " (extract(epoch from ended_at) * 1000)::bigint, 'active', '/nowhere', 0 FROM benchmark_run",
    ),
    "params": (
        "(key, value, run_uuid)",
        "SELECT p.key, p.value, md5(r.id::text) FROM benchmark_run r, LATERAL (VALUES ('task', r.task),"
        " ('agent', r.agent), ('driver', r.driver), ('mode', r.mode), ('base_model', r.base_model)) AS p(key, value)",
    ),
    "latest_metrics": (
        "(key, value, timestamp, step, is_nan, run_uuid)",
        "SELECT m.key, m.value, 0, 0, false, md5(s.run_id::text) FROM grading_taskstanding s"
        " JOIN benchmark_run r ON (r.id, r.task) = (s.run_id, s.task), LATERAL"
        " (VALUES ('best', s.value), ('improvement', s.value - s.baseline)) AS m(key, value) WHERE m.value IS NOT NULL",
    ),
    "metrics": (
        "(key, value, timestamp, run_uuid, step, is_nan)",
        "SELECT 'score', v.score, (extract(epoch from s.received_at) * 1000)::bigint, md5(s.run_id::text), s.number,"
        " false FROM grading_submission s JOIN grading_verdict v ON v.id = s.verdict_id WHERE v.score IS NOT NULL",
    ),
}
SEARCH = {
    "experiment_ids": ["0"],
    "filter": "params.task = 'alfworld' and params.agent = 'codex'",
    "order_by": ["metrics.best DESC"],
    "max_results": 50,
}
OURS = "/api/v1/runs/?task=alfworld&agent=codex&order=-score&limit=50"


@contextlib.contextmanager
def mlflow_server(python: str, database: str) -> Iterator[tuple[str, int]]:
    """Its address and its process."""
    port = free_port()
    command = [python, "-m", "mlflow", "server", "--backend-store-uri", database, "--port", str(port)]
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, start_new_session=True)
        try:
            deadline = time.monotonic() + 120
            while True:
                with contextlib.suppress(httpx.TransportError):
                    if httpx.get(f"http://127.0.0.1:{port}/health", timeout=5).status_code == 200:
                        break
                if time.monotonic() > deadline:
                    raise SystemExit((Path(folder) / "log").read_text()[-3000:])
                time.sleep(0.5)
            yield f"http://127.0.0.1:{port}", server.pid
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(30)


def fill(ours: str, theirs: str) -> None:
    """Copy our runs into MLflow's empty tables."""
    with psycopg.connect(ours) as source, psycopg.connect(theirs) as target:
        for table, (columns, select) in ROWS.items():
            with (
                source.cursor() as read,
                target.cursor() as write,
                read.copy(f"COPY ({select}) TO STDOUT") as out,
                write.copy(f"COPY {table} {columns} FROM STDIN") as into,
            ):
                for block in out:
                    into.write(block)
        target.commit()
        target.autocommit = True
        target.execute("VACUUM ANALYZE")


def beside(python: str, url: str, times: int) -> None:
    """Both are asked in turn, fresh connections; ratios of medians and of p95."""
    ours = os.environ["AGENT2_DATABASE_URL"]
    name = f"mlflow_{uuid4().hex[:8]}"
    theirs = ours.rsplit("/", 1)[0] + f"/{name}"
    with psycopg.connect(ours, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
        try:
            with mlflow_server(python, theirs):
                pass  # its first start makes its tables
            fill(ours, theirs)
            with mlflow_server(python, theirs) as (address, pid):
                _compare(url, address, times)
                family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
                memory = sum(process.memory_info().rss for process in family) / 1024**2
                print(f"  MLflow: {memory:.0f} MiB in {len(family)} processes")
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _compare(ours: str, theirs: str, times: int) -> None:
    search = f"{theirs}/api/2.0/mlflow/runs/search"
    found = httpx.post(search, json=SEARCH, timeout=60, verify=False)
    assert len(found.json().get("runs", [])) == 50, found.text[:500]
    longest = httpx.get(f"{ours}/api/v1/runs/?order=-submissions&limit=1", timeout=60, verify=False).json()["results"][
        0
    ]["slug"]
    with psycopg.connect(os.environ["AGENT2_DATABASE_URL"]) as source:
        run_id = source.execute("SELECT md5(id::text) FROM benchmark_run WHERE slug = %s", [longest]).fetchone()[0]  # type: ignore[index]
    history = f"{theirs}/api/2.0/mlflow/metrics/get-history?run_id={run_id}&metric_key=score&max_results=2000"
    pairs: dict[str, tuple[Callable[[], httpx.Response], Callable[[], httpx.Response]]] = {
        "filter and order": (
            lambda: httpx.get(ours + OURS, timeout=60, verify=False),
            lambda: httpx.post(search, json=SEARCH, timeout=60, verify=False),
        ),
        "1,000 points": (
            lambda: httpx.get(f"{ours}/api/v1/runs/{longest}/points/", timeout=60, verify=False),
            lambda: httpx.get(history, timeout=60, verify=False),
        ),
    }
    for name, asks in pairs.items():
        taken: tuple[list[float], list[float]] = ([], [])
        for _ in range(times):
            for ask, into in zip(asks, taken, strict=True):
                began = time.perf_counter()
                answer = ask()
                into.append(1000 * (time.perf_counter() - began))
                assert answer.status_code == 200, answer.text[:500]
        (our50, our95), (their50, their95) = (
            (statistics.median(each), sorted(each)[int(0.95 * len(each))]) for each in taken
        )
        print(
            f"  {name:20} ours p50 {our50:.1f} p95 {our95:.1f} ms   MLflow p50 {their50:.1f} p95 {their95:.1f} ms   "
            f"{their50 / our50:.1f} x and {their95 / our95:.1f} x",
            flush=True,
        )
