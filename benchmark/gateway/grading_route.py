"""The way to the grading API: only paths below the run's own prefixes, and restarts of the server stay unseen.

A blocking submit may be answered hours later, and the server may be restarted in between. Such a request carries an
`Idempotency-Key`, so that sending it again joins the same submission instead of making a second one.
"""

import asyncio
import re
import socket
import time
import uuid
from collections.abc import Iterable, Sequence

import httpx

from benchmark.gateway.asgi import MAX_BODY_BYTES, Body, Scope, Send, answer_json
from benchmark.gateway.patience import Patience
from benchmark.gateway.tls import trusted

PLAIN_PATH = re.compile(rb"[A-Za-z0-9._~/-]+")
"""No percent-encoding: nothing that this host and the server could read differently."""
REQUEST_HEADERS = frozenset({b"accept", b"content-type", b"idempotency-key", b"if-none-match", b"user-agent"})
KEPT_BACK = frozenset(
    {b"connection", b"keep-alive", b"proxy-authenticate", b"set-cookie", b"te", b"trailer", b"transfer-encoding"}
)
SAFE = frozenset({"GET", "HEAD"})
RESTARTING = frozenset({500, 502, 504})
"""What the server answers to requests that its end cuts off, and a proxy in front of it while it is away."""
ATTEMPT = b"x-agent2-attempt"
"""Set by the sandbox's forwarder, which asks again when this gateway is gone before it has answered."""
KEY = re.compile(rb"[0-9a-f]{32}")
PATIENCE_S = 120.0
SUBMIT_PATIENCE_S = 900.0
# A peer that has vanished without a word is noticed, although an answer may take hours.
KEEPALIVE = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 30),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
]


class GradingRoute:
    """Forwards to `upstream` what lies below one of `prefixes` (such as `/grading/<token>/`)."""

    max_body_bytes = MAX_BODY_BYTES

    def __init__(
        self,
        upstream: str,
        prefixes: Sequence[str],
        *,
        patience_s: float = PATIENCE_S,
        submit_patience_s: float = SUBMIT_PATIENCE_S,
    ) -> None:
        if not prefixes or not all(re.fullmatch(r"/[A-Za-z0-9._~/-]+/", prefix) for prefix in prefixes):
            raise ValueError("a prefix begins and ends with a slash and has a plain path in between")
        self._upstream = httpx.URL(upstream)
        self._prefixes = tuple(prefix.encode() for prefix in prefixes)
        self._patience_s, self._submit_patience_s = patience_s, submit_patience_s
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(10.0, read=None, pool=None),
            transport=httpx.AsyncHTTPTransport(
                verify=trusted(),
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
                socket_options=KEEPALIVE,
            ),
            trust_env=False,
        )

    def accepts(self, method: str, raw_path: bytes) -> bool:
        return (
            PLAIN_PATH.fullmatch(raw_path) is not None
            and not {b".", b".."} & set(raw_path.split(b"/"))
            and raw_path.startswith(self._prefixes)
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def answer(self, scope: Scope, body: Body, send: Send) -> None:
        response = await self._patiently(self._request(scope, await body.whole()))
        if response is None:
            await answer_json(send, 502, "The grading server does not answer. Try again later.")
            return
        try:
            headers = [(name.lower(), value) for name, value in response.headers.raw]
            kept = [(name, value) for name, value in headers if name not in KEPT_BACK]
            await send({"type": "http.response.start", "status": response.status_code, "headers": kept})
            if response.is_closed:
                await send({"type": "http.response.body", "body": response.content})
                return
            async for chunk in response.aiter_raw():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            await response.aclose()

    def _request(self, scope: Scope, body: bytes) -> httpx.Request:
        query = scope["query_string"]
        target = scope["raw_path"] + (b"?" + query if query else b"")
        headers = [*_passed_on(scope["headers"]), (b"accept-encoding", b"identity")]
        headers += [(b"x-forwarded-host", value) for name, value in scope["headers"] if name == b"host"]
        if is_submit(scope) and not any(name == b"idempotency-key" for name, _ in headers):
            key = next((value for name, value in scope["headers"] if name == ATTEMPT), b"")
            headers.append((b"idempotency-key", key if KEY.fullmatch(key) else uuid.uuid4().hex.encode()))
        return self._client.build_request(
            scope["method"], self._upstream.copy_with(raw_path=target), headers=headers, content=body or None
        )

    async def _patiently(self, request: httpx.Request) -> httpx.Response | None:
        """The response, or None when the server stayed away for too long."""
        keyed = "idempotency-key" in request.headers
        repeatable = keyed or request.method in SAFE
        patience = Patience(self._submit_patience_s if keyed else self._patience_s)
        while True:
            began = time.monotonic()
            try:
                response = await self._attempt(request, whole=repeatable)
                held = time.monotonic() - began
                if not (repeatable and is_away(response) and patience.left(held)):
                    return response
                await response.aclose()
            except (httpx.ConnectError, httpx.ConnectTimeout):
                if not patience.left():
                    return None
            except httpx.TransportError:
                if not repeatable or not patience.left(time.monotonic() - began):
                    return None
            await asyncio.sleep(patience.pause())

    async def _attempt(self, request: httpx.Request, *, whole: bool) -> httpx.Response:
        """One try. A short answer is read to its end when `whole`, so that one which breaks off can be asked again."""
        response = await self._client.send(request, stream=True)
        length = response.headers.get("content-length", "")
        if whole and length.isdigit() and int(length) <= MAX_BODY_BYTES:
            try:
                await response.aread()
            except BaseException:
                await response.aclose()
                raise
        return response


def is_submit(scope: Scope) -> bool:
    path = bytes(scope["raw_path"]).rstrip(b"/")
    return scope["method"] == "POST" and path.endswith(b"/submit")


def is_away(response: httpx.Response) -> bool:
    """Whether the answer is not the grading API's own: that is JSON, and names a time where it is to be asked again."""
    if response.status_code != 503:
        return response.status_code in RESTARTING
    own = response.headers.get("content-type", "").startswith("application/json")
    return not own or "retry-after" in response.headers


def _passed_on(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Few headers: no cookie, no credentials, no claim about who the client is."""
    return [(name, value) for name, value in headers if name in REQUEST_HEADERS]
