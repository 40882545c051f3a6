"""A Docker image in which this machine's Python can run when it is mounted: for tests without an image registry."""

import subprocess
import sys
from pathlib import Path

import pytest

BASE = "python:3.11-slim-bookworm"
IMAGE = "agent2-test-host-python:latest"


def host_python_image() -> dict[str, str]:
    """Settings that run this interpreter in Docker; skips without an engine or the base image.

    The interpreter may lie below a home folder that the container's user cannot enter, so the image opens that.
    """
    if subprocess.run(["docker", "image", "inspect", BASE], capture_output=True, check=False).returncode:
        pytest.skip(f"no Docker engine with {BASE}: scripts/docker_engine.sh and docker_base_image.sh make both")
    folders = sorted({Path(sys.prefix), Path(sys.base_prefix)})
    opened = {str(parent) for folder in folders for parent in folder.parents if parent != Path("/")}
    lines = f"FROM {BASE}\nRUN mkdir -p {' '.join(sorted(opened))} && chmod 755 {' '.join(sorted(opened))}\n"
    subprocess.run(["docker", "build", "-q", "-t", IMAGE, "-"], input=lines.encode(), check=True, capture_output=True)
    return {
        "AGENT2_SANDBOX": "docker",
        "AGENT2_SANDBOX_IMAGE": IMAGE,
        "AGENT2_SANDBOX_PYTHON": sys.executable,
        "AGENT2_SANDBOX_READ_ONLY": ",".join(map(str, folders)),
    }
