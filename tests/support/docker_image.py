"""A Docker image in which this machine's Python can run when it is mounted: for tests without an image registry."""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmark.services.locking import held_alone

BASE = "python:3.11-slim-bookworm"
IMAGE = "agent2-test-host-python:latest"
ROOT = Path(__file__).resolve().parents[2]
TOOLS = "bash ca-certificates curl libnuma1 procps tmux"
"""What agents' programs use of what docker/sandbox.Dockerfile puts in; the compilers would take long."""


def host_python_image(*, tools: bool = False, volume: bool = False, more: Sequence[Path] = ()) -> dict[str, str]:
    """Settings that run this interpreter in Docker; skips without an engine or the base image.

    The interpreter may lie below a home folder that the container's user cannot enter, so the image opens that.
    With `tools` it is built upon the sandbox's own image as far as that has no Python packages; with `volume` each
    container gets one, which must go with it. `more` are further environments of the same interpreter.
    """
    if subprocess.run(["docker", "image", "inspect", BASE], capture_output=True, check=False).returncode:
        pytest.skip(f"no Docker engine with {BASE}: scripts/docker_engine.sh and docker_base_image.sh make both")
    folders = sorted({Path(sys.prefix), Path(sys.base_prefix), *more})
    opened = {str(parent) for folder in folders for parent in folder.parents if parent != Path("/")}
    also = "-and-tools" * tools + "-and-volume" * volume
    image = IMAGE.replace(":", f"{also}:")
    # One after the other: what one process has built is there for the next.
    with held_alone(Path(tempfile.gettempdir()) / "agent2-test-images.lock"):
        base = _tools_image() if tools else BASE
        lines = f"FROM {base}\nRUN mkdir -p {' '.join(sorted(opened))} && chmod a+rx {' '.join(sorted(opened))}\n"
        lines += "VOLUME /var/opt/unused\n" * volume
        build = ["docker", "build", "-q", "-t", image, "-"]
        subprocess.run(build, input=lines.encode(), check=True, capture_output=True)
    return {
        "AGENT2_SANDBOX": "docker",
        "AGENT2_SANDBOX_IMAGE": image,
        "AGENT2_SANDBOX_PYTHON": sys.executable,
        "AGENT2_SANDBOX_READ_ONLY": ",".join(map(str, folders)),
    }


def _tools_image() -> str:
    name = "agent2-test-tools:latest"
    of = ["--target", "tools", "--build-arg", f"TOOLS={TOOLS}", "-f", "docker/sandbox.Dockerfile"]
    built = subprocess.run(
        ["docker", "build", "-q", *of, "-t", name, "docker"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if built.returncode:
        pytest.skip(f"no image with the agents' tools can be built here: {built.stderr.strip()[-300:]}")
    return name
