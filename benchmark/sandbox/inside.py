"""What every sandbox looks like from the inside: fixed paths, the base environment, the wrapped command."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from benchmark.sandbox.contract import FORWARD_PORT, PRIVATE_TMP, Spec

HOME = PurePosixPath("/home/agent")
TMP = PRIVATE_TMP
SHM = PurePosixPath("/dev/shm")  # noqa: S108 - inside
SOCKET_FOLDER = PurePosixPath("/run/agent2/gateway")
"""The folder and not the socket is mounted: a socket that is made anew at its place is seen inside."""
FORWARDER = PurePosixPath("/run/agent2/forwarder.py")
FORWARDER_SOURCE = Path(__file__).with_name("forwarder.py")
UID = 1000

PASSWD = f"root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:{UID}:{UID}:agent:{HOME}:/bin/bash\n"
GROUP = f"root:x:0:\nagent:x:{UID}:\n"
HOSTS = "127.0.0.1 localhost\n"
NSSWITCH = "passwd: files\ngroup: files\nhosts: files\n"


def base_environment(python: str, home: str = str(HOME), tmp: str = str(TMP)) -> dict[str, str]:
    """The variables that a sandbox sets itself; a spec's `env` comes on top."""
    system = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return {
        "PATH": f"{PurePosixPath(python).parent}:{system}" if "/" in python else system,
        "HOME": home,
        "TMPDIR": tmp,
        "LANG": "C.UTF-8",
        "USER": "agent",
        "LOGNAME": "agent",
    }


def forwarded_command(
    spec: Spec,
    *,
    python: str,
    script: str = str(FORWARDER),
    socket: str = "",
    port: int = FORWARD_PORT,
    flags: Sequence[str] = (),
) -> list[str]:
    """The spec's command behind the forwarder, which fills in `{gateway}` and passes signals and the exit code."""
    options = []
    if spec.socket is not None:
        options = ["--socket", socket or str(SOCKET_FOLDER / spec.socket.name), "--port", str(port)]
    return [python, "-I", script, *options, *flags, "--", *spec.command]


def covers(spec: Spec, target: PurePosixPath) -> bool:
    """Whether one of the spec's own mounts is shown at exactly `target`."""
    return any(mount.target == target for mount in spec.mounts)


def private_targets(spec: Spec) -> list[PurePosixPath]:
    """Where a sandbox gets memory-backed folders of its own, unless the spec mounts something there."""
    return [target for target in (TMP, HOME, SHM) if not covers(spec, target)]
