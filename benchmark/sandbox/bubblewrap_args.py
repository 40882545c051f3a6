"""The options given to bubblewrap for one spec: everything the command can see is listed here."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from benchmark.sandbox import inside
from benchmark.sandbox.contract import Mount, SandboxFault, Spec

MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ssl/certs", "ca-certificates", "alternatives", "localtime")
# PyTorch counts cores and memory nodes there.
SYS = ("/sys/devices/system/cpu", "/sys/devices/system/node")
# When a worker runs as root, so does the sandbox as far as file owners are concerned, and these belong to root.
PROC_READ_ONLY = ("sys", "irq", "bus", "fs", "acpi", "scsi", "sysrq-trigger")
PROC_MASKED = ("kcore", "keys", "latency_stats", "timer_list", "sched_debug", "kallsyms")
GPU_DEVICES = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset")


@dataclass(frozen=True)
class View:
    """The parts of what a sandbox sees that do not depend on the spec."""

    python: str
    folders: Sequence[Path]
    """Shown read-only at their own paths."""
    tmp_bytes: int
    nested_users: bool
    """Whether this bubblewrap cannot forbid user namespaces inside."""


def unshare_args(view: View) -> Iterator[str]:
    yield from ("--unshare-all", "--unshare-user", "--uid", str(inside.UID), "--gid", str(inside.UID))
    yield from ("--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv")
    if not view.nested_users:
        yield "--disable-userns"


def _read_only(path: Path) -> tuple[str, str, str]:
    return "--ro-bind", str(path), str(path)


def system_args() -> Iterator[str]:
    """The programs and libraries of the host, and of /etc only what they need to start."""
    yield from _read_only(Path("/usr"))
    for name in MERGED:
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            yield from _read_only(path)
    for path in [*(Path("/etc", name) for name in ETC), *map(Path, SYS)]:
        if path.exists():
            yield from _read_only(path)
    yield from ("--proc", "/proc", "--dev", "/dev")
    for path in (Path("/proc", name) for name in PROC_READ_ONLY):
        if path.exists():
            yield from _read_only(path)
    for path in (Path("/proc", name) for name in PROC_MASKED):
        if path.exists():
            yield from ("--ro-bind", "/dev/null", str(path))


def private_args(spec: Spec, tmp_bytes: int) -> Iterator[str]:
    size = min(tmp_bytes, spec.limits.disk_bytes or tmp_bytes)
    for target in inside.private_targets(spec):
        mode = "0700" if target == inside.HOME else "1777"
        yield from ("--perms", mode, "--size", str(size), "--tmpfs", str(target))


def mount_args(mounts: Sequence[Mount]) -> Iterator[str]:
    """Outer targets first, so that an inner one is not hidden."""
    for mount in sorted(mounts, key=lambda each: len(each.target.parts)):
        if not mount.source.exists():
            raise SandboxFault(f"nothing to mount at {mount.target}: {mount.source} does not exist")
        if not mount.target.is_absolute() or mount.target == PurePosixPath("/"):
            raise SandboxFault(f"a mount's target must be an absolute path below /, not {mount.target}")
        yield from ("--ro-bind" if mount.read_only else "--bind", str(mount.source.absolute()), str(mount.target))


def gpu_args(gpus: Sequence[str], devices: Path = Path("/dev")) -> Iterator[str]:
    """The NVIDIA devices: the numbered ones asked for, or `all`, and those that every program needs."""
    if not gpus:
        return
    cards = {path.name for path in devices.glob("nvidia*") if re.fullmatch(r"nvidia\d+", path.name)}
    wanted = cards if list(gpus) == ["all"] else {f"nvidia{gpu}" for gpu in gpus}
    if not wanted or not wanted <= cards:
        raise SandboxFault(f"no GPU here is {', '.join(gpus)}; bubblewrap takes the numbers of /dev/nvidia*, or all")
    for name in [*sorted(wanted), *GPU_DEVICES]:
        if (devices / name).exists():
            yield from ("--dev-bind", str(devices / name), f"/dev/{name}")


def environment_args(python: str, env: Mapping[str, str]) -> Iterator[str]:
    for name, value in {**inside.base_environment(python), **env}.items():
        if "\0" in name + value or "=" in name or not name:
            raise SandboxFault(f"not an environment variable: {name!r}")
        yield from ("--setenv", name, value)


def sandbox_args(view: View, spec: Spec) -> list[str]:
    """Everything except the synthetic /etc files, which need file descriptors.

    Raises: SandboxFault: a source is missing or the spec asks for what bubblewrap cannot give.
    """
    own = [Mount(folder, PurePosixPath(folder)) for folder in view.folders]
    if spec.socket is not None:
        own += [Mount(inside.FORWARDER_SOURCE, inside.FORWARDER), Mount(spec.socket.parent, inside.SOCKET_FOLDER)]
    return [
        *unshare_args(view),
        *system_args(),
        *private_args(spec, view.tmp_bytes),
        *mount_args([*own, *spec.mounts]),
        *gpu_args(spec.gpus),
        *("--remount-ro", "/dev", "--remount-ro", "/"),
        *environment_args(view.python, spec.env),
        *("--chdir", str(spec.workdir)),
    ]
