"""The words of ASGI that the gateway uses (asgi.readthedocs.io, HTTP connection scope)."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = Iterable[tuple[bytes, bytes]]

MAX_BODY_BYTES = 1 << 20


class ClientGone(Exception):
    """The client went away before its request was complete, or while it waited for the answer."""


class BodyTooLarge(Exception):
    """The request's body is over what its route takes."""


async def answer_json(send: Send, status: int, message: str, *, close: bool = False) -> None:
    body = json.dumps({"detail": message}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if close:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Body:
    """A request's body of at most `most` bytes, read once: piece by piece while it comes, or whole.

    Reading raises: BodyTooLarge: as soon as it is over; ClientGone.
    """

    def __init__(self, scope: Scope, receive: Receive, most: int = MAX_BODY_BYTES) -> None:
        """Raises: BodyTooLarge: by its declared length."""
        declared = dict(scope["headers"]).get(b"content-length")
        if declared is not None and (not declared.isdigit() or int(declared) > most):
            raise BodyTooLarge
        self.length = None if declared is None else int(declared)
        """As declared; None: it comes in chunks."""
        self.received = 0
        self._receive, self._most = receive, most
        self._read = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """No piece is empty."""
        more = True
        while more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            piece, more = message.get("body", b""), message.get("more_body", False)
            self.received += len(piece)
            if self.received > self._most:
                raise BodyTooLarge
            if piece:
                yield piece
        self._read.set()

    async def whole(self) -> bytes:
        """Kept whole, because it may be sent again or changed."""
        return b"".join([piece async for piece in self])

    async def left(self) -> None:
        """Return when the client goes away after it has sent its body."""
        await self._read.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass
