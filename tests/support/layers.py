"""A channel layer for tests that reaches receivers in other threads' event loops, as Redis does."""

import asyncio
from typing import Any

from channels.layers import InMemoryChannelLayer


class ThreadsLayer(InMemoryChannelLayer):
    """Django Channels' in-memory layer; what is sent is put in by the loop that receives."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._home: asyncio.AbstractEventLoop | None = None

    async def receive(self, channel: str) -> Any:
        self._home = asyncio.get_running_loop()
        return await super().receive(channel)

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        if self._home is None or self._home is asyncio.get_running_loop():
            await super().group_send(group, message)
        else:
            asyncio.run_coroutine_threadsafe(super().group_send(group, message), self._home)
