"""What a container runs into, as a watcher inside tells it: a worker in a container of its own sees nothing of another.

The watcher is root without any capability, so that the command can neither signal nor trace it, and has the pipes of
its own that `docker exec` makes, so that nobody but it writes to them.
"""

import contextlib
import json
import logging
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import requests
from docker.errors import DockerException
from docker.models.containers import Container

from benchmark.sandbox.disk import Held, statvfs_held
from benchmark.sandbox.docker_engine import hang_up
from benchmark.sandbox.limits import LOOK_S, LimitWatch
from docker import DockerClient

SOURCE = Path(__file__).with_name("watcher.py")
LONGEST_PAUSE_S = 60.0
log = logging.getLogger(__name__)


def watch_inside(
    client: DockerClient, container: Container, *, folders: Iterable[object], watch: LimitWatch, over: threading.Event
) -> None:
    """Note in `watch` what is seen, until the container ends or `over` is set; begun again where it breaks off.

    A container of an older version needs nothing of ours inside: the watcher's text is its command line.
    """
    told = container.attrs["Config"]
    command = [told["Entrypoint"][0], "-I", "-S", "-c", SOURCE.read_text(), str(LOOK_S), *map(str, folders)]
    user = f"0:{told['User'].partition(':')[2] or 0}"
    pause = LOOK_S
    while not over.is_set():
        try:
            made = client.api.exec_create(str(container.id), command, stdin=True, stderr=False, user=user)
            stream = client.api.exec_start(made["Id"], stream=True)
            try:
                for seen in _whole_lines(stream):
                    watch.note(*_told(seen))
            finally:
                hang_up(stream)
        except (DockerException, requests.RequestException, OSError, ValueError) as error:
            if not over.is_set():
                log.debug("what %s runs into cannot be seen now: %s", container.name, error)
        over.wait(pause)
        # A container without a process to spare is asked again, and a watcher that cannot start costs little.
        pause = min(LONGEST_PAUSE_S, 2 * pause)


def _whole_lines(stream: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in stream:
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole


def _told(line: bytes) -> tuple[int, list[tuple[Held, bool]]]:
    """Raises: ValueError: it is not one of the watcher's."""
    with contextlib.suppress(KeyError, TypeError):
        seen = json.loads(line)
        return int(seen["forks_refused"]), [statvfs_held(*folder) for folder in seen["folders"]]
    raise ValueError(line[:200].decode(errors="replace"))
