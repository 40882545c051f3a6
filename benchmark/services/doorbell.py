"""Rings without content over the channel layer: whoever hears one looks at the database.

Rings are sent by one thread that keeps its connection, so ringing costs the caller nothing and never fails.
"""

import asyncio
import logging
import threading
from functools import cache
from typing import Any

from channels.layers import get_channel_layer

log = logging.getLogger(__name__)


def group_of(run_id: int) -> str:
    """The group of a run's watchers."""
    return f"run.{run_id}"


def doorbell_ring(group: str) -> None:
    """Tell a group that something has changed. Without a channel layer they look for themselves; a lost ring delays."""
    if get_channel_layer() is not None:
        _bell().ring(group)


class Bell:
    """A thread with an event loop. A ring for a group that is still waiting to be sent is that same ring."""

    def __init__(self) -> None:
        self._waiting: set[str] = set()
        self._lock = threading.Lock()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="doorbell", daemon=True).start()

    def ring(self, group: str) -> None:
        with self._lock:
            if group in self._waiting:
                return
            self._waiting.add(group)
        asyncio.run_coroutine_threadsafe(self._send(group), self._loop)

    async def _send(self, group: str) -> None:
        layer: Any = get_channel_layer()
        with self._lock:
            self._waiting.discard(group)
        try:
            await layer.group_send(group, {"type": "run.doorbell"})
        except Exception as error:
            log.warning("doorbell of %s did not ring: %s", group, error)


@cache
def _bell() -> Bell:
    return Bell()
