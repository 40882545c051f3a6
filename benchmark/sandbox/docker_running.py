"""A started container: its output copied by one thread, its end awaited by another, its limits watched by `wait`."""

import contextlib
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import requests
from docker.errors import DockerException, NotFound
from docker.models.containers import Container
from docker.types import CancellableStream

from benchmark.sandbox import inside
from benchmark.sandbox.contract import Exit, SandboxFault, Spec, Usage
from benchmark.sandbox.docker_engine import hang_up
from benchmark.sandbox.docker_watching import watch_inside
from benchmark.sandbox.limits import KILLED, LimitWatch
from benchmark.sandbox.output import DRAIN_S, KeptLog
from benchmark.sandbox.running import WatchedRunning
from docker import DockerClient

ENGINE_ERRORS = (DockerException, requests.RequestException)
ENGINE_DEATH_S = 60.0


class DockerRunning(WatchedRunning):
    """One container; made by `DockerSandbox.start`."""

    def __init__(self, spec: Spec, client: DockerClient, container: Container, watch: LimitWatch) -> None:
        super().__init__(spec.name, watch)
        self._client = client
        self._container = container
        self._log_path, self._log_bytes = spec.log_path, spec.log_bytes
        self._private = inside.private_targets(spec)
        self._ended, self._left, self._over = threading.Event(), threading.Event(), threading.Event()
        self._code: int | None = None
        self._logger: threading.Thread | None = None
        self._pid: int | None = None

    @property
    def root_pid(self) -> int | None:
        return self._pid

    def usage(self) -> Usage | None:
        """As the engine counts: a worker in a container of its own sees no other process."""
        with contextlib.suppress(*ENGINE_ERRORS):
            return usage_told(self._client.api.stats(str(self._container.id), stream=False, one_shot=True))
        return Usage()

    def begin(self) -> None:
        """Attach first, then start: a command that ends at once has its output copied all the same."""
        stream = self._client.api.attach(str(self._container.id), stdout=True, stderr=True, stream=True, logs=False)
        self._logger = threading.Thread(target=self._copy_output, args=(stream,), daemon=True)
        self._logger.start()
        self._container.start()
        threading.Thread(target=self._await_end, daemon=True).start()
        self._look_inside()

    def _look_inside(self) -> None:
        self._container.reload()
        pid = self._container.attrs["State"]["Pid"]
        # A worker in a container of its own counts processes differently: this number would be another's.
        self._pid = int(pid) or None if _is_ours(pid, str(self._container.id)) else None
        threading.Thread(target=self._watch_inside, daemon=True).start()

    def _watch_inside(self) -> None:
        watch_inside(self._client, self._container, folders=self._private, watch=self._watch, over=self._over)

    def begin_again(self) -> None:
        """Of a container that another worker started: its log goes on where that worker stopped writing it."""
        written = self._log_path.stat().st_size if self._log_path is not None and self._log_path.exists() else 0
        stream = self._container.logs(stdout=True, stderr=True, stream=True, follow=True)
        self._logger = threading.Thread(target=self._copy_output, args=(stream, written), daemon=True)
        self._logger.start()
        threading.Thread(target=self._await_end, daemon=True).start()
        self._look_inside()

    def leave(self) -> bool:
        """The engine keeps the container; what it prints from now on is found by whoever adopts it."""
        self._left.set()
        self._over.set()
        return True

    def _copy_output(self, stream: "CancellableStream[bytes]", written: int = 0) -> None:
        """Without its first `written` bytes."""
        try:
            log = KeptLog(self._log_path, self._log_bytes)
            with contextlib.closing(log), contextlib.suppress(*ENGINE_ERRORS, OSError, ValueError):
                for chunk in _after(stream, written):
                    if self._left.is_set():
                        return
                    log.write(chunk)
                    if log.flooded:
                        self._watch.hits.add("log")
        finally:
            hang_up(stream)

    def _await_end(self) -> None:
        """One long request instead of many short ones; asked again when it breaks off while the container lives."""
        while not self._ended.is_set():
            try:
                self._code = int(self._container.wait(timeout=3600)["StatusCode"])
                break
            except NotFound:
                break
            except ENGINE_ERRORS:
                time.sleep(1)
        self._ended.set()
        self._over.set()

    def _ended_within(self, seconds: float) -> bool:
        return self._ended.wait(seconds)

    def _ask_to_end(self) -> None:
        self._kill("SIGTERM")

    def _kill(self, signal: str) -> None:
        # A container that has just ended answers with a conflict.
        with contextlib.suppress(*ENGINE_ERRORS):
            self._container.kill(signal)

    def _finish(self, *, exceeded: str | None = None, stopped: bool = False) -> Exit:
        by_itself = self._ended.is_set()
        try:
            if not by_itself:
                self._kill("SIGKILL")
                if not self._ended.wait(ENGINE_DEATH_S):
                    raise SandboxFault(f"the container {self.name} outlives SIGKILL")
            if self._logger is not None:
                self._logger.join(DRAIN_S)
            return self._ended_as(exceeded, by_itself=by_itself, stopped=stopped)
        finally:
            self._ended.set()
            self._over.set()
            with contextlib.suppress(*ENGINE_ERRORS):
                self._container.remove(force=True, v=True)

    def _ended_as(self, exceeded: str | None, *, by_itself: bool, stopped: bool) -> Exit:
        with contextlib.suppress(*ENGINE_ERRORS):
            self._container.reload()
            if self._container.attrs["State"]["OOMKilled"]:
                self._watch.hits.add("memory")
        if not by_itself:
            return Exit(KILLED, exceeded)
        if self._code is None:
            self._exit = Exit(KILLED)
            raise SandboxFault(f"the container {self.name} was lost")
        if stopped:
            return Exit(self._code)
        if self._code != 0 and "memory" in self._watch.hits:
            return Exit(self._code, "memory")
        return self._watch.ended_as(self._code)


def _after(stream: Iterable[bytes], written: int) -> Iterator[bytes]:
    """The stream without its first `written` bytes."""
    for chunk in stream:
        if written < len(chunk):
            yield chunk[written:]
        written = max(0, written - len(chunk))


def usage_told(stats: Mapping[str, Any]) -> Usage:
    """From the engine's answer; memory without the file cache that the kernel gives up first, as `docker stats` does.

    Docker's API, ContainerStats; docker/cli, cli/command/container/stats_helpers.go.
    """
    memory, counted = stats.get("memory_stats") or {}, (stats.get("cpu_stats") or {}).get("cpu_usage") or {}
    used, parts = memory.get("usage"), memory.get("stats") or {}
    cache = parts.get("total_inactive_file", parts.get("inactive_file", 0))
    spent = counted.get("total_usage")
    return Usage(
        # What has ended is told with zeros.
        cpu_s=spent / 1e9 if spent else None,
        memory_bytes=used - cache if used and cache < used else used or None,
        processes=(stats.get("pids_stats") or {}).get("current") or None,
    )


def _is_ours(pid: int, container: str) -> bool:
    """Whether that process on this host, as this worker counts processes, belongs to that container."""
    with contextlib.suppress(OSError):
        return container in Path(f"/proc/{pid}/cgroup").read_text()
    return False
