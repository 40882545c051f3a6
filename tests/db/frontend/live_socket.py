"""A websocket client of the ASGI application in this process, without a server."""

import json
from typing import Any

from asgiref.testing import ApplicationCommunicator
from django.conf import settings

from config.asgi import application
from tests.support.waiting import LONG_S

OUR_ORIGIN = b"http://127.0.0.1"


class Socket:
    """One connection; times are in seconds."""

    def __init__(self, path: str, origin: bytes = OUR_ORIGIN, session: str = "") -> None:
        headers = [(b"origin", origin), (b"host", b"127.0.0.1")]
        if session:
            headers.append((b"cookie", f"{settings.SESSION_COOKIE_NAME}={session}".encode()))
        scope = {"type": "websocket", "path": path, "headers": headers, "query_string": b"", "subprotocols": []}
        self._app: Any = ApplicationCommunicator(application, scope)  # type: ignore[no-untyped-call]

    async def connect(self) -> bool:
        """True when the server accepts."""
        await self._app.send_input({"type": "websocket.connect"})
        answer = await self._app.receive_output(LONG_S)
        return bool(answer["type"] == "websocket.accept")

    async def disconnect(self) -> None:
        await self._app.send_input({"type": "websocket.disconnect", "code": 1000})
        await self._app.wait(LONG_S)

    async def send(self, text: str | None = None, data: bytes | None = None) -> None:
        await self._app.send_input({"type": "websocket.receive", "text": text, "bytes": data})

    async def after(self, seq: int) -> None:
        await self.send(json.dumps({"after": seq}))

    async def message(self, timeout: float = LONG_S) -> Any:
        """The next message's JSON."""
        answer = await self._app.receive_output(timeout)
        assert answer["type"] == "websocket.send", answer
        return json.loads(answer["text"])

    async def batch(self, timeout: float = LONG_S) -> Any:
        """The next batch of events; log messages between are passed over."""
        while "events" not in (message := await self.message(timeout)):
            pass
        return message

    async def closed(self, timeout: float = LONG_S) -> int:
        """The code with which the server closes."""
        answer = await self._app.receive_output(timeout)
        assert answer["type"] == "websocket.close", answer
        return int(answer["code"])

    async def silent(self, timeout: float) -> bool:
        return bool(await self._app.receive_nothing(timeout))
