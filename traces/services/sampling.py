"""What a run's sandbox uses: as its engine counts, else by its control group, else by its processes."""

import contextlib
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from django.utils import timezone

from benchmark.sandbox.contract import Running
from benchmark.sandbox.disk import tree_bytes
from benchmark.services.gpus import gpus
from traces.models import ResourceSample

WALK_SHARE = 20
"""The next walk over the workspace is at least this many times the last one's duration away."""
CGROUP_ROOT = Path("/sys/fs/cgroup")


@dataclass
class Sampler:
    """`take` stores one look. `running`: None before the agent was started."""

    run_id: int
    workspace: Path
    running: Running | None = None
    _cpu: dict[object, float] = field(default_factory=dict)
    _at: float = 0.0
    _disk: int | None = None
    _next_walk: float = 0.0

    def take(self) -> ResourceSample:
        """Raises: DatabaseError."""
        used = self._used()
        return ResourceSample.objects.create(
            run_id=self.run_id, at=timezone.now(), disk_bytes=self._disk_bytes(), gpus=gpus(), **used
        )

    def _used(self) -> dict[str, Any]:
        if self.running is None:
            return {}
        if (told := self.running.usage()) is not None:
            cpus = None if told.cpu_s is None else self._cores({"engine": told.cpu_s})
            return {"processes": told.processes, "memory_bytes": told.memory_bytes, "cpus": cpus}
        return {} if (pid := self.running.root_pid) is None else self._looked_at(pid)

    def _looked_at(self, pid: int) -> dict[str, Any]:
        try:
            root = psutil.Process(pid)
            family = [root, *root.children(recursive=True)]
        except psutil.Error:
            return {}
        group = own_group(pid)
        memory = _number(group / "memory.current") if group else None
        spent = {group: cpu_of_group(group)} if group and (group / "cpu.stat").exists() else _cpu_of(family)
        return {
            "processes": len(family),
            "memory_bytes": memory if memory is not None else sum(map(_memory_of, family)),
            "cpus": self._cores(spent),
        }

    def _cores(self, spent: dict[Any, float]) -> float | None:
        """Core-seconds since the last look over its age. What began and ended in between is not seen by processes."""
        now, before, at = time.monotonic(), self._cpu, self._at
        self._cpu, self._at = dict(spent), now
        if not at or now <= at:
            return None
        return sum(max(0.0, seconds - before.get(key, 0.0)) for key, seconds in spent.items()) / (now - at)

    def _disk_bytes(self) -> int | None:
        began = time.monotonic()
        if began >= self._next_walk:
            self._disk = tree_bytes(self.workspace)
            self._next_walk = time.monotonic() + WALK_SHARE * (time.monotonic() - began)
        return self._disk


def own_group(pid: int) -> Path | None:
    """The version 2 control group of a process, unless this process is in it too."""
    with contextlib.suppress(OSError):
        theirs, ours = (_group_of(Path(f"/proc/{who}/cgroup")) for who in (pid, "self"))
        if theirs and theirs != ours:
            return CGROUP_ROOT / theirs.lstrip("/")
    return None


def _group_of(path: Path) -> str:
    lines = path.read_text().splitlines()
    return next((line[3:] for line in lines if line.startswith("0::")), "")


def cpu_of_group(group: Path) -> float:
    """Core-seconds that a version 2 group has used. Raises: OSError."""
    rows = dict(line.split(" ", 1) for line in (group / "cpu.stat").read_text().splitlines())
    return int(rows["usage_usec"]) / 1e6


def _number(path: Path) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        return int(path.read_text())
    return None


def _cpu_of(family: list[psutil.Process]) -> dict[Any, float]:
    found = {}
    for process in family:
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            found[(process.pid, process.create_time())] = times.user + times.system
    return found


def _memory_of(process: psutil.Process) -> int:
    """Proportional set size, so that shared pages count once over all sharers; else the resident set."""
    with contextlib.suppress(psutil.Error):
        return int(process.memory_full_info().pss)
    with contextlib.suppress(psutil.Error):
        return int(process.memory_info().rss)
    return 0
