"""The way to the driver's provider: adds the key, streams through, counts, and keeps within the run's budgets.

The sandbox asks `/provider/<name>/<path of the provider's API>`. It never holds a key; what credentials it sends are
dropped. Requests that are out when a budget is used up may go over it, at most AT_ONCE; every other one is refused.
"""

import asyncio
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from benchmark.gateway.answers import AnswerReader
from benchmark.gateway.asgi import Body, Scope, Send
from benchmark.gateway.asked import Asked, Refused, without_key
from benchmark.gateway.exchange import Exchange
from benchmark.gateway.ledger import Ledger
from benchmark.gateway.passing import Passing
from benchmark.gateway.providers import Endpoint, Provider, endpoint_of
from benchmark.gateway.refusing import refusal_read, refuse, refuse_as_provider
from benchmark.gateway.tls import trusted
from benchmark.gateway.usage import Usage

PREFIX = "/provider/"
MOST_BYTES = 64 << 20
AT_ONCE = 16
"""Requests of one run that may wait for its provider at the same time; further ones wait here."""
READ_S = 600.0
LINGER_S = 2.0
PLAIN = re.compile(r"[A-Za-z0-9._:/-]+")
REQUEST_HEADERS = re.compile(
    r"accept|content-type|user-agent|anthropic-(version|beta)|openai-beta|originator|session[-_]id|conversation[-_]id"
    r"|x-stainless-[a-z-]+|x-goog-api-client|x-app",
)
RESPONSE_HEADERS = re.compile(
    r"content-type|retry-after(-ms)?|x-should-retry|(x-)?request-id|anthropic-ratelimit-[a-z-]+|x-ratelimit-[a-z-]+"
)


class ProviderRoute:
    """Leads to one provider and to the models that fit `models` (patterns as in `fnmatch`)."""

    max_body_bytes = MOST_BYTES

    def __init__(self, provider: Provider, ledger: Ledger, *, models: Sequence[str]) -> None:
        self.provider, self.ledger, self.models = provider, ledger, tuple(models)
        self._prefix = f"{PREFIX}{provider.name}"
        self._places = asyncio.Semaphore(AT_ONCE)
        self._pumps: set[asyncio.Task[None]] = set()
        self._client = httpx.AsyncClient(
            verify=trusted(),
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

    async def answer(self, scope: Scope, body: Body, send: Send) -> None:
        asked = self._asked(scope)
        entry = {"route": self.provider.name, "method": scope["method"], "path": asked.path}
        try:
            async with self._places:
                self._afford(asked.endpoint)
                await self._through(scope, asked, body, send, entry)
        except Refused as refused:
            entry |= {"model": asked.model, "bytes_in": body.received}
            self.ledger.write(**entry, status=refused.status, error=str(refused))
            dialect = self.provider.dialect
            await refuse(send, dialect, refused.status, refused.kind, str(refused), again=False)

    def _endpoint(self, method: str, path: str) -> Endpoint | None:
        rest = path.removeprefix(self._prefix)
        if rest == path or not PLAIN.fullmatch(rest) or ".." in rest:
            return None
        return endpoint_of(self.provider.dialect, method, rest)

    def _asked(self, scope: Scope) -> Asked:
        path = bytes(scope["raw_path"]).decode().removeprefix(self._prefix)
        endpoint = endpoint_of(self.provider.dialect, scope["method"], path)
        assert endpoint is not None, "the route accepted it"
        return Asked(endpoint, path, without_key(scope["query_string"]))

    def _afford(self, endpoint: Endpoint) -> None:
        """Asked when the request has its place: while it waited, others may have used up the rest. Raises: Refused."""
        if endpoint.read and (budget := self.ledger.used_up()):
            self.ledger.refuse()
            raise Refused(403, "permission_error", f"This run's budget of {budget} is used up.")

    async def _through(self, scope: Scope, asked: Asked, body: Body, send: Send, entry: dict[str, Any]) -> None:
        """Raises: Refused: the body is not to go out."""
        content = await self._content(asked, body)
        began = time.monotonic()
        try:
            response = await self._client.send(self._request(scope, asked, body, content), stream=True)
        except httpx.HTTPError as error:
            await self._unreached(asked, send, error, entry)
            return
        finally:
            entry |= {"model": asked.model, "bytes_in": body.received}
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
        """Into the accounts."""
        usage, error = exchange.reader.close(), exchange.reader.error
        cost = None
        if asked.endpoint.read is not None:
            if error:
                self.ledger.failed(exchange.reader.kind, error, model=asked.model, usage=usage)
            elif exchange.broken:
                self.ledger.failed("cut", exchange.broken, model=asked.model, usage=usage)
            else:
                cost = self.ledger.answered(asked.model, usage)
        entry |= {"usage": _told(usage), "cost_usd": cost}
        self.ledger.write(**entry, **({"error": error or exchange.broken} if error or exchange.broken else {}))

    async def _failed(self, response: httpx.Response, asked: Asked, send: Send, entry: dict[str, Any]) -> None:
        """An HTTP error."""
        kind, text = await refusal_read(response, self.provider)
        if asked.endpoint.read is not None:
            self.ledger.failed(kind, f"HTTP {response.status_code}: {text}", model=asked.model)
        self.ledger.write(**entry, error=text[:300])
        headers = _kept(response.headers)
        await refuse_as_provider(send, self.provider.dialect, response.status_code, kind, text, headers=headers)

    async def _unreached(self, asked: Asked, send: Send, error: Exception, entry: dict[str, Any]) -> None:
        detail = f"{type(error).__name__}: {error}"
        if asked.endpoint.read is not None:
            self.ledger.failed("unreachable", detail, model=asked.model)
        self.ledger.write(**entry, status=502, error=detail[:300])
        message = "The provider cannot be reached."
        await refuse(send, self.provider.dialect, 502, "api_error", message, again=True)

    async def _content(self, asked: Asked, body: Body) -> bytes | Passing:
        """What to send. Raises: Refused."""
        if asked.may_change or not body.length:
            return asked.sent(await body.whole(), self.models)
        return Passing(body, lambda whole: asked.look(whole, self.models))

    def _request(self, scope: Scope, asked: Asked, body: Body, content: bytes | Passing) -> httpx.Request:
        headers = [pair for pair in scope["headers"] if REQUEST_HEADERS.fullmatch(pair[0].decode("latin-1"))]
        headers += [*self.provider.credentials(), (b"accept-encoding", b"identity")]
        if isinstance(content, Passing):
            headers.append((b"content-length", str(body.length).encode()))
        url = self.provider.url + asked.path + (f"?{asked.query}" if asked.query else "")
        return self._client.build_request(scope["method"], url, headers=headers, content=content or None)


def _kept(headers: httpx.Headers) -> list[tuple[bytes, bytes]]:
    lower = [(name.lower(), value) for name, value in headers.raw]
    return [pair for pair in lower if RESPONSE_HEADERS.fullmatch(pair[0].decode("latin-1"))]


def _uncounted(_message: Mapping[str, Any], before: Usage | None) -> Usage | None:
    return before


def _told(usage: Usage | None) -> dict[str, int] | None:
    return None if usage is None else dict(vars(usage))


def _ms(began: float) -> float:
    return round((time.monotonic() - began) * 1000, 1)
