"""Control groups: one group per running sandbox, through version 2 or version 1, whichever this host lets us write.

Each kind of limit finds its own controller, so a host that gives us only some of them still enforces those.
Kernel documentation: admin-guide/cgroup-v2.rst and admin-guide/cgroup-v1/.
"""

import contextlib
import os
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmark.sandbox.cgroup_find import Controller
from benchmark.sandbox.contract import Limits, SandboxFault

PERIOD_US = 100_000


def settings_for(controller: Controller, limits: Limits) -> Iterator[tuple[str, str]]:
    """The files to write, in order, with their values."""
    v2 = controller.version == 2
    if controller.kind == "memory" and limits.memory_bytes is not None:
        yield ("memory.max" if v2 else "memory.limit_in_bytes"), str(limits.memory_bytes)
        # Swap would only postpone the limit.
        yield ("memory.swap.max", "0") if v2 else ("memory.memsw.limit_in_bytes", str(limits.memory_bytes))
    if controller.kind == "pids" and limits.processes is not None:
        yield "pids.max", str(limits.processes)
    if controller.kind == "cpu" and limits.cpus is not None:
        quota = max(1000, int(limits.cpus * PERIOD_US))
        if v2:
            yield "cpu.max", f"{quota} {PERIOD_US}"
        else:
            yield "cpu.cfs_period_us", str(PERIOD_US)
            yield "cpu.cfs_quota_us", str(quota)


def counted(path: Path, key: str) -> int:
    """The number after that key in a group's file; 0 where there is none."""
    with contextlib.suppress(OSError):
        for line in path.read_text().splitlines():
            name, _, value = line.partition(" ")
            if name == key:
                return int(value)
    return 0


@dataclass(frozen=True)
class Cgroup:
    """One sandbox's group in each controller's hierarchy (one and the same folder in version 2)."""

    name: str
    controllers: Mapping[str, Controller]

    def _folders(self) -> list[Path]:
        return list(dict.fromkeys(controller.parent / self.name for controller in self.controllers.values()))

    def create(self, limits: Limits) -> None:
        """Make the group with its limits, replacing an empty one that a lost worker left.

        Raises: SandboxFault: processes live under that name, or the kernel refuses.
        """
        if self.pids():
            raise SandboxFault(f"the sandbox {self.name} is still running: reap it before starting it again")
        self.remove()
        try:
            for folder in self._folders():
                folder.mkdir(exist_ok=True)
            for controller in self.controllers.values():
                for file, value in settings_for(controller, limits):
                    path = controller.parent / self.name / file
                    # Kernels without swap accounting lack the swap file.
                    if path.exists():
                        path.write_text(value)
        except OSError as error:
            self.remove()
            raise SandboxFault(f"cannot set up the control group {self.name}: {error}") from error

    def add(self, pid: int) -> None:
        """Raises: OSError: the kernel does not let us move that process."""
        for folder in self._folders():
            (folder / "cgroup.procs").write_text(str(pid))

    def pids(self) -> set[int]:
        found: set[int] = set()
        for folder in self._folders():
            with contextlib.suppress(OSError):
                found.update(int(line) for line in (folder / "cgroup.procs").read_text().split())
        return found

    def out_of_memory_kills(self) -> int:
        controller = self.controllers.get("memory")
        file = "memory.events" if controller and controller.version == 2 else "memory.oom_control"
        return self._counter("memory", file, "oom_kill")

    def forks_refused(self) -> int:
        return self._counter("pids", "pids.events", "max")

    def _counter(self, kind: str, file: str, key: str) -> int:
        controller = self.controllers.get(kind)
        return 0 if controller is None else counted(controller.parent / self.name / file, key)

    def kill(self, timeout_s: float = 30.0) -> None:
        """SIGKILL everything in the group until it is empty.

        Raises: SandboxFault: something outlived `timeout_s`.
        """
        deadline = time.monotonic() + timeout_s
        while pids := self.pids():
            for pid in pids - {0}:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if time.monotonic() > deadline:
                raise SandboxFault(f"processes of {self.name} outlive SIGKILL: {sorted(pids)}")
            time.sleep(0.02)

    def remove(self, timeout_s: float = 10.0) -> None:
        """Remove the empty group. The kernel says busy for a moment after the last process has gone."""
        deadline = time.monotonic() + timeout_s
        for folder in self._folders():
            while folder.is_dir():
                try:
                    folder.rmdir()
                except OSError:
                    if time.monotonic() > deadline:
                        return
                    time.sleep(0.02)
