"""The sandbox protocol: how untrusted code runs.

Implementations: `bubblewrap`, `docker`; `process` for trusted code only. Inside there is no network at all. Where
`Spec.socket` is given, the folder of that host UNIX socket is mounted and a forwarder presents it to the command as
`http://127.0.0.1:<FORWARD_PORT>` (in `process`: some free port). `{gateway}` in the values of `Spec.env` becomes that
URL, so the command learns it without knowing the kind. The sandbox has its own PID namespace, a private
`/tmp` and HOME, `/proc`, `/dev`, and sees only the given mounts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Protocol

FORWARD_PORT = 8900
LOG_BYTES = 1 << 30
PRIVATE_TMP = PurePosixPath("/tmp")  # noqa: S108 - inside, where it is the sandbox's own


class SandboxFault(Exception):
    """Ours: the sandbox could not be started or kept. Retried, never scored; the message says what to do."""


@dataclass(frozen=True)
class Mount:
    """A host file or folder shown inside at `target`."""

    source: Path
    target: PurePosixPath
    read_only: bool = True


@dataclass(frozen=True)
class Limits:
    """What everything inside may use together. None: no limit of that kind."""

    cpus: float | None = None
    memory_bytes: int | None = None
    processes: int | None = None
    disk_bytes: int | None = None
    """Bytes that the writable mounts may grow by, `/tmp` and HOME included; and as many files as belong to them."""


@dataclass(frozen=True)
class Spec:
    """One command to run inside."""

    name: str
    """Unique and stable, such as `run-17`; Docker's container name and label, and the cgroup's name."""
    command: Sequence[str]
    mounts: Sequence[Mount] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    """The whole environment apart from PATH, HOME, TMPDIR, LANG and USER, which the sandbox sets; `{gateway}` in it is
    filled in when there is a `socket`."""
    workdir: PurePosixPath = PRIVATE_TMP
    limits: Limits = Limits()
    gpus: Sequence[str] = ()
    """Numbers such as `0`, or the one word `all`; Docker also takes UUIDs."""
    socket: Path | None = None
    """In a folder of its own: all of that is shown inside, read-only."""
    log_path: Path | None = None
    """Where raw stdout and stderr, merged, are appended to; created if absent."""
    log_bytes: int = LOG_BYTES
    """How large the log may become. What is printed beyond is lost, and the command goes on."""


@dataclass(frozen=True)
class Exit:
    """How the command ended: its code (128 + signal when killed) and which limit ended it, if one did."""

    code: int
    exceeded: str | None = None
    """`memory`, `disk`, `processes`, or None."""


@dataclass(frozen=True)
class Usage:
    """What everything inside uses together, as whoever isolates it counts. None is unknown."""

    cpu_s: float | None = None
    """Core-seconds since the start."""
    memory_bytes: int | None = None
    processes: int | None = None


class Running(Protocol):
    """A started command."""

    @property
    def root_pid(self) -> int | None:
        """The ancestor of everything inside, on this host; None where it is not known."""
        ...

    @property
    def hits(self) -> frozenset[str]:
        """What it ran into on its way without being ended for it, as far as it can be seen; whole after the end.

        `memory`: a process was killed; `processes`: a fork was refused; `tmp`: a folder in memory was full; `log`: it
        printed more than is kept; `sigterm`: it did not end when asked to.
        """
        ...

    def usage(self) -> Usage | None:
        """What it uses now; None: nobody counts for us, so look at the processes below `root_pid`."""
        ...

    def wait(self, timeout_s: float) -> Exit | None:
        """The exit, or None when `timeout_s` passed first. Enforces the limits while it waits.

        Raises: SandboxFault: the sandbox was lost, or failed before the command started.
        """
        ...

    def leave(self) -> bool:
        """Let go of it without ending it, for another worker to adopt. False: it would end with this one."""
        ...

    def stop(self, grace_s: float = 2.0) -> Exit:
        """End everything inside: SIGTERM, after `grace_s` SIGKILL. Returns when nothing of it is alive. Idempotent."""
        ...


class Sandbox(Protocol):
    """One way to isolate. `kind` is `bubblewrap`, `docker` or `process`."""

    kind: str
    isolates: bool
    """Whether untrusted code may run in it. False for `process`."""
    python: str
    """The Python interpreter inside, with the runner's and the example agent's packages."""

    def unavailable(self) -> str | None:
        """None when it works here, else one sentence that says what to install or set."""
        ...

    def start(self, spec: Spec) -> Running:
        """Start the command. Whoever starts it also waits, in the same thread: it ends when that thread does.

        Raises: SandboxFault.
        """
        ...

    def adopt(self, spec: Spec) -> Running | None:
        """Take over what a worker that is gone had started under this spec's name; None where nothing can be.

        Of the spec, the name, the limits, the mounts and the log's path count. Raises: SandboxFault.
        """
        ...

    def reap(self, name: str) -> None:
        """End and remove whatever a lost worker left behind under that name. Nothing there is not an error."""
        ...

    def names(self) -> Sequence[str]:
        """Of all sandboxes of this kind on this host, also of those that a lost worker left anything of.

        Raises: SandboxFault.
        """
        ...
