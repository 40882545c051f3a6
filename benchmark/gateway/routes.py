"""The gateway as an ASGI application: the first route that accepts a request answers it, otherwise 403."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Sequence
from typing import Any, Protocol

from benchmark.gateway.asgi import (
    Body,
    BodyTooLarge,
    ClientGone,
    Receive,
    Scope,
    Send,
    answer_json,
)

REFUSED_MOST = 200


class Route(Protocol):
    """One way out."""

    max_body_bytes: int
    """The largest body of a request."""

    def accepts(self, method: str, raw_path: bytes) -> bool:
        """Whether this request may go this way. `raw_path` is as the client wrote it, without the query."""
        ...

    async def answer(self, scope: Scope, body: Body, send: Send) -> None:
        """Answer an accepted request; cancelled when the client goes away. May raise what reading the body raises."""
        ...

    async def close(self) -> None:
        """Give connections back."""
        ...


class GatewayApp:
    """The application over `routes`."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self.routes = routes
        self.refused: Counter[str] = Counter()
        """Paths that no route accepts, and how often they were asked for; of the first REFUSED_MOST paths."""

    async def close(self) -> None:
        for route in self.routes:
            await route.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = next((each for each in self.routes if each.accepts(scope["method"], scope["raw_path"])), None)
        if route is None:
            path = scope["raw_path"].decode("ascii", "replace")[:300]
            if path in self.refused or len(self.refused) < REFUSED_MOST:
                self.refused[path] += 1
            await answer_json(send, 403, "This address cannot be reached from inside the sandbox.", close=True)
            return
        try:
            body = Body(scope, receive, route.max_body_bytes)
            await _unless_left(route.answer(scope, body, send), body)
        except BodyTooLarge:
            await answer_json(send, 413, f"The body is over {route.max_body_bytes} bytes.", close=True)
        except ClientGone:
            return


async def _unless_left(work: Coroutine[Any, Any, None], body: Body) -> None:
    """Do the work; give it up when the client disconnects, which it also does when the gateway hangs up.

    Raises: ClientGone; whatever `work` raises.
    """
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(body.left())
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGone
        await working
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)
