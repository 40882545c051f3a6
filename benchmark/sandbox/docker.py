"""Sandboxes by Docker: one container for each command, with no network, no capability and a read-only root."""

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import Any

from docker.errors import APIError, ImageNotFound, NotFound
from docker.models.containers import Container
from docker.types import DeviceRequest, LogConfig, Ulimit
from docker.types import Mount as DockerMount

from benchmark.sandbox import inside, limits
from benchmark.sandbox.access import closed_to, hand_over
from benchmark.sandbox.contract import Limits, Mount, SandboxFault, Spec
from benchmark.sandbox.docker_engine import engine_client
from benchmark.sandbox.docker_running import ENGINE_ERRORS, DockerRunning
from benchmark.sandbox.seccomp import seccomp_filter
from docker import DockerClient

GIB = 1 << 30
DEFAULT_IMAGE = "agent2-sandbox:latest"
IMAGE_PYTHON = "/opt/venv/bin/python"
LABEL = "agent2.sandbox"
BASELINE = "agent2.baseline-bytes"
KEPT_LOG = {"max-size": "100m", "max-file": "2", "compress": "false"}
"""What the engine keeps of the output, for a worker that adopts the container."""


class DockerSandbox:
    """See the module.

    `read_only` are an operator's extra host paths, shown at the same path inside. `user` is the container's user and
    group; by default the worker's own, or 1000 when the worker is root: writable mounts are then handed over to it.
    """

    kind = "docker"
    isolates = True

    def __init__(
        self,
        *,
        image: str = DEFAULT_IMAGE,
        python: str = IMAGE_PYTHON,
        read_only: Sequence[Path | Mount] = (),
        user: tuple[int, int] | None = None,
        tmp_bytes: int = 2 * GIB,
    ) -> None:
        self.image = image
        self.python = python
        self.read_only = [
            extra if isinstance(extra, Mount) else Mount(extra, PurePosixPath(extra.absolute())) for extra in read_only
        ]
        own = (os.getuid(), os.getgid()) if os.getuid() != 0 else (inside.UID, inside.UID)
        self.user = user or own
        self.tmp_bytes = tmp_bytes

    @cached_property
    def client(self) -> DockerClient:
        return engine_client()

    def means(self) -> dict[str, str]:
        """How each limit is enforced on this host."""
        kernel = "control groups, by Docker"
        return {"memory": kernel, "processes": kernel, "cpus": kernel, "disk": limits.means({})["disk"]}

    def unavailable(self) -> str | None:
        try:
            self.client.ping()
            self.client.images.get(self.image)
        except ImageNotFound:
            return (
                f"Docker has no image {self.image}: "
                f"`docker build -f docker/sandbox.Dockerfile -t {self.image} .` in the repository."
            )
        except ENGINE_ERRORS as error:
            return f"No Docker engine answers; install Docker Engine and start it, or set DOCKER_HOST: {error}."
        return None

    def start(self, spec: Spec) -> DockerRunning:
        writable = [mount.source for mount in spec.mounts if not mount.read_only]
        for mount in spec.mounts:
            if not mount.source.exists():
                raise SandboxFault(f"nothing to mount at {mount.target}: {mount.source} does not exist")
            if mount.read_only and (closed := closed_to(mount.source, *self.user)):
                raise SandboxFault(
                    f"{closed} cannot be read by user {self.user[0]}, as whom Docker's sandboxes run here: "
                    f"chmod -R a+rX {mount.source}"
                )
        for path in writable:
            hand_over(path, *self.user)
        watch = limits.LimitWatch(spec.limits, group=None, folders=writable)
        options = self.options(spec, watch.baseline.bytes)
        try:
            container = self._created(options)
        except ENGINE_ERRORS as error:
            raise SandboxFault(f"Docker cannot create the container: {error}") from error
        running = DockerRunning(spec, self.client, container, watch)
        try:
            running.begin()
        except BaseException as error:
            with contextlib.suppress(*ENGINE_ERRORS):
                container.remove(force=True, v=True)
            if isinstance(error, ENGINE_ERRORS):
                raise SandboxFault(f"Docker cannot start the container: {error}") from error
            raise
        return running

    def _created(self, options: Mapping[str, Any]) -> Container:
        """In place of one of that name that a lost worker left: whoever starts holds what the name stands for."""
        try:
            return self.client.containers.create(**options)
        except APIError as error:
            if error.status_code != HTTPStatus.CONFLICT:
                raise
        self.reap(str(options["name"]))
        return self.client.containers.create(**options)

    def adopt(self, spec: Spec) -> DockerRunning | None:
        writable = [mount.source for mount in spec.mounts if not mount.read_only]
        try:
            container = self.client.containers.get(spec.name)
            if container.labels.get(LABEL) != spec.name or container.status == "created":
                return None
            watch = limits.LimitWatch(spec.limits, group=None, folders=writable)
            before = int(container.labels.get(BASELINE, watch.baseline.bytes))
            watch.baseline = replace(watch.baseline, bytes=before)
            running = DockerRunning(spec, self.client, container, watch)
            running.begin_again()
        except NotFound:
            return None
        except ENGINE_ERRORS as error:
            raise SandboxFault(f"Docker cannot hand over the container {spec.name}: {error}") from error
        return running

    def environment_of(self, name: str) -> dict[str, str]:
        """What the container of that name was started with; empty where there is none. Raises: SandboxFault."""
        try:
            given = self.client.containers.get(name).attrs["Config"]["Env"] or []
        except NotFound:
            return {}
        except ENGINE_ERRORS as error:
            raise SandboxFault(f"Docker cannot look at {name}: {error}") from error
        return dict(line.partition("=")[::2] for line in given)

    def options(self, spec: Spec, baseline_bytes: int = 0) -> dict[str, Any]:
        """What the container is created with. No secrets on its command line: they go into the environment."""
        own = [Mount(inside.FORWARDER_SOURCE, inside.FORWARDER)]
        if spec.socket is not None:
            own.append(Mount(spec.socket.parent, inside.SOCKET_FOLDER))
        mounts = sorted([*self.read_only, *own, *spec.mounts], key=lambda each: len(each.target.parts))
        command = inside.forwarded_command(
            spec, python=self.python, flags=["--everyone", "--deny", seccomp_filter().hex()]
        )
        return {
            "image": self.image,
            "name": spec.name,
            "labels": {LABEL: spec.name, BASELINE: str(baseline_bytes)},
            "entrypoint": command[:1],
            "command": command[1:],
            "environment": {**inside.base_environment(self.python), **spec.env},
            "working_dir": str(spec.workdir),
            "user": f"{self.user[0]}:{self.user[1]}",
            "mounts": [
                DockerMount(str(each.target), str(each.source.absolute()), "bind", read_only=each.read_only)
                for each in mounts
            ],
            "tmpfs": self._private(spec),
            "network_mode": "none",
            "read_only": True,
            "cap_drop": ["ALL"],
            "security_opt": ["no-new-privileges:true"],
            "ipc_mode": "private",
            "device_requests": _device_requests(spec.gpus),
            # Output goes to whoever is attached; what the engine keeps is for when nobody is.
            "log_config": LogConfig(type="local", config=KEPT_LOG),
            **_limit_options(spec.limits, baseline_bytes),
        }

    def _private(self, spec: Spec) -> dict[str, str]:
        size = min(self.tmp_bytes, spec.limits.disk_bytes or self.tmp_bytes)
        common = f"rw,exec,nosuid,nodev,size={size}"
        wanted = {
            inside.TMP: f"{common},mode=1777",
            inside.SHM: f"{common},mode=1777",
            inside.HOME: f"{common},mode=0700,uid={self.user[0]},gid={self.user[1]}",
        }
        return {str(target): wanted[target] for target in inside.private_targets(spec)}

    def names(self) -> Sequence[str]:
        try:
            found = self.client.containers.list(all=True, filters={"label": LABEL}, ignore_removed=True)
        except ENGINE_ERRORS as error:
            raise SandboxFault(f"Docker cannot list its containers: {error}") from error
        return [str(container.labels[LABEL]) for container in found]

    def reap(self, name: str) -> None:
        try:
            found = self.client.containers.list(all=True, filters={"label": f"{LABEL}={name}"}, ignore_removed=True)
            for container in found:
                with contextlib.suppress(NotFound):
                    container.remove(force=True, v=True)
        except ENGINE_ERRORS as error:
            raise SandboxFault(f"Docker cannot remove {name}: {error}") from error


def _device_requests(gpus: Sequence[str]) -> list[DeviceRequest]:
    if not gpus:
        return []
    which: dict[str, Any] = {"count": -1} if list(gpus) == ["all"] else {"device_ids": list(gpus)}
    return [DeviceRequest(capabilities=[["gpu"]], **which)]


def _limit_options(wanted: Limits, baseline_bytes: int) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if wanted.memory_bytes is not None:
        options |= {"mem_limit": wanted.memory_bytes, "memswap_limit": wanted.memory_bytes}
    if wanted.processes is not None:
        options["pids_limit"] = wanted.processes
    if wanted.cpus is not None:
        options["nano_cpus"] = int(wanted.cpus * 1e9)
    if wanted.disk_bytes is not None:
        most = baseline_bytes + wanted.disk_bytes
        options["ulimits"] = [Ulimit(name="fsize", soft=most, hard=most)]
    return options
