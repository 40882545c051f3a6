"""What a command prints, on its way into the log: up to a size, so that a flood costs neither the disk nor the run."""

import contextlib
import fcntl
import os
import threading
import time
from pathlib import Path

CHUNK = 1 << 18
PIPE_BYTES = 1 << 20
PAUSE_S = 0.005
"""For every piece that is not kept: whoever floods has to wait, and this host's cores are for others."""
DRAIN_S = 60.0


class KeptLog:
    """A log that is appended to until it has `most` bytes, whoever else has written to it before."""

    def __init__(self, path: Path | None, most: int) -> None:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        self.flooded = False
        """Whether something was not kept."""
        self._most = most
        self._fd = os.open(path or os.devnull, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._left = most - os.fstat(self._fd).st_size

    def write(self, chunk: bytes) -> None:
        """Never raises OSError: what a full disk does not take is not kept either."""
        kept = chunk[: max(0, self._left)]
        self._left -= len(kept)
        with contextlib.suppress(OSError):
            self._append(kept)
        if len(kept) == len(chunk):
            return
        if not self.flooded:
            self.flooded = True
            with contextlib.suppress(OSError):
                self._append(b"\n[More than %d bytes were printed. What follows is not kept.]\n" % self._most)
        time.sleep(PAUSE_S)

    def _append(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._fd, data) :]

    def close(self) -> None:
        os.close(self._fd)


class Output:
    """A pipe for a command to print to, emptied into the log by a thread until nobody is left who could write."""

    def __init__(self, path: Path | None, most: int) -> None:
        self._log = KeptLog(path, most)
        self._read, self.fd = os.pipe()
        with contextlib.suppress(OSError):
            fcntl.fcntl(self._read, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._thread = threading.Thread(target=self._empty, name="output", daemon=True)
        self._thread.start()

    @property
    def flooded(self) -> bool:
        return self._log.flooded

    def handed_over(self) -> None:
        """The command has its copy of `fd`, or never will."""
        os.close(self.fd)

    def end(self) -> None:
        """After the command's end: until the log is whole."""
        self._thread.join(DRAIN_S)

    def _empty(self) -> None:
        try:
            while chunk := os.read(self._read, CHUNK):
                self._log.write(chunk)
        finally:
            os.close(self._read)
            self._log.close()
