"""The words of ASGI that the gateway uses (asgi.readthedocs.io, HTTP connection scope)."""

import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
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


async def whole_body(scope: Scope, receive: Receive, most: int = MAX_BODY_BYTES) -> bytes:
    """The request's body of at most `most` bytes, kept whole because a retry sends it again.

    Raises: BodyTooLarge: by its declared length before a byte is read, else as soon as it is over; ClientGone.
    """
    declared = dict(scope["headers"]).get(b"content-length", b"0")
    if not declared.isdigit() or int(declared) > most:
        raise BodyTooLarge
    body = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        body += message.get("body", b"")
        if len(body) > most:
            raise BodyTooLarge
        more = message.get("more_body", False)
    return bytes(body)
