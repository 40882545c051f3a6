"""Which sandbox a piece of work runs in."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from benchmark.sandbox.bubblewrap import BubblewrapSandbox
from benchmark.sandbox.contract import SandboxFault
from benchmark.sandbox.docker import DEFAULT_IMAGE, IMAGE_PYTHON, DockerSandbox
from benchmark.sandbox.process import ProcessSandbox

Kind = Literal["auto", "bubblewrap", "docker", "process"]
AnySandbox = BubblewrapSandbox | DockerSandbox | ProcessSandbox
INSTALL = (
    "Untrusted code needs isolation: install bubblewrap (Debian, Ubuntu: `apt install bubblewrap`) "
    "or Docker Engine with the sandbox image."
)


class SandboxUnavailable(SandboxFault):
    """Nothing here can run that code safely. The message says what to install or set."""


def sandbox_for(
    kind: Kind,
    *,
    trusted: bool,
    python: str = sys.executable,
    image: str = DEFAULT_IMAGE,
    image_python: str = IMAGE_PYTHON,
    read_only: Sequence[Path] = (),
) -> AnySandbox:
    """The sandbox to use: the named one, or with `auto` the best that works here.

    `python` and `read_only` are host paths (an interpreter and extra folders to show, read-only); `image` and
    `image_python` are Docker's. Trusted code may run without isolation where nothing better works.

    Raises: SandboxUnavailable.
    """
    bubblewrap = BubblewrapSandbox(python=python, read_only=read_only)
    docker = DockerSandbox(image=image, python=image_python, read_only=read_only)
    process = ProcessSandbox(python=python)
    if kind == "process" and not trusted:
        raise SandboxUnavailable(f"A plain process does not isolate. {INSTALL}")
    asked: dict[Kind, list[AnySandbox]] = {
        "auto": [bubblewrap, docker, *([process] if trusted else [])],
        "bubblewrap": [bubblewrap],
        "docker": [docker],
        "process": [process],
    }
    reasons = []
    for sandbox in asked[kind]:
        reason = sandbox.unavailable()
        if reason is None:
            return sandbox
        reasons.append(reason)
    raise SandboxUnavailable(" ".join([INSTALL, *reasons] if kind == "auto" else reasons))
