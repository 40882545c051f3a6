"""A worker in a container of its own, whose sandboxes are containers beside it: it sees none of their processes."""

import os
import sys
from pathlib import Path

import pytest

from tests.support.compose import docker
from tests.support.docker_image import host_python_image
from tests.support.platform import ROOT

pytestmark = pytest.mark.docker
SOCKET = Path("/var/run/docker.sock")
BOMBS = """
import os, time
held = []
try:
    while len(held) < 100:
        held.append(os.fork() or (time.sleep(600), os._exit(0)))
except OSError:
    pass
for pid in held:
    os.kill(pid, 9), os.waitpid(pid, 0)
try:
    open("/tmp/fill", "wb").write(bytes(9000000))
except OSError:
    pass
time.sleep(600)
"""
WORKER = """
import sys, time
from pathlib import Path
from benchmark.sandbox.contract import Limits, Spec
from benchmark.sandbox.docker import DockerSandbox
name, image, folders, bombs = sys.argv[1:]
sandbox = DockerSandbox(
    image=image, python=sys.executable, read_only=[*map(Path, folders.split(","))], tmp_bytes=4 << 20
)
spec = Spec(name, [sys.executable, "-c", bombs], limits=Limits(processes=32))
deadline = time.monotonic() + 100
running = sandbox.start(spec)
try:
    for each in (running, sandbox.adopt(spec)):
        while time.monotonic() < deadline and len(each.hits) < 2:
            assert each.wait(0.2) is None
        print(each.root_pid, *sorted(each.hits))
finally:
    running.stop(0)
"""


def test_what_a_command_runs_into_is_seen_all_the_same() -> None:
    given = host_python_image()
    folders = given["AGENT2_SANDBOX_READ_ONLY"]
    seen = [f"{path}:{path}:ro" for path in {*folders.split(","), str(ROOT)}]
    told = docker(
        *("run", "--rm", "--user", "1000:1000", "--group-add", str(SOCKET.stat().st_gid), "--workdir", str(ROOT)),
        *("--cap-drop", "ALL", "--security-opt", "no-new-privileges:true", "--env", "PYTHONDONTWRITEBYTECODE=1"),
        *(word for mount in (*seen, f"{SOCKET}:{SOCKET}") for word in ("--volume", mount)),
        *(given["AGENT2_SANDBOX_IMAGE"], sys.executable, "-c", WORKER),
        *(f"test-beside-{os.getpid()}", given["AGENT2_SANDBOX_IMAGE"], folders, BOMBS),
    )
    assert told == "None processes tmp\n" * 2
