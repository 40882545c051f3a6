"""How much of a request's body is taken in: Django stores the whole of it before a view can refuse it."""

from typing import Any

PAGES_MOST = 2 << 20
RECORDS, RECORDS_MOST = "/worker/records/", 65 << 20
"""Where hosts of workers send bytes of their records, and a little more than one piece of them."""


def bounded(handler: Any) -> Any:
    """The same ASGI handler; a body that is declared too long gets 413, one that becomes too long is cut off."""

    async def within(scope: Any, receive: Any, send: Any) -> None:
        most = RECORDS_MOST if scope["path"].startswith(RECORDS) else PAGES_MOST
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if len(declared) > 18 or not declared.isdigit() or int(declared) > most:
            await _refuse(send, most)
            return
        taken = 0

        async def counted() -> Any:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            return message if taken <= most else {"type": "http.disconnect"}

        await handler(scope, counted, send)

    return within


async def _refuse(send: Any, most: int) -> None:
    text = f"A body may have at most {most} bytes here.\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(text)).encode())]
    await send({"type": "http.response.start", "status": 413, "headers": [*headers, (b"connection", b"close")]})
    await send({"type": "http.response.body", "body": text})
