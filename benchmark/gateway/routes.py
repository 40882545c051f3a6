"""The gateway as an ASGI application: the first route that accepts a request answers it, otherwise 403."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Sequence
from typing import Any, Protocol

from benchmark.gateway.asgi import (
    BODY_S,
    Body,
    BodyTooLarge,
    BodyTooSlow,
    ClientGone,
    Receive,
    Scope,
    Send,
    answer_json,
)

REFUSED_MOST = 200
CONNECTIONS_MOST = 256
"""Of one run. Each may need another one to a server, and a worker has many runs."""
HEAD_S = 60.0
"""How long a connection may be open without asking for anything."""


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
        self.connections_most, self.head_s, self.body_s = CONNECTIONS_MOST, HEAD_S, BODY_S
        self.refused: Counter[str] = Counter()
        """Paths that no route accepts, and how often they were asked for.

        After the first REFUSED_MOST paths others count together by their beginning: `/grading/…`.
        """
        self.abuse: Counter[str] = Counter()
        """What was done to the gateway itself, by code: see `services/integrity.py`."""

    async def close(self) -> None:
        for route in self.routes:
            await route.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if {b"content-length", b"transfer-encoding"} <= {name for name, _ in scope["headers"]}:
            # Two lengths of one body (RFC 9112, section 6.1): nobody honest sends both.
            self.abuse["malformed_request"] += 1
            await answer_json(send, 400, "Give the body's length or send it in chunks, not both.", close=True)
            return
        route = next((each for each in self.routes if each.accepts(scope["method"], scope["raw_path"])), None)
        if route is None:
            self._note(scope["raw_path"].decode("ascii", "replace")[:300])
            await answer_json(send, 403, "This address cannot be reached from inside the sandbox.", close=True)
            return
        try:
            body = Body(scope, receive, route.max_body_bytes, seconds=self.body_s)
            await _unless_left(route.answer(scope, body, send), body)
        except BodyTooLarge:
            await answer_json(send, 413, f"The body is over {route.max_body_bytes} bytes.", close=True)
        except BodyTooSlow:
            self.abuse["slow_request"] += 1
            await answer_json(send, 408, f"The body did not come within {self.body_s:g} s.", close=True)
        except ClientGone:
            return

    def _note(self, path: str) -> None:
        if path not in self.refused and len(self.refused) >= REFUSED_MOST:
            first = path.split("/", 2)[1] if path.startswith(("/grading/", "/out/", "/provider/")) else ""
            path = f"/{first}/…" if first else "/…"
        self.refused[path] += 1


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
