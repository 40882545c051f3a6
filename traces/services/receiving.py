"""The other end of `carrying.py`: bytes of records from hosts that share no disk with this server."""

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from benchmark.models import Run
from traces.models import Trace
from traces.services.snapshots_store import blob_put

FILES = r"transcript|bodies|search\.txt|search\.idx|search\.bits"
TRACE = re.compile(rf"(?P<two>[0-9a-f]{{2}})/(?P<key>[0-9a-f]{{32}})/({FILES})")
CODE = re.compile(r"code/(?P<two>[0-9a-f]{2})/(?P<digest>[0-9a-f]{64})")
TIMES = re.compile(r"times/(?P<slug>[A-Za-z0-9-]{1,40})")


class Refused(Exception):
    """Nothing is stored; the message says why."""


@dataclass(frozen=True)
class Gap(Exception):
    """The bytes begin behind what is here, which is `size` bytes."""

    size: int


def record_receive(*, host: str, place: str, offset: int, data: bytes) -> None:
    """Store `data` at `offset` of a record; what followed there is cut off, as it is on the host.

    Raises: Refused: no such record, or another host's; Gap; OSError.
    """
    path = _path(host, place)
    if found := CODE.fullmatch(place):
        _keep_code(found["digest"], offset, data)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o640)
    try:
        size = os.fstat(file).st_size
        if offset > size:
            raise Gap(size)
        view = memoryview(data)
        at = offset
        while view:
            done = os.pwrite(file, view, at)
            view, at = view[done:], at + done
        os.ftruncate(file, at)
    finally:
        os.close(file)


def _path(host: str, place: str) -> Path:
    if found := TRACE.fullmatch(place):
        key = found["key"]
        if key[:2] == found["two"] and Trace.objects.filter(key=key, run__place=host).exists():
            return Path(settings.TRACES_DIR) / place
        raise Refused("There is no such transcript of a run on this host.")
    if found := TIMES.fullmatch(place):
        if Run.objects.filter(slug=found["slug"], place=host).exists():
            return Path(settings.TRACES_DIR) / place
        raise Refused("There is no such run on this host.")
    if (found := CODE.fullmatch(place)) and found["digest"][:2] == found["two"]:
        return Path(settings.TRACES_DIR) / place
    raise Refused("A record's name is that of a transcript's file, of times, or of code.")


def _keep_code(digest: str, offset: int, data: bytes) -> None:
    """Whole and once. Raises: Refused; OSError."""
    if offset or hashlib.sha256(data).hexdigest() != digest:
        raise Refused("That is not the content of that name.")
    blob_put(data)
