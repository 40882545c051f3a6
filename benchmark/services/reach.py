"""Whether the silence of others means that they are gone. After the database was away it does not: all were silent."""

import threading
import time

from django.conf import settings

RECOVERY_S = 30.0
"""How much longer than this process another one may take to find the database again."""


class Reach:
    """How steadily one process has stored its own heartbeat."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: float | None = None
        self._since: float | None = None
        self._wanted_s = 0.0

    def kept(self) -> None:
        """A heartbeat was stored."""
        now, silence_s = time.monotonic(), 2 * settings.HEARTBEAT_S
        with self._lock:
            if self._since is None or self._last is None or now - self._last > silence_s:
                self._since = now
                self._wanted_s = max(self._wanted_s, silence_s)
            self._last = now

    def lost(self) -> None:
        """A heartbeat could not be stored."""
        with self._lock:
            self._since = None
            self._wanted_s = max(RECOVERY_S, 2 * settings.HEARTBEAT_S)

    def tells(self) -> bool:
        """Whether somebody else's silence is theirs. In a process without heartbeats, such as a command, it is."""
        with self._lock:
            if self._since is None:
                return self._wanted_s == 0.0
            return time.monotonic() - self._since >= self._wanted_s


REACH = Reach()
