"""Sandboxes by bubblewrap: unprivileged namespaces, no daemon, no image. Linux only.

`start` and the `wait`s that follow belong in one thread that lives as long as the sandbox: the kernel ends a
`--die-with-parent` sandbox when the *thread* that started it ends (prctl(2), PR_SET_PDEATHSIG).
"""

import contextlib
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import psutil

from benchmark.sandbox import inside, limits
from benchmark.sandbox.bubblewrap_args import View, sandbox_args, system_args, unshare_args
from benchmark.sandbox.bubblewrap_running import BubblewrapRunning, Started
from benchmark.sandbox.cgroup import Cgroup
from benchmark.sandbox.cgroup_find import Controller, find_controllers
from benchmark.sandbox.contract import SandboxFault, Spec
from benchmark.sandbox.interpreter import interpreter_folders, outermost
from benchmark.sandbox.output import Output

GIB = 1 << 30
PROGRAM = "bwrap"
ETC_FILES = {"passwd": inside.PASSWD, "group": inside.GROUP, "hosts": inside.HOSTS, "nsswitch.conf": inside.NSSWITCH}


class BubblewrapSandbox:
    """See the module; `read_only` are an operator's extra host paths, shown at the same path inside."""

    kind = "bubblewrap"
    isolates = True

    def __init__(
        self,
        *,
        python: str = sys.executable,
        read_only: Sequence[Path] = (),
        tmp_bytes: int = 2 * GIB,
        control_groups: bool = True,
    ) -> None:
        self.python = python
        self.control_groups = control_groups
        """Whether to use those that this host lets us write; without, limits are kept by looking."""
        self.read_only = read_only
        self.tmp_bytes = tmp_bytes
        """Size of each of /tmp, HOME and /dev/shm, which live in memory and count as such."""

    def _view(self) -> View:
        folders = outermost([*interpreter_folders(self.python), *self.read_only])
        return View(self.python, folders, self.tmp_bytes, nested_users=not _forbids_nested_users())

    def _controllers(self) -> Mapping[str, Controller]:
        return find_controllers() if self.control_groups else {}

    def means(self) -> dict[str, str]:
        """How each limit is enforced on this host."""
        return limits.means(self._controllers())

    def unavailable(self) -> str | None:
        if shutil.which(PROGRAM) is None:
            return "Bubblewrap is not installed: `apt install bubblewrap`."
        try:
            view = self._view()
            trial = [PROGRAM, *unshare_args(view), *system_args(), "--", "/usr/bin/true"]
            done = subprocess.run(trial, capture_output=True, text=True, timeout=30, check=False)
        except (OSError, subprocess.SubprocessError, SandboxFault) as error:
            return f"Bubblewrap does not work here: {error}."
        if done.returncode == 0:
            return None
        return f"Bubblewrap cannot make namespaces here; allow unprivileged user namespaces: {done.stderr.strip()}."

    def start(self, spec: Spec) -> BubblewrapRunning:
        command = inside.forwarded_command(spec, python=self.python) if spec.socket else list(spec.command)
        args = sandbox_args(self._view(), spec)
        group = self._group(spec.name)
        writable = [mount.source for mount in spec.mounts if not mount.read_only]
        watch = limits.LimitWatch(spec.limits, group=group, folders=writable)
        if group is not None:
            group.create(spec.limits)
        try:
            watch.output = Output(spec.log_path, spec.log_bytes)
            started = Started.launch(
                [PROGRAM, "--hostname", hostname(spec.name)], args, ETC_FILES, command, watch.output
            )
        except BaseException:
            if group is not None:
                group.remove()
            raise
        running = BubblewrapRunning(spec.name, started, watch)
        try:
            private = [f"/proc/{started.init_pid}/root{target}" for target in inside.private_targets(spec)]
            watch.begin([started.process.pid, started.init_pid], private)
            started.release()
        except BaseException:
            running.stop(0)
            raise
        return running

    def _group(self, name: str) -> Cgroup | None:
        controllers = self._controllers()
        return Cgroup(hostname(name), controllers) if controllers else None

    def adopt(self, spec: Spec) -> None:
        """Nothing: they end with the thread that started them."""
        return

    def names(self) -> Sequence[str]:
        """Those with a control group: processes end with the thread that started them, groups stay."""
        parents = {controller.parent for controller in self._controllers().values()}
        return sorted({path.name for parent in parents for path in parent.iterdir() if path.is_dir()})

    def reap(self, name: str) -> None:
        for process in psutil.process_iter(["cmdline"]):
            cmdline = process.info["cmdline"] or []
            if cmdline[:3] == [PROGRAM, "--hostname", hostname(name)]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
        group = self._group(name)
        if group is not None:
            group.kill()
            group.remove()


def hostname(name: str) -> str:
    """The sandbox's host name and its control group's: by it a leftover is recognised."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", name):
        raise SandboxFault(f"not a sandbox's name: {name!r}")
    return name


@cache
def _forbids_nested_users() -> bool:
    """Bubblewrap before 0.8 has no `--disable-userns`."""
    done = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, timeout=30, check=False)
    return "--disable-userns" in done.stdout + done.stderr
