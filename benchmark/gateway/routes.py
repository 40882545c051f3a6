"""The gateway as an ASGI application: the first route that accepts a request answers it, otherwise 403."""

import asyncio
import contextlib
from collections.abc import Coroutine, Sequence
from typing import Any, Protocol

from benchmark.gateway.asgi import (
    MAX_BODY_BYTES,
    BodyTooLarge,
    ClientGone,
    Receive,
    Scope,
    Send,
    answer_json,
    whole_body,
)


class Route(Protocol):
    """One way out."""

    def accepts(self, method: str, raw_path: bytes) -> bool:
        """Whether this request may go this way. `raw_path` is as the client wrote it, without the query."""
        ...

    async def answer(self, scope: Scope, body: bytes, send: Send) -> None:
        """Answer an accepted request; cancelled when the client goes away."""
        ...

    async def close(self) -> None:
        """Give connections back."""
        ...


class GatewayApp:
    """The application over `routes`."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self.routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        for route in self.routes:
            await route.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = next((each for each in self.routes if each.accepts(scope["method"], scope["raw_path"])), None)
        if route is None:
            await answer_json(send, 403, "This address cannot be reached from inside the sandbox.", close=True)
            return
        try:
            body = await whole_body(scope, receive)
            await until_gone(route.answer(scope, body, send), receive)
        except BodyTooLarge:
            await answer_json(send, 413, f"The body is over {MAX_BODY_BYTES} bytes.", close=True)
        except ClientGone:
            return


async def until_gone(work: Coroutine[Any, Any, None], receive: Receive) -> None:
    """Do the work; give it up when the client disconnects.

    Raises: ClientGone; whatever `work` raises.
    """
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_disconnected(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGone
        await working
    finally:
        for task in (working, leaving):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
