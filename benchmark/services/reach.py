"""Whether the silence of others means that they are gone. After the database was away it does not: all were silent."""

import threading
import time

from django.conf import settings

SLOW_S = 1.0
RECOVERY_S = 30.0
"""How much longer than this process another one may take to find the database again."""


class Reach:
    """How steadily one process has stored its own heartbeat."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: float | None = None
        self._since: float | None = None
        self._wanted_s = 0.0

    def begin(self) -> None:
        """Heartbeats follow."""
        with self._lock:
            self._wanted_s = 2 * settings.HEARTBEAT_S

    def kept(self, took_s: float = 0.0) -> None:
        """A heartbeat was stored, which took so long: where a pool waits for its server, an outage is no error."""
        now, silence_s = time.monotonic(), 2 * settings.HEARTBEAT_S
        if took_s > SLOW_S or (self._last is not None and now - self._last > silence_s):
            self.lost()
        with self._lock:
            if self._since is None:
                self._since = now
                self._wanted_s = max(self._wanted_s, silence_s)
            self._last = now

    def lost(self) -> None:
        """A heartbeat could not be stored."""
        with self._lock:
            self._since = None
            self._wanted_s = max(RECOVERY_S, 2 * settings.HEARTBEAT_S)

    def tells(self) -> bool:
        """Whether somebody else's silence is theirs. In a process without heartbeats, such as a command, it is.

        It is not while this process's own heartbeat is overdue: that may be waiting for a database that is away, while
        another thread has already found it again.
        """
        now = time.monotonic()
        with self._lock:
            if self._since is None or self._last is None:
                return self._wanted_s == 0.0
            overdue = now - self._last > settings.HEARTBEAT_S + SLOW_S
            return not overdue and now - self._since >= self._wanted_s


REACH = Reach()
