"""The words of ASGI that the gateway uses (asgi.readthedocs.io, HTTP connection scope)."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, MutableMapping
from http import HTTPStatus
from typing import Any

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = Iterable[tuple[bytes, bytes]]

MAX_BODY_BYTES = 1 << 20
BODY_S = 120.0
"""How long a client may let us wait for its request's body, all pauses together."""


class ClientGone(Exception):
    """The client went away before its request was complete, or while it waited for the answer."""


class BodyTooLarge(Exception):
    """The request's body is over what its route takes."""


class BodyTooSlow(Exception):
    """The client keeps us waiting for its request's body."""


def _told(message: str, *, close: bool) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    body = json.dumps({"detail": message}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    return body, [*headers, (b"connection", b"close")] if close else headers


async def answer_json(send: Send, status: int, message: str, *, close: bool = False) -> None:
    body, headers = _told(message, close=close)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def whole_answer(status: int, message: str) -> bytes:
    """The same as it goes over the wire, before the connection is closed."""
    body, headers = _told(message, close=True)
    lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n".encode() + lines + b"\r\n" + body


class Body:
    """A request's body of at most `most` bytes, read once: piece by piece while it comes, or whole.

    Reading raises: BodyTooLarge: as soon as it is over; BodyTooSlow; ClientGone.
    """

    def __init__(self, scope: Scope, receive: Receive, most: int = MAX_BODY_BYTES, *, seconds: float = BODY_S) -> None:
        """`seconds`: see BODY_S. Raises: BodyTooLarge: by its declared length."""
        declared = dict(scope["headers"]).get(b"content-length")
        if declared is not None and (not declared.isdigit() or int(declared) > most):
            raise BodyTooLarge
        self.length = None if declared is None else int(declared)
        """As declared; None: it comes in chunks."""
        self.received = 0
        self._receive, self._most, self._left_s = receive, most, seconds
        self._read = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """No piece is empty."""
        more = True
        while more:
            message = await self._next()
            if message["type"] == "http.disconnect":
                raise ClientGone
            piece, more = message.get("body", b""), message.get("more_body", False)
            self.received += len(piece)
            if self.received > self._most:
                raise BodyTooLarge
            if piece:
                yield piece
        self._read.set()

    async def _next(self) -> Message:
        """What we do with a piece meanwhile is no time of the client's."""
        began = time.monotonic()
        try:
            async with asyncio.timeout(self._left_s):
                return await self._receive()
        except TimeoutError:
            raise BodyTooSlow from None
        finally:
            self._left_s -= time.monotonic() - began

    async def whole(self) -> bytes:
        """Kept whole, because it may be sent again or changed."""
        return b"".join([piece async for piece in self])

    async def left(self) -> None:
        """Return when the client goes away after it has sent its body."""
        await self._read.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass
