"""The whole platform as processes: a server, a worker, and an HTTP client, on either deployment."""

import contextlib
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
import redis

ROOT = Path(__file__).resolve().parents[2]
AGENTS = ROOT / "tests" / "journeys" / "agents"
POSTGRES = os.environ.get("AGENT2_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")
INSTANT = "grading.services.instant_runner.InstantRunner"


def free_port() -> int:
    """One below those that the kernel gives to outgoing connections: nobody gets it by chance before it is used."""
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for _ in range(1000):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", random.SystemRandom().randrange(10_000, first) if first > 12_000 else 0))
            return int(probe.getsockname()[1])
    raise AssertionError("no port is free")


def redis_command(port: int) -> list[str]:
    """Of a Redis that keeps nothing; skips where it is not installed."""
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed")
    return ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]


@contextlib.contextmanager
def own_redis() -> Iterator[str]:
    """The URL of a Redis of one's own: in a shared one, workers of another session would take this one's messages."""
    port = free_port()
    with subprocess.Popen(redis_command(port), stdout=subprocess.DEVNULL, cwd=tempfile.gettempdir()) as process:
        url, deadline = f"redis://127.0.0.1:{port}/0", time.monotonic() + 120
        try:
            while True:
                with contextlib.suppress(redis.RedisError):
                    redis.Redis.from_url(url, socket_connect_timeout=10).ping()
                    break
                assert time.monotonic() < deadline, "Redis does not start"
                time.sleep(0.05)
            yield url
        finally:
            process.kill()


@contextlib.contextmanager
def services() -> Iterator[dict[str, str]]:
    """A fresh PostgreSQL database and an empty Redis; skips where either cannot be had."""
    name = f"agent2_{uuid4().hex[:10]}"
    try:
        admin = psycopg.connect(POSTGRES, autocommit=True, connect_timeout=30)
    except psycopg.Error as error:
        pytest.skip(f"PostgreSQL cannot be reached: {error}")
    with admin, own_redis() as url:
        admin.execute(f"CREATE DATABASE {name}")
        try:
            yield {"AGENT2_DATABASE_URL": POSTGRES.rsplit("/", 1)[0] + "/" + name, "AGENT2_REDIS_URL": url}
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def patient_client() -> httpx.Client:
    """Plain HTTP only. A busy machine takes its time; a connection kept open may be closed just as it is used."""
    return httpx.Client(verify=False, timeout=120, limits=httpx.Limits(max_keepalive_connections=0))


@dataclass
class Platform:
    """Processes share `data`; `extra` are further environment variables."""

    data: Path
    extra: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    server: subprocess.Popen[bytes] | None = None
    worker: subprocess.Popen[bytes] | None = None
    http: httpx.Client = field(default_factory=patient_client)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        own = {
            "AGENT2_DATA_DIR": str(self.data),
            "AGENT2_PUBLIC_URL": self.url,
            "AGENT2_AGENT_DIRS": str(AGENTS),
            "AGENT2_HEARTBEAT_S": "3",
            "AGENT2_SWEEP_S": "0.5",
            "AGENT2_API_PER_MINUTE_ANONYMOUS": "0",
            "AGENT2_SIGN_INS_PER_MINUTE": "0",
            "AGENT2_GRADING_RUNNER": INSTANT,
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        clean = {name: value for name, value in os.environ.items() if not name.startswith("AGENT2_")}
        return clean | own | self.extra

    def manage(self, *args: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *args],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def _spawn(self, name: str, *args: str) -> subprocess.Popen[bytes]:
        return self.spawned(name, [sys.executable, *args], self.environment)

    def spawned(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """A process in a session of its own; its output is appended to `name`.log."""
        self.data.mkdir(parents=True, exist_ok=True)
        with (self.data / f"{name}.log").open("ab") as log:
            return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True)

    def start_server(self) -> None:
        self.server = self._spawn(
            "server", "-m", "uvicorn", "config.asgi:application", "--port", str(self.port), "--log-level", "warning"
        )
        self.until(self._answers, 300, "the server answers")

    def _answers(self) -> bool:
        assert self.server is not None
        assert self.server.poll() is None, (self.data / "server.log").read_text()[-3000:]
        with contextlib.suppress(httpx.TransportError):
            return self.http.get(f"{self.url}/api/v1/runs/", timeout=30).status_code == 200
        return False

    def start_worker(self) -> None:
        self.worker = self._spawn("worker", "manage.py", "worker")

    def start(self) -> "Platform":
        self.manage("migrate", "-v0")
        self.start_server()
        self.start_worker()
        return self

    def kill(self, which: str, how: int = signal.SIGKILL) -> None:
        """Signal the server or the worker with its whole session, and wait for it."""
        process: subprocess.Popen[bytes] | None = getattr(self, which)
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, how)
            process.wait(120)
            setattr(self, which, None)

    def stop(self) -> None:
        self.kill("worker", signal.SIGTERM)
        self.kill("server", signal.SIGTERM)

    def run(self, base: Path, driver: str, budget: int = 600, agent: str = "scripted", task: str = "arithmetic") -> str:
        """Queue a run; its slug."""
        told = self.manage(
            *("run", "--agent", agent, "--task", task, "--base-model", str(base), "--driver", driver),
            *("--budget", f"{budget}s", "--detach"),
        )
        return told.strip().rstrip("/").rsplit("/", 1)[1]

    def get(self, slug: str, part: str = "") -> Any:
        answer = self.http.get(f"{self.url}/api/v1/runs/{slug}/{part}")
        answer.raise_for_status()
        return answer.json()

    def query(self, sql: str, *values: str) -> list[tuple[Any, ...]]:
        """Rows straight from the database: a command takes seconds to start. Values stand where %s does."""
        if url := self.extra.get("AGENT2_DATABASE_URL"):
            with psycopg.connect(url, connect_timeout=30) as connection:
                return connection.execute(sql.encode(), values).fetchall()
        with contextlib.closing(sqlite3.connect(self.data / "db.sqlite3", timeout=60)) as file:
            return file.execute(sql.replace("%s", "?"), values).fetchall()

    def submissions(self, slug: str) -> list[dict[str, Any]]:
        """The run's, at most a page of them."""
        return list(self.get(slug, "submissions/")["results"])

    def state(self, slug: str) -> str:
        return str(self.get(slug)["state"])

    def ended(self, slug: str, timeout: float = 400) -> dict[str, Any]:
        """The run once it is terminal."""
        ends = ("finished", "failed", "cancelled", "timed_out")
        self.until(lambda: self.state(slug) in ends, timeout, f"{slug} ends")
        return dict(self.get(slug))

    def until(self, true: Callable[[], bool], timeout: float, what: str) -> None:
        deadline = time.monotonic() + timeout
        while not true():
            if time.monotonic() > deadline:
                logs = "\n".join(f"== {p.name}\n{p.read_text()[-3000:]}" for p in self.data.glob("*.log"))
                agents = "\n".join(f"== {p}\n{p.read_text()[-1500:]}" for p in self.data.glob("runs/*/agent.log"))
                raise AssertionError(f"not within {timeout} s: {what}\n{logs}\n{agents}")
            time.sleep(0.1)
