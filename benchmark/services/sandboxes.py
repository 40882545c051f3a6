"""The sandbox of this deployment."""

import hashlib
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from django.conf import settings

from benchmark.catalogue import Agent
from benchmark.sandbox.choose import Kind, sandbox_for
from benchmark.sandbox.contract import Sandbox, SandboxFault
from benchmark.sandbox.docker import IMAGE_PYTHON
from benchmark.services.locking import held_if_free


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
    """Names of this deployment's sandboxes that are on this host, whoever holds them, and of what is left of them.

    Raises: SandboxFault.
    """
    sandbox = _sandbox(settings.SANDBOX, True)
    return [name for name in sandbox.names() if name.startswith(sandbox_name("", 0)[:-2])]


def sandbox_number(name: str) -> tuple[str, int]:
    """The kind and the number that `sandbox_name` was given."""
    kind, _, number = name.rpartition("-")
    return kind.rpartition("-")[2], int(number)


@contextmanager
def sandbox_of_process(name: str) -> Iterator[Path]:
    """For a sandbox that no row stands for: it belongs to this process as long as the body works. A folder for it.

    What a killed process left of it is removed by `sandboxes_ownerless_reap`, or by the next one of that name.
    Raises: SandboxFault: another process has it.
    """
    with held_if_free(_lock_of(name)) as mine:
        if not mine:
            raise SandboxFault(f"another process uses the sandbox {name}")
        folder = _folder_of(name)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def sandbox_has_process(name: str) -> bool:
    """Whether a process is in the body of `sandbox_of_process` for it."""
    if not _lock_of(name).exists():
        return False
    with held_if_free(_lock_of(name)) as free:
        return not free


def sandboxes_ownerless_reap(names: list[str]) -> list[str]:
    """Of those, and of what was noted of such sandboxes: end and remove what no process has any more; its names.

    Raises: SandboxFault.
    """
    noted = [path.stem for path in _lock_of("").parent.glob("*.lock")]
    removed = []
    for name in sorted({*names, *noted}):
        with held_if_free(_lock_of(name)) as free:
            if free:
                sandbox_reap(name)
                shutil.rmtree(_folder_of(name), ignore_errors=True)
                removed.append(name)
    return removed


def _folder_of(name: str) -> Path:
    return Path(settings.DATA_DIR) / "sandboxes" / name


def _lock_of(name: str) -> Path:
    return _folder_of(f"{name}.lock")
