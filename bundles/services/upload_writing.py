"""Writing the pieces of an upload to its file as they come, without holding more than one buffer in memory."""

import asyncio
import errno
import fcntl
import os
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from bundles.models import Upload

BUFFER = 1 << 20
_disk = ThreadPoolExecutor(4, thread_name_prefix="upload")


class Busy(Exception):
    """Another request is writing this upload."""


class WrongOffset(Exception):
    """The request begins elsewhere than the file ends; the argument is where it ends."""


class TooMuch(Exception):
    """More bytes than were announced came; the announced ones were kept."""


async def upload_write(upload: Upload, offset: int, pieces: AsyncIterator[bytes]) -> int:
    """Append `pieces` at `offset`; the new offset. Whatever came before `pieces` ended or failed is kept.

    Raises: Busy; WrongOffset; TooMuch; OSError; what `pieces` raises.
    """
    loop = asyncio.get_running_loop()
    fd = os.open(upload.path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        _lock(fd)
        end = os.fstat(fd).st_size
        if end != offset:
            raise WrongOffset(end)
        os.lseek(fd, 0, os.SEEK_END)
        return await _append(loop, fd, end, upload.length, pieces)
    finally:
        os.close(fd)


def _lock(fd: int) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            raise Busy from None
        raise


async def _append(loop: asyncio.AbstractEventLoop, fd: int, at: int, length: int, pieces: AsyncIterator[bytes]) -> int:
    """Network and disk work at the same time: one buffer is written while the next one fills."""
    buffer, writing = bytearray(), None
    try:
        async for piece in pieces:
            if at + len(buffer) + len(piece) > length:
                buffer += piece[: length - at - len(buffer)]
                raise TooMuch
            buffer += piece
            if len(buffer) >= BUFFER:
                if writing is not None:
                    await writing
                at += len(buffer)
                full, buffer = buffer, bytearray()
                writing = loop.run_in_executor(_disk, _write, fd, full)
    finally:
        if writing is not None:
            with suppress(asyncio.CancelledError):
                await asyncio.shield(writing)
        _write(fd, buffer)
        at += len(buffer)
    return at


def _write(fd: int, data: bytearray) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
