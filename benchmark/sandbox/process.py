"""No isolation: a plain process for trusted code, such as the shipped fakes and an operator's own recipes.

Nothing is mounted, so paths inside are the host's. What is kept: a clean environment, a session of its own, the
limits, and that nothing outlives the command, its stop, or the supervisor's death.
"""

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import psutil

from benchmark.sandbox import inside, limits
from benchmark.sandbox.cgroup import Cgroup
from benchmark.sandbox.cgroup_find import find_controllers
from benchmark.sandbox.contract import Exit, SandboxFault, Spec
from benchmark.sandbox.output import Output
from benchmark.sandbox.running import DEATH_S, WatchedRunning

KEEPER = Path(__file__).with_name("keeper.py")
MARK, OURS = "AGENT2_SANDBOX", "agent2"


class ProcessSandbox:
    """See the module."""

    kind = "process"
    isolates = False

    def __init__(self, *, python: str = sys.executable) -> None:
        self.python = python

    def means(self) -> dict[str, str]:
        """How each limit is enforced on this host."""
        return limits.means(find_controllers())

    def unavailable(self) -> str | None:
        return None

    def start(self, spec: Spec) -> "ProcessRunning":
        for mount in spec.mounts:
            if not mount.source.exists():
                raise SandboxFault(f"nothing to show at {mount.target}: {mount.source} does not exist")
            if str(mount.source.absolute()) != str(mount.target):
                raise SandboxFault(f"without isolation nothing is mounted: {mount.source} cannot be at {mount.target}")
        controllers = find_controllers()
        group = Cgroup(spec.name, controllers) if controllers else None
        home = Path(tempfile.mkdtemp(prefix=f"{spec.name}-"))
        writable = [mount.source for mount in spec.mounts if not mount.read_only]
        watch = limits.LimitWatch(spec.limits, group=group, folders=[home, *writable])
        try:
            if group is not None:
                group.create(spec.limits)
            watch.output = Output(spec.log_path, spec.log_bytes)
            process, lifeline = self._launch(spec, home, watch.output)
        except BaseException:
            shutil.rmtree(home, ignore_errors=True)
            raise
        running = ProcessRunning(spec.name, process, lifeline, watch, home)
        try:
            watch.begin([process.pid])
            os.write(lifeline, b"1")
        except BaseException:
            running.stop(0)
            raise
        return running

    def _launch(self, spec: Spec, home: Path, output: Output) -> tuple["subprocess.Popen[bytes]", int]:
        for folder in ("home", "tmp"):
            (home / folder).mkdir()
        base = inside.base_environment(self.python, str(home / "home"), str(home / "tmp"))
        read_fd, write_fd = os.pipe()
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", str(KEEPER), str(read_fd), "--", *self._command(spec)],
                pass_fds=[read_fd],
                stdin=subprocess.DEVNULL,
                stdout=output.fd,
                stderr=output.fd,
                env={**base, MARK: spec.name, **spec.env},
                cwd=str(home / "tmp") if spec.workdir == inside.TMP else str(spec.workdir),
                start_new_session=True,
            )
        except OSError as error:
            os.close(write_fd)
            raise SandboxFault(f"cannot start the process: {error}") from error
        finally:
            output.handed_over()
            os.close(read_fd)
        return process, write_fd

    def _command(self, spec: Spec) -> Sequence[str]:
        if spec.socket is None:
            return spec.command
        # Any free port: several such commands share the host's loopback.
        script = str(inside.FORWARDER_SOURCE)
        return inside.forwarded_command(spec, python=self.python, script=script, socket=str(spec.socket), port=0)

    def adopt(self, spec: Spec) -> None:
        """Nothing: they end with the thread that started them."""
        return

    def names(self) -> Sequence[str]:
        """Those with a folder: processes end with the thread that started them, folders stay."""
        found = Path(tempfile.gettempdir()).glob(f"{OURS}-*-*/")
        return sorted({path.name.rpartition("-")[0] for path in found if path.lstat().st_uid == os.getuid()})

    def reap(self, name: str) -> None:
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.environ().get(MARK) == name and process.pid != os.getpid():
                    process.kill()
        for folder in Path(tempfile.gettempdir()).glob(f"{name}-*/"):
            if folder.name.rpartition("-")[0] == name:
                shutil.rmtree(folder, ignore_errors=True)


class ProcessRunning(WatchedRunning):
    """One running command; made by `ProcessSandbox.start`."""

    def __init__(
        self, name: str, process: "subprocess.Popen[bytes]", lifeline: int, watch: limits.LimitWatch, home: Path
    ) -> None:
        super().__init__(name, watch)
        self._process = process
        self._lifeline = lifeline
        self._home = home
        self._pidfd = os.pidfd_open(process.pid)

    def _ended_within(self, seconds: float) -> bool:
        return bool(select.select([self._pidfd], [], [], seconds)[0])

    def _descendants(self) -> list[psutil.Process]:
        with contextlib.suppress(psutil.NoSuchProcess):
            return list(psutil.Process(self._process.pid).children(recursive=True))
        return []

    def _ask_to_end(self) -> None:
        for process in self._descendants():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGTERM)

    def _finish(self, *, exceeded: str | None = None, stopped: bool = False) -> Exit:
        """Closing the lifeline makes the keeper kill everything; if it cannot any more, we do."""
        family = self._descendants()
        os.close(self._lifeline)
        if not self._ended_within(DEATH_S):
            for process in [*family, *self._descendants()]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            self._process.kill()
        code = self._process.wait(DEATH_S)
        code = code if code >= 0 else 128 - code
        ended = Exit(code, exceeded) if exceeded or stopped else self._watch.ended_as(code)
        self._watch.end_output()
        self._watch.close()
        os.close(self._pidfd)
        shutil.rmtree(self._home, ignore_errors=True)
        return ended
