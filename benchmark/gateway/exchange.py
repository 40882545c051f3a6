"""One answer on its way through. Reading goes on when the client leaves, because what it asked for is paid."""

import asyncio
from collections.abc import AsyncIterator

import httpx

from benchmark.gateway.answers import AnswerReader

WAITING = 64
"""Pieces that wait for a slow client before the provider has to."""


class Exchange:
    """Started as a task (`pump`) and listened to (`pieces`), until the answer's end or `leave`."""

    def __init__(self, response: httpx.Response, reader: AnswerReader) -> None:
        self.reader = reader
        self.broken = ""
        """How the answer broke off; empty: it came whole."""
        self.sent_bytes = 0
        self._response = response
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue(WAITING)
        self._heard = True

    async def pump(self) -> None:
        """Read to the end, whether or not somebody listens."""
        try:
            async for chunk in self._response.aiter_raw():
                self.reader.feed(chunk)
                self.sent_bytes += len(chunk)
                if self._heard:
                    await self._queue.put(chunk)
        except httpx.HTTPError as error:
            self.broken = f"{type(error).__name__}: {error}"[:300]
        finally:
            await self._response.aclose()
            if self._heard:
                await self._queue.put(None)

    async def pieces(self) -> AsyncIterator[bytes]:
        """What comes, as it comes."""
        while (chunk := await self._queue.get()) is not None:
            yield chunk

    def leave(self) -> None:
        """Nobody listens any more."""
        self._heard = False
        while not self._queue.empty():
            self._queue.get_nowait()
