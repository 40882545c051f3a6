"""The sandbox of this deployment."""

import hashlib
import sys
from functools import cache

from django.conf import settings

from benchmark.catalogue import Agent
from benchmark.sandbox.choose import Kind, sandbox_for
from benchmark.sandbox.contract import Sandbox
from benchmark.sandbox.docker import IMAGE_PYTHON


@cache
def _sandbox(kind: Kind, trusted: bool) -> Sandbox:
    return sandbox_for(
        kind=kind,
        trusted=trusted,
        python=settings.SANDBOX_PYTHON or sys.executable,
        image=settings.SANDBOX_IMAGE,
        image_python=settings.SANDBOX_PYTHON or IMAGE_PYTHON,
        read_only=tuple(settings.SANDBOX_READ_ONLY),
    )


def sandbox_for_agent(agent: Agent) -> Sandbox:
    """Raises: SandboxFault: the agent is not trusted and nothing here isolates it; the message says what to install."""
    return _sandbox(settings.SANDBOX, agent.trusted)


def sandbox_for_grading() -> Sandbox:
    """The grading runner's sandbox. The runner is ours, what it loads is not: not isolated only for the demo."""
    return _sandbox(settings.SANDBOX, True)


def sandbox_name(kind: str, number: int) -> str:
    """A name that no other deployment on this host gives its sandboxes, not even one with a copy of our settings."""
    told = f"{settings.SECRET_KEY}\n{settings.DATA_DIR.resolve()}"
    deployment = hashlib.sha256(told.encode()).hexdigest()[:8]
    return f"agent2-{deployment}-{kind}-{number}"


def sandbox_reap(name: str) -> None:
    """Remove what a lost worker left behind."""
    _sandbox(settings.SANDBOX, True).reap(name)


def sandbox_leftovers() -> list[str]:
    """Names of this deployment's sandboxes that are on this host, whoever holds them; Docker's alone outlive a worker.

    Raises: SandboxFault.
    """
    sandbox = _sandbox(settings.SANDBOX, True)
    return [name for name in sandbox.names() if name.startswith(sandbox_name("", 0)[:-2])]


def sandbox_number(name: str) -> tuple[str, int]:
    """The kind and the number that `sandbox_name` was given."""
    kind, _, number = name.rpartition("-")
    return kind.rpartition("-")[2], int(number)
