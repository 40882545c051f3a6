"""Records travel: what a worker on a host of its own writes below TRACES_DIR, it sends to the web server as well.

Before the row that makes the bytes count is committed, so whoever reads the row finds them. The other end:
`receiving.py`.
"""

import logging
from functools import cache
from pathlib import Path

import httpx
from django.conf import settings

log = logging.getLogger(__name__)
BLOCK = 512 * 1024
TIMEOUT_S = 30.0


class NotCarried(OSError):
    """The web server cannot be reached, or refuses; tried again as a fault of the disk would be."""


def carry(path: Path, offset: int, data: bytes) -> None:
    """`data` was written at `offset` of a file below TRACES_DIR. Raises: NotCarried."""
    place = path.relative_to(settings.TRACES_DIR).as_posix()
    theirs = _put(place, offset, data[:BLOCK])
    if theirs is not None and theirs < offset:
        # They have less than was carried once: a restored server, or a host that has joined another one.
        _from_file(path, place, theirs, offset)
        theirs = _put(place, offset, data[:BLOCK])
    if theirs is not None:
        raise NotCarried(f"the web server has {theirs} bytes of {place} and not {offset}")
    for start in range(BLOCK, len(data), BLOCK):
        if _put(place, offset + start, data[start : start + BLOCK]) is not None:
            raise NotCarried(f"{place} changed on the web server while it was carried")


def carry_code(digest: str, content: bytes) -> None:
    """Stored code, which never changes. Raises: NotCarried."""
    place = f"code/{digest[:2]}/{digest}"
    if _put(place, 0, content) is not None:
        raise NotCarried(f"{place} could not be carried")


def _from_file(path: Path, place: str, start: int, end: int) -> None:
    with path.open("rb") as source:
        source.seek(start)
        while start < end:
            data = source.read(min(BLOCK, end - start))
            if not data or _put(place, start, data) is not None:
                raise NotCarried(f"{place} could not be carried from byte {start}")
            start += len(data)


def _put(place: str, offset: int, data: bytes) -> int | None:
    """None when it is stored; else how many bytes the web server has. Raises: NotCarried."""
    url = f"{settings.WORKER_URL}/worker/records/{place}"
    headers = {"Authorization": f"Bearer {settings.HOST_TOKEN}", "Content-Type": "application/octet-stream"}
    try:
        answer = _client().put(url, params={"offset": offset}, content=data, headers=headers)
    except httpx.HTTPError as error:
        raise NotCarried(f"{place} could not be carried to the web server: {error}") from error
    if answer.status_code == 409:
        return int(answer.json()["size"])
    if answer.status_code != 200:
        raise NotCarried(f"the web server refuses {place}: {answer.status_code} {answer.text[:200]}")
    return None


@cache
def _client() -> httpx.Client:
    """One for all threads, of which each run has its own."""
    return httpx.Client(timeout=TIMEOUT_S)
