"""The platform as production runs it: a web server, beat, and a worker for each queue, on services of its own."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from glob import iglob
from pathlib import Path
from typing import Any

import psutil
import psycopg

from tests.support.checkpoint import small_checkpoint
from tests.support.docker_image import host_python_image
from tests.support.own_services import OwnServices, Service, own_services
from tests.support.platform import Platform

SLOTS = {"worker-default": ("0", "0"), "worker-agents": ("2", "0"), "worker-grading": ("0", "2")}
"""AGENT2_AGENT_SLOTS and AGENT2_GRADING_SLOTS of each worker."""
PACE = "grading_s"
"""A file in the data folder that may tell another number of seconds to the slow runner, for what begins meanwhile."""
ENDS = ("finished", "failed", "cancelled", "timed_out")


@dataclass
class Pools(Platform):
    """Its processes besides the web server are in `pools`, by the names that docker-compose.yml gives them."""

    pools: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def start_pool(self, name: str) -> None:
        if name == "web":
            self.start_server()
            return
        agents, grading = SLOTS.get(name, ("0", "0"))
        command = [sys.executable, "manage.py", "worker", "--queues", name.removeprefix("worker-")]
        if name == "beat":
            schedule = str(self.data / "beat-schedule")
            command = [sys.executable, "-m", "celery", "-A", "config", "beat", "--schedule", schedule, "--pidfile", ""]
        own = {"AGENT2_AGENT_SLOTS": agents, "AGENT2_GRADING_SLOTS": grading}
        self.pools[name] = self.spawned(name, command, self.environment | own)

    def kill_pool(self, name: str, how: int = signal.SIGKILL) -> None:
        """Signal a process with its whole session, and wait for it."""
        if name == "web":
            self.kill("server", how)
        elif (process := self.pools.pop(name, None)) is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, how)
            process.wait(120)

    def processes(self) -> Mapping[str, "subprocess.Popen[bytes]"]:
        return self.pools | ({"web": self.server} if self.server else {})

    def start(self) -> "Pools":
        self.manage("migrate", "-v0")
        for name in ("web", "beat", *SLOTS):
            self.start_pool(name)
        return self

    def stop(self) -> None:
        for name in (*self.pools, "web"):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.kill_pool(name, signal.SIGTERM)
            self.kill_pool(name)


@dataclass
class Scene:
    """A platform on services of its own, in one kind of sandbox."""

    platform: Pools
    services: OwnServices
    base: Path
    sandbox: str
    prefix: str = ""
    """What the names of this platform's sandboxes begin with, and no other's."""

    @property
    def temporary(self) -> Path:
        """Where its processes make their temporary files."""
        return self.platform.data.with_name("tmp")

    def query(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        with psycopg.connect(self.services.environment["AGENT2_DATABASE_URL"], connect_timeout=30) as connection:
            return connection.execute(sql, values).fetchall()

    def service(self, name: str) -> Service:
        return self.services.postgres if name == "postgres" else self.services.redis

    def state(self, slug: str) -> str:
        (state,) = self.query("SELECT state FROM benchmark_run WHERE slug = %s", slug)[0]
        return str(state)

    def number(self, slug: str) -> int:
        (number,) = self.query("SELECT id FROM benchmark_run WHERE slug = %s", slug)[0]
        return int(str(number))

    def sandboxes(self) -> list[str]:
        """Names of this platform's that are on this host, whatever is left of them."""
        found = {words[2] for words in _command_lines() if words[:2] == ["bwrap", "--hostname"] and len(words) > 2}
        if self.sandbox == "docker":
            with _engine() as client:
                labelled = {"label": "agent2.sandbox"}
                containers = client.containers.list(all=True, filters=labelled, ignore_removed=True)
                found |= {str(container.name) for container in containers}
        # This kind of search goes on where a group of somebody else's goes meanwhile.
        groups = iglob(f"/sys/fs/cgroup/**/agent2/{self.prefix}*", recursive=True)
        return sorted({name for name in found if name.startswith(self.prefix)} | {Path(path).name for path in groups})

    def remove_containers(self) -> None:
        """Those that workers left for the next ones to adopt, of which there are none any more."""
        if self.sandbox != "docker" or not self.prefix:
            return
        with _engine() as client:
            for container in self._containers(client):
                container.remove(force=True, v=True)

    def volumes(self) -> frozenset[str]:
        """Names of the engine's volumes."""
        if self.sandbox != "docker":
            return frozenset()
        with _engine() as client:
            return frozenset(str(volume.name) for volume in client.volumes.list())

    def volumes_used(self) -> frozenset[str]:
        """Of these those that this platform's containers have."""
        if self.sandbox != "docker":
            return frozenset()
        with _engine() as client:
            mounts = [mount for container in self._containers(client) for mount in container.attrs["Mounts"]]
            return frozenset(str(mount["Name"]) for mount in mounts if mount["Type"] == "volume")

    def _containers(self, client: Any) -> list[Any]:
        """This platform's, also those that have ended."""
        return list(client.containers.list(all=True, filters={"name": f"^/?{self.prefix}"}, ignore_removed=True))

    def inside(self, name: str) -> list[psutil.Process]:
        """The processes of one sandbox, without those that only keep it."""
        roots = []
        for process in psutil.process_iter(["cmdline"]):
            if (process.info["cmdline"] or [])[:3] == ["bwrap", "--hostname", name]:
                roots.append(process)
        if self.sandbox == "docker":
            from docker.errors import APIError

            named = {"name": f"^/?{re.escape(name)}$"}
            with _engine() as client:
                for container in client.containers.list(filters=named, ignore_removed=True):
                    # It may end, or one of its processes, between these questions.
                    with contextlib.suppress(APIError, psutil.NoSuchProcess):
                        roots += [psutil.Process(int(row[1])) for row in (container.top()["Processes"] or [])]
        found: dict[int, psutil.Process] = {}
        for root in roots:
            with contextlib.suppress(psutil.NoSuchProcess):
                found |= {each.pid: each for each in (root, *root.children(recursive=True))}
        return [each for each in found.values() if not _keeps(each)]


@contextlib.contextmanager
def _engine() -> Iterator[Any]:
    """A client of Docker's engine."""
    from docker import from_env

    with contextlib.closing(from_env()) as client:
        yield client


def _keeps(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        words = process.cmdline()
        return words[:1] == ["bwrap"] or any(word.endswith("/forwarder.py") for word in words)
    return True


def _command_lines() -> Iterator[list[str]]:
    for process in psutil.process_iter(["cmdline"]):
        yield process.info["cmdline"] or []


@contextlib.contextmanager
def scene(folder: Path, sandbox: str, **more: str) -> Iterator[Scene]:
    """Skips where what it needs is not here. `more`: further settings."""
    with own_services(folder / "services") as services:
        data, temporary = folder / "data", folder / "tmp"
        data.mkdir(parents=True)
        temporary.mkdir()
        extra = services.environment | {
            "TMPDIR": str(temporary),
            "AGENT2_DEPLOYMENT": "production",
            "AGENT2_SECRET_KEY": f"of {data} alone",
            "AGENT2_ALLOWED_HOSTS": "127.0.0.1",
            "AGENT2_LOG_FORMAT": "line",
            "AGENT2_ENGINE": "transformers",
            "AGENT2_DEVICE": "cpu",
            "AGENT2_GRADING_RUNNER": "tests.support.slow_runner.SlowRunner",
            "AGENT2_ADOPT_S": "120",
        }
        extra |= host_python_image(volume=True) if sandbox == "docker" else {"AGENT2_SANDBOX": "bubblewrap"}
        platform = Pools(data, extra | more)
        for parent in (data, folder):
            parent.chmod(0o755)
        at = Scene(platform, services, small_checkpoint(folder / "base"), sandbox)
        try:
            platform.start()
            told = "from benchmark.services.sandboxes import sandbox_name as n; print('NAME', n('', 0)[:-2])"
            at.prefix = platform.manage("shell", "-v0", "-c", told).split("NAME ")[1].strip()
            yield at
        finally:
            platform.stop()
            at.remove_containers()
