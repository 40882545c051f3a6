"""Handing a request's body to its view piece by piece, while it arrives: Django itself would store all of it first."""

import asyncio
import io
from collections.abc import AsyncIterator
from typing import Any

from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest

IDLE_S = 60.0
PIECE = 1 << 18


class Cut(Exception):
    """The sender went away, or sent nothing for a while, before the body was whole."""


class StreamedBody(io.BytesIO):
    """Stands where Django keeps a request's body; empty to whoever reads it as a file."""

    def __init__(self, receive: Any) -> None:
        super().__init__()
        self._receive = receive

    async def pieces(self) -> AsyncIterator[bytes]:
        """What arrives, as it arrives. Raises: Cut."""
        more = True
        while more:
            try:
                message = await asyncio.wait_for(self._receive(), IDLE_S)
            except TimeoutError:
                raise Cut from None
            if message["type"] == "http.disconnect":
                raise Cut
            yield message.get("body", b"")
            more = message.get("more_body", False)


class StreamingHandler(ASGIHandler):
    """Django with all its middleware, for views that read the body themselves through `body_pieces`."""

    async def read_body(self, receive: Any) -> StreamedBody:
        return StreamedBody(receive)

    async def listen_for_disconnect(self, receive: Any) -> None:
        """The view notices: only one of us can receive."""
        await asyncio.get_running_loop().create_future()


async def body_pieces(request: HttpRequest) -> AsyncIterator[bytes]:
    """The body of a request, whoever handles it. Raises: Cut."""
    stream = getattr(request, "_stream", None)
    if isinstance(stream, StreamedBody):
        async for piece in stream.pieces():
            yield piece
        return
    while piece := request.read(PIECE):
        yield piece
