"""The way to the driver's provider: adds the key, streams through, counts, and keeps within the run's budgets.

The sandbox asks `/provider/<name>/<path of the provider's API>`. It never holds a key; what credentials it sends are
dropped. Requests that are out when a budget is used up may go over it, at most AT_ONCE; every other one is refused.
"""

import asyncio
import contextlib
import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

import httpx

from benchmark.gateway.answers import AnswerReader, error_text
from benchmark.gateway.asgi import Scope, Send
from benchmark.gateway.exchange import Exchange
from benchmark.gateway.ledger import Kind, Ledger
from benchmark.gateway.providers import Endpoint, Provider, endpoint_of, model_allowed, model_of, refusal
from benchmark.gateway.trouble import NOT_AGAIN, kind_of
from benchmark.gateway.usage import Usage

PREFIX = "/provider/"
MOST_BYTES = 64 << 20
AT_ONCE = 16
"""Requests of one run that may wait for its provider at the same time; further ones wait here."""
READ_S = 600.0
LINGER_S = 2.0
ERROR_BYTES = 1 << 20
PLAIN = re.compile(r"[A-Za-z0-9._:/-]+")
REQUEST_HEADERS = re.compile(
    r"accept|content-type|user-agent|anthropic-(version|beta)|openai-beta|originator|session[-_]id|conversation[-_]id"
    r"|x-stainless-[a-z-]+|x-goog-api-client|x-app",
)
RESPONSE_HEADERS = re.compile(
    r"content-type|retry-after(-ms)?|x-should-retry|(x-)?request-id|anthropic-ratelimit-[a-z-]+|x-ratelimit-[a-z-]+"
)


class Refused(Exception):
    """The request does not go out; `again` is whether the client may try once more."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status, self.kind = status, kind


@dataclass(frozen=True)
class Asked:
    """A request that may go out."""

    endpoint: Endpoint
    path: str
    query: str
    model: str
    body: bytes


class ProviderRoute:
    """Leads to one provider and to the models that fit `models` (patterns as in `fnmatch`)."""

    max_body_bytes = MOST_BYTES

    def __init__(self, provider: Provider, ledger: Ledger, *, models: Sequence[str]) -> None:
        self.provider, self.ledger, self.models = provider, ledger, tuple(models)
        self._prefix = f"{PREFIX}{provider.name}"
        self._places = asyncio.Semaphore(AT_ONCE)
        self._pumps: set[asyncio.Task[None]] = set()
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(10.0, read=READ_S, write=60.0, pool=None),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=AT_ONCE),
        )

    def accepts(self, method: str, raw_path: bytes) -> bool:
        return self._endpoint(method, raw_path.decode("ascii", "replace")) is not None

    async def close(self) -> None:
        """Answers that nobody hears any more get a moment to tell what they cost."""
        if self._pumps:
            await asyncio.wait(self._pumps, timeout=LINGER_S)
        for pump in self._pumps:
            pump.cancel()
        await asyncio.gather(*self._pumps, return_exceptions=True)
        await self._client.aclose()

    async def answer(self, scope: Scope, body: bytes, send: Send) -> None:
        entry = {"route": self.provider.name, "method": scope["method"], "bytes_in": len(body)}
        try:
            asked = self._asked(scope, body)
            async with self._places:
                self._afford(asked.endpoint)
                entry |= {"path": asked.path, "model": asked.model}
                await self._through(scope, asked, send, entry)
        except Refused as refused:
            self.ledger.write(**entry, path=scope["path"], status=refused.status, error=str(refused))
            await self._refuse(send, refused.status, refused.kind, str(refused), again=False)

    def _endpoint(self, method: str, path: str) -> Endpoint | None:
        rest = path.removeprefix(self._prefix)
        if rest == path or not PLAIN.fullmatch(rest) or ".." in rest:
            return None
        return endpoint_of(self.provider.dialect, method, rest)

    def _asked(self, scope: Scope, body: bytes) -> Asked:
        """Raises: Refused."""
        path = bytes(scope["raw_path"]).decode().removeprefix(self._prefix)
        endpoint = endpoint_of(self.provider.dialect, scope["method"], path)
        assert endpoint is not None, "the route accepted it"
        told = _object(body) if scope["method"] == "POST" else {}
        model = model_of(endpoint, path, told)
        if scope["method"] == "POST" and not model_allowed(model, self.models):
            known = ", ".join(self.models)
            raise Refused(403, "permission_error", f"This run's driver is {known}; {model[:80]!r} may not be asked.")
        return Asked(endpoint, path, _query(scope["query_string"]), model, _telling_usage(path, told, body))

    def _afford(self, endpoint: Endpoint) -> None:
        """Asked when the request has its place: while it waited, others may have used up the rest. Raises: Refused."""
        if endpoint.read and (budget := self.ledger.used_up()):
            self.ledger.refuse()
            raise Refused(403, "permission_error", f"This run's budget of {budget} is used up.")

    async def _through(self, scope: Scope, asked: Asked, send: Send, entry: dict[str, Any]) -> None:
        began = time.monotonic()
        try:
            response = await self._client.send(self._request(scope, asked), stream=True)
        except httpx.HTTPError as error:
            await self._unreached(asked, send, error, entry)
            return
        entry |= {"status": response.status_code, "first_byte_ms": _ms(began)}
        if response.status_code >= 400:
            await self._failed(response, asked, send, entry)
            return
        reader = AnswerReader(response.headers.get("content-type", ""), asked.endpoint.read or _uncounted)
        exchange = Exchange(response, reader)
        pump = asyncio.create_task(self._pump(exchange, asked, began, entry))
        self._pumps.add(pump)
        pump.add_done_callback(self._pumps.discard)
        try:
            await self._pass_on(response, exchange, send)
        finally:
            exchange.leave()

    async def _pass_on(self, response: httpx.Response, exchange: Exchange, send: Send) -> None:
        """The answer as it comes. One that broke off is left without an end, so that the client sees that too."""
        headers = _kept(response.headers)
        await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        async for chunk in exchange.pieces():
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        if not exchange.broken:
            await send({"type": "http.response.body", "body": b""})

    async def _pump(self, exchange: Exchange, asked: Asked, began: float, entry: dict[str, Any]) -> None:
        try:
            await exchange.pump()
        finally:
            self._settle(exchange, asked, entry | {"ms": _ms(began), "bytes_out": exchange.sent_bytes})

    def _settle(self, exchange: Exchange, asked: Asked, entry: dict[str, Any]) -> None:
        """Into the accounts. An answer that told no usage before its end counts as cut."""
        usage, error = exchange.reader.close(), exchange.reader.error
        cost = None
        if asked.endpoint.read is not None:
            if error:
                kind = kind_of(500, error)
                self.ledger.failed(kind, error, model=asked.model, usage=usage)
            elif exchange.broken:
                self.ledger.failed("cut", exchange.broken, model=asked.model, usage=usage)
            else:
                cost = self.ledger.answered(asked.model, usage)
        entry |= {"usage": _told(usage), "cost_usd": cost}
        self.ledger.write(**entry, **({"error": error or exchange.broken} if error or exchange.broken else {}))

    async def _failed(self, response: httpx.Response, asked: Asked, send: Send, entry: dict[str, Any]) -> None:
        """An HTTP error: passed on, except what it says about the platform's own key."""
        text = await _short(response)
        with contextlib.suppress(ValueError):
            told = json.loads(text)
            text = error_text(told.get("error", told)) if isinstance(told, dict) else text
        text = text.replace(self.provider.key, "•••") if self.provider.key else text
        kind = kind_of(response.status_code, text)
        if asked.endpoint.read is not None:
            self.ledger.failed(kind, f"HTTP {response.status_code}: {text}", model=asked.model)
        self.ledger.write(**entry, error=text[:300])
        message = "The provider refused the platform's key." if kind == "auth" else text[:2000]
        await self._refuse(
            send,
            response.status_code,
            "authentication_error" if kind == "auth" else ERROR_KINDS.get(response.status_code, "api_error"),
            message,
            again=kind not in NOT_AGAIN,
            headers=[pair for pair in _kept(response.headers) if pair[0] not in (b"content-type", b"x-should-retry")],
        )

    async def _unreached(self, asked: Asked, send: Send, error: Exception, entry: dict[str, Any]) -> None:
        detail = f"{type(error).__name__}: {error}"
        if asked.endpoint.read is not None:
            self.ledger.failed("unreachable", detail, model=asked.model)
        self.ledger.write(**entry, status=502, error=detail[:300])
        await self._refuse(send, 502, "api_error", "The provider cannot be reached.", again=True)

    async def _refuse(
        self,
        send: Send,
        status: int,
        kind: str,
        message: str,
        *,
        again: bool,
        headers: Iterable[tuple[bytes, bytes]] = (),
    ) -> None:
        body = json.dumps(refusal(self.provider.dialect, status, kind, message)).encode()
        own = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"x-should-retry", b"true" if again else b"false"),
        ]
        await send({"type": "http.response.start", "status": status, "headers": [*own, *headers]})
        await send({"type": "http.response.body", "body": body})

    def _request(self, scope: Scope, asked: Asked) -> httpx.Request:
        headers = [pair for pair in scope["headers"] if REQUEST_HEADERS.fullmatch(pair[0].decode("latin-1"))]
        headers += [*self.provider.credentials(), (b"accept-encoding", b"identity")]
        url = self.provider.url + asked.path + (f"?{asked.query}" if asked.query else "")
        return self._client.build_request(scope["method"], url, headers=headers, content=asked.body or None)


ERROR_KINDS = {
    400: "invalid_request_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def _object(body: bytes) -> dict[str, Any]:
    """Raises: Refused: no JSON object."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise Refused(400, "invalid_request_error", "The body must be a JSON object.")
    return told


def _telling_usage(path: str, told: dict[str, Any], body: bytes) -> bytes:
    """A stream of Chat Completions tells its usage only when it is asked to."""
    if not path.endswith("/chat/completions") or not told.get("stream"):
        return body
    options = told.get("stream_options")
    if isinstance(options, dict) and options.get("include_usage"):
        return body
    return json.dumps(
        told | {"stream_options": {**(options if isinstance(options, dict) else {}), "include_usage": True}}
    ).encode()


def _query(raw: bytes) -> str:
    """Without credentials, which Gemini's clients may put there."""
    return urlencode([(name, value) for name, value in parse_qsl(raw.decode("latin-1")) if name != "key"])


def _kept(headers: httpx.Headers) -> list[tuple[bytes, bytes]]:
    lower = [(name.lower(), value) for name, value in headers.raw]
    return [pair for pair in lower if RESPONSE_HEADERS.fullmatch(pair[0].decode("latin-1"))]


async def _short(response: httpx.Response) -> str:
    """The beginning of an error's body; what breaks off is told as far as it came."""
    data = bytearray()
    with contextlib.suppress(httpx.HTTPError):
        async for chunk in response.aiter_raw():
            data += chunk
            if len(data) > ERROR_BYTES:
                break
    await response.aclose()
    return data[:ERROR_BYTES].decode("utf-8", "replace")


def _uncounted(_message: Mapping[str, Any], before: Usage | None) -> Usage | None:
    return before


def _told(usage: Usage | None) -> dict[str, int] | None:
    return None if usage is None else dict(vars(usage))


def _ms(began: float) -> float:
    return round((time.monotonic() - began) * 1000, 1)


__all__ = ["PREFIX", "Kind", "ProviderRoute", "Refused"]
