"""A path of the socket that takes a JSON object and answers with one."""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from benchmark.gateway.asgi import MAX_BODY_BYTES, Body, Scope, Send, answer_json
from grading.outside.provider import ProviderFault

log = logging.getLogger(__name__)
Handler = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Raises: ProviderFault; ValueError: what was asked is not understood."""


class HandlerRoute:
    """Implements `benchmark.gateway.routes.Route` for `POST path`: 200 with the answer, 400, or 502 with a `detail`."""

    max_body_bytes = MAX_BODY_BYTES

    def __init__(self, path: str, handler: Handler, closing: Callable[[], Awaitable[None]] | None = None) -> None:
        self._path = path.encode()
        self._handler = handler
        self._closing = closing

    def accepts(self, method: str, raw_path: bytes) -> bool:
        return method == "POST" and raw_path == self._path

    async def close(self) -> None:
        if self._closing is not None:
            await self._closing()

    async def answer(self, scope: Scope, body: Body, send: Send) -> None:
        try:
            asked = json.loads(await body.whole())
            if not isinstance(asked, dict):
                raise ValueError("the body must be a JSON object")
            told = await self._handler(asked)
        except ValueError as error:
            await answer_json(send, 400, str(error))
            return
        except ProviderFault as fault:
            log.warning("%s: %s", scope["path"], fault)
            await answer_json(send, 502, str(fault))
            return
        text = json.dumps(told).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(text)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": text})
