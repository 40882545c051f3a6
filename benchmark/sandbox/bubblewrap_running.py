"""A started bubblewrap: two processes outside (ours and its PID 1), everything else inside their PID namespace."""

import contextlib
import json
import os
import select
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import psutil

from benchmark.sandbox.contract import Exit, SandboxFault
from benchmark.sandbox.limits import KILLED, LimitWatch
from benchmark.sandbox.output import Output
from benchmark.sandbox.running import DEATH_S, WatchedRunning
from benchmark.sandbox.seccomp import seccomp_filter


@dataclass
class Started:
    """Bubblewrap with its namespaces, held before the command's start until `release`."""

    process: "subprocess.Popen[bytes]"
    init_pid: int
    init_fd: int
    """A pidfd of PID 1. It turns readable when that has ended, which is after everything in its namespace has."""
    status_fd: int
    gate_fd: int

    @classmethod
    def launch(
        cls,
        program: Sequence[str],
        args: Sequence[str],
        files: Mapping[str, str],
        command: Sequence[str],
        output: Output,
    ) -> "Started":
        """Options travel through a file descriptor: they hold tokens, and a command line is everybody's to read.

        Raises: SandboxFault: bubblewrap could not make the namespaces.
        """
        gate_read, gate_write = os.pipe()
        status_read, status_write = os.pipe()
        memory = {name: memory_file(text.encode()) for name, text in files.items()}
        # Before everything else, because the root is made read-only among the options.
        placed = [part for name, fd in memory.items() for part in ("--file", str(fd), f"/etc/{name}")]
        options = memory_file(b"".join(arg.encode() + b"\0" for arg in [*placed, *args]))
        theirs = [gate_read, status_write, options, *memory.values()]
        descriptors = ["--block-fd", gate_read, "--json-status-fd", status_write, "--args", options]
        if denied := seccomp_filter():
            theirs.append(memory_file(denied))
            descriptors += ["--seccomp", theirs[-1]]
        try:
            process = subprocess.Popen(
                [*program, *map(str, descriptors), "--", *command],
                pass_fds=theirs,
                stdin=subprocess.DEVNULL,
                stdout=output.fd,
                stderr=output.fd,
                env={"PATH": os.environ.get("PATH", os.defpath)},
            )
        except OSError as error:
            os.close(gate_write)
            os.close(status_read)
            raise SandboxFault(f"cannot start bubblewrap: {error}") from error
        finally:
            output.handed_over()
            for fd in theirs:
                os.close(fd)
        return cls._connected(process, status_read, gate_write, output)

    @classmethod
    def _connected(cls, process: "subprocess.Popen[bytes]", status_fd: int, gate_fd: int, output: Output) -> "Started":
        text = b""
        while b"\n" not in text and (more := os.read(status_fd, 4096)):
            text += more
        try:
            init_pid = int(json.loads(text.partition(b"\n")[0])["child-pid"])
            return cls(process, init_pid, os.pidfd_open(init_pid), status_fd, gate_fd)
        except (ValueError, KeyError, OSError) as error:
            process.kill()
            process.wait()
            output.end()
            os.close(status_fd)
            os.close(gate_fd)
            raise SandboxFault("bubblewrap could not set the sandbox up; the run's log has its words") from error

    def release(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(self.gate_fd, b"1")

    def command_ran(self) -> bool:
        """After the end: whether it came as far as the command. Bubblewrap reports an exit code only then."""
        text = b""
        while more := os.read(self.status_fd, 4096):
            text += more
        return b"exit-code" in text

    def close(self) -> None:
        for fd in (self.init_fd, self.status_fd, self.gate_fd):
            os.close(fd)


class BubblewrapRunning(WatchedRunning):
    """One running command; made by `BubblewrapSandbox.start`."""

    def __init__(self, name: str, started: Started, watch: LimitWatch) -> None:
        super().__init__(name, watch)
        self._started = started

    def _ended_within(self, seconds: float) -> bool:
        # PID 1 goes last: it is killed as soon as bubblewrap itself has reported the command's end.
        if not select.select([self._started.init_fd], [], [], seconds)[0]:
            return False
        self._started.process.wait(DEATH_S)
        return True

    def _ask_to_end(self) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            for process in psutil.Process(self._started.init_pid).children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.send_signal(signal.SIGTERM)

    def _finish(self, *, exceeded: str | None = None, stopped: bool = False) -> Exit:
        started = self._started
        by_itself = started.process.poll() is not None
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(started.init_fd, signal.SIGKILL)
        if not select.select([started.init_fd], [], [], DEATH_S)[0]:
            raise SandboxFault(f"the processes of {self.name} outlive SIGKILL")
        code = started.process.wait(DEATH_S)
        try:
            if not by_itself:
                return Exit(KILLED, exceeded)
            if stopped:
                return Exit(code)
            if code < 0:
                # Somebody killed bubblewrap, and with it all inside: the command ended by that signal.
                return self._watch.ended_as(128 - code)
            if not started.command_ran():
                self._exit = Exit(code)
                raise SandboxFault("the sandbox ended before its command started; the log says why")
            return self._watch.ended_as(code)
        finally:
            self._watch.end_output()
            started.close()
            self._watch.close()


def memory_file(content: bytes) -> int:
    fd = os.memfd_create("sandbox")
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
