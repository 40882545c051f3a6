"""What a run that is over may have left on this machine, of one platform alone."""

import os
from collections.abc import Iterator
from contextlib import suppress

import psutil

from tests.support.pools import Scene

UNFINISHED = ("runs/*/gateway/*.sock", "outside/*.sock", "smoke-*", "checkpoints/.*", "*/*.part")
"""In the data folder: sockets, and what is there only while something is made."""


def remains(at: Scene, volumes: frozenset[str] = frozenset()) -> Iterator[str]:
    """Sandboxes, control groups, those Docker volumes, processes, sockets, unfinished folders and evaluations."""
    yield from (f"sandbox {name}" for name in at.sandboxes())
    yield from (f"volume {name}" for name in sorted(volumes & at.volumes()))
    for (pk,) in at.query("SELECT id FROM grading_evaluation WHERE state IN ('running', 'queued')"):
        yield f"evaluation {pk}"
    yield from (f"process {process.pid} {_told(process)}" for process in _processes(at))
    for pattern in UNFINISHED:
        yield from (f"{path.relative_to(at.platform.data)}" for path in at.platform.data.glob(pattern))
    yield from (
        f"temporary {path.name}" for path in at.temporary.iterdir() if not path.name.startswith("agent2-worker-")
    )


def _processes(at: Scene) -> Iterator[psutil.Process]:
    """Those with this platform's settings that neither it nor a test has started, and children that nobody collects."""
    known = {process.pid for process in at.platform.processes().values()}
    commands = {child.pid for child in psutil.Process().children()} - known
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.pid in known | commands or process.pid == os.getpid():
                continue
            dead = process.status() == psutil.STATUS_ZOMBIE and process.ppid() in known
            if dead or process.environ().get("AGENT2_DATA_DIR") == str(at.platform.data):
                yield process


def _told(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return " ".join(process.cmdline())[:100] or process.name()
    return "that has ended by now"
