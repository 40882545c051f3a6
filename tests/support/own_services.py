"""A PostgreSQL cluster and a Redis of one's own, to be killed and started again."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
import redis

from tests.support.platform import free_port, redis_command

USER = "postgres"


def _as_postgres(*command: str | Path) -> list[str]:
    """PostgreSQL refuses to run as root."""
    line = [str(part) for part in command]
    return ["setpriv", "--reuid", USER, "--regid", USER, "--clear-groups", *line] if os.getuid() == 0 else line


@dataclass
class Service:
    """One server process in a session of its own."""

    command: list[str]
    folder: Path
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        with (self.folder / "service.log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command, stdout=log, stderr=log, start_new_session=True, cwd=self.folder
            )

    def kill(self, how: int = signal.SIGKILL) -> None:
        """All of its processes at once."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, how)
            self.process.wait(120)
            self.process = None


@dataclass
class OwnServices:
    """Both, with the settings that lead to them."""

    folder: Path
    postgres: Service
    redis: Service
    postgres_port: int
    redis_port: int
    environment: dict[str, str] = field(default_factory=dict)

    def wait(self) -> None:
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            with contextlib.suppress(psycopg.Error, redis.RedisError):
                psycopg.connect(self.environment["AGENT2_DATABASE_URL"], connect_timeout=10).close()
                redis.Redis.from_url(self.environment["AGENT2_REDIS_URL"], socket_connect_timeout=10).ping()
                return
            time.sleep(0.1)
        raise AssertionError((self.folder / "postgres" / "service.log").read_text()[-2000:])


@contextlib.contextmanager
def killable_redis(folder: Path) -> Iterator[tuple[Service, str]]:
    """A Redis alone, and its URL; skips where it is not installed."""
    port = free_port()
    service = Service(redis_command(port), folder)
    service.start()
    try:
        yield service, f"redis://127.0.0.1:{port}/0"
    finally:
        service.kill()


@contextlib.contextmanager
def own_services(folder: Path) -> Iterator[OwnServices]:
    """Skips where their programs are not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not found or shutil.which("redis-server") is None or shutil.which("setpriv") is None:
        pytest.skip("PostgreSQL's or Redis' programs are not installed")
    data, ports = folder / "postgres", (free_port(), free_port())
    for name in ("postgres", "redis"):
        (folder / name).mkdir(parents=True)
    for parent in (folder, *folder.parents):
        # Temporary folders are closed to other users, and PostgreSQL runs as one.
        if len(parent.parts) > 2 and parent.stat().st_uid == os.getuid():
            parent.chmod(parent.stat().st_mode | 0o055)
    if os.getuid() == 0:
        shutil.chown(data, USER, USER)
    subprocess.run(
        _as_postgres(found[-1] / "initdb", "-D", data / "data", "-U", USER, "--auth=trust", "--no-sync"),
        check=True,
        capture_output=True,
    )
    where = ["-p", str(ports[0]), "-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={data}"]
    postgres = Service(_as_postgres(found[-1] / "postgres", "-D", data / "data", *where), data)
    cache = Service(redis_command(ports[1]), folder / "redis")
    environment = {
        "AGENT2_DATABASE_URL": f"postgresql://{USER}@127.0.0.1:{ports[0]}/{USER}",
        "AGENT2_REDIS_URL": f"redis://127.0.0.1:{ports[1]}/0",
    }
    made = OwnServices(folder, postgres, cache, *ports, environment)
    try:
        postgres.start()
        cache.start()
        made.wait()
        yield made
    finally:
        postgres.kill(signal.SIGINT)
        cache.kill()
