"""Keeps one sandbox within its limits on this host: control groups where writable, else looking once a second."""

import contextlib
import math
import os
import random
import resource
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from benchmark.sandbox.cgroup import Cgroup
from benchmark.sandbox.cgroup_find import Controller
from benchmark.sandbox.contract import Exit, Limits, SandboxFault
from benchmark.sandbox.disk import Held, filesystem_held, trees_held
from benchmark.sandbox.output import Output

LOOK_S = 1.0
DISK_S = 3.0
DISK_SHARE = 20
"""The next walk is at least this many times the last one's duration away: at most 5 % of one core."""
KILLED = 137
FILE_TOO_LARGE = 128 + 25


def means(controllers: Mapping[str, Controller]) -> dict[str, str]:
    """How each limit is enforced on this host, in words for the operator's page."""

    def one(kind: str, otherwise: str) -> str:
        controller = controllers.get(kind)
        return f"control groups, version {controller.version}" if controller else otherwise

    return {
        "memory": one("memory", f"measured every {LOOK_S:g} s"),
        "processes": one("pids", f"counted every {LOOK_S:g} s"),
        "cpus": one("cpu", "CPU affinity, which the command can undo"),
        "disk": f"bytes and files measured every {DISK_S:g} s, and a limit on each file's size",
    }


class LimitWatch:
    """The limits of one started command. `begin` once, `exceeded` again and again, `ended_as` at the end."""

    def __init__(self, limits: Limits, *, group: Cgroup | None, folders: Sequence[Path]) -> None:
        """`folders`: what counts as disk, apart from the private file systems given to `begin`."""
        self.limits = limits
        self.group = group
        self.folders = folders
        self.private: Sequence[str] = ()
        self.root: psutil.Process | None = None
        self.hits: set[str] = set()
        """See `Running.hits`."""
        self.told: Sequence[tuple[Held, bool]] = ()
        """As `filesystem_held`, of private file systems that only others can look at."""
        self.output: Output | None = None
        self.baseline = trees_held(folders) if limits.disk_bytes is not None else Held()
        self._next_look = 0.0
        self._next_walk = time.monotonic() + DISK_S

    def begin(self, pids: Sequence[int], private: Sequence[str] = ()) -> None:
        """Bind the processes, before they start anything themselves; the last pid is the ancestor of everything.

        Raises: SandboxFault: one of them is gone already.
        """
        self.private = private
        try:
            self.root = psutil.Process(pids[-1])
            for pid in pids:
                self._join_group(pid)
            self._limit_resources(pids[-1])
        except (ProcessLookupError, psutil.NoSuchProcess) as error:
            raise SandboxFault("the sandbox ended while it was being set up") from error

    def _join_group(self, pid: int) -> None:
        if self.group is None:
            return
        try:
            self.group.add(pid)
        except ProcessLookupError:
            raise
        except OSError:
            # Writable, but not ours to move processes into: look instead.
            self.group.remove()
            self.group = None

    def _limit_resources(self, pid: int) -> None:
        if self.limits.disk_bytes is not None:
            most = self.baseline.bytes + self.limits.disk_bytes
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))
        if self.limits.cpus is not None and not self._by_group("cpu"):
            allowed = sorted(os.sched_getaffinity(pid))
            wanted = min(len(allowed), math.ceil(self.limits.cpus))
            os.sched_setaffinity(pid, random.sample(allowed, wanted))

    def _by_group(self, kind: str) -> bool:
        return self.group is not None and kind in self.group.controllers

    def exceeded(self) -> str | None:
        """The limit that is broken now and that nobody but us enforces, or None."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + LOOK_S
            if broken := self._look():
                return broken
        if now >= self._next_walk:
            broken = self._disk()
            took = time.monotonic() - now
            self._next_walk = time.monotonic() + max(DISK_S, DISK_SHARE * took)
            return broken
        return None

    def _look(self) -> str | None:
        memory = None if self._by_group("memory") else self.limits.memory_bytes
        processes = None if self._by_group("pids") else self.limits.processes
        if self.root is None or (memory is None and processes is None):
            return None
        try:
            family = [self.root, *self.root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return None
        if processes is not None and len(family) > processes:
            return "processes"
        if memory is not None and sum(map(_memory_bytes, family)) > memory:
            return "memory"
        return None

    def _disk(self) -> str | None:
        private = [*map(filesystem_held, self.private), *self.told]
        if any(full for _, full in private):
            self.hits.add("tmp")
        if self.limits.disk_bytes is None:
            return None
        grown = sum((held for held, _ in private), trees_held(self.folders) - self.baseline)
        return "disk" if grown.reaches(self.limits.disk_bytes) else None

    def note(self, forks_refused: int, private: Sequence[tuple[Held, bool]]) -> None:
        """What somebody saw who can look into a group and at file systems that are not ours to look at."""
        if forks_refused:
            self.hits.add("processes")
        if any(full for _, full in private):
            self.hits.add("tmp")
        self.told = private

    def end_output(self) -> None:
        """After the end: until the log is whole."""
        if self.output is not None:
            self.output.end()
            if self.output.flooded:
                self.hits.add("log")

    def close(self) -> None:
        """After the end: kill what may be left in the group, and remove it."""
        if self.group is not None:
            self.group.kill()
            if self.group.out_of_memory_kills():
                self.hits.add("memory")
            if self.group.forks_refused():
                self.hits.add("processes")
            self.group.remove()

    def ended_as(self, code: int) -> Exit:
        """The exit of a command that ended by itself: an unhappy end right after a limit was hit is that limit's."""
        if code == 0:
            return Exit(code)
        if self.group is not None and self.group.out_of_memory_kills():
            return Exit(code, "memory")
        if self.group is not None and self.group.forks_refused():
            return Exit(code, "processes")
        if code == FILE_TOO_LARGE or self._disk():
            return Exit(code, "disk")
        return Exit(code)


def _memory_bytes(process: psutil.Process) -> int:
    """Proportional set size: shared pages count once over all sharers."""
    with contextlib.suppress(psutil.Error):
        return int(process.memory_full_info().pss)
    return 0
