"""The way to the hosts on the operator's allow-list, such as a package index or a model hub: `/out/<host>/<path>`.

By host and method, over HTTPS, without credentials either way. Redirects and the links of an index lead back here when
their host is allowed too, so that clients which are given this address as their index find everything through it.
"""

import re
from collections.abc import AsyncIterator, Mapping

import httpx

from benchmark.gateway.asgi import MAX_BODY_BYTES, Body, Scope, Send, answer_json
from benchmark.gateway.ledger import Ledger
from benchmark.gateway.tls import trusted

PREFIX = "/out/"
PATH = re.compile(rb"/out/([a-z0-9.-]+(?::\d{1,5})?)(/[A-Za-z0-9._~/%@+:,!*'()=;$&-]*)")
REQUEST_HEADERS = frozenset(
    {b"accept", b"content-type", b"if-none-match", b"if-modified-since", b"range", b"user-agent"}
)
KEPT_BACK = frozenset(
    {b"connection", b"keep-alive", b"set-cookie", b"te", b"trailer", b"transfer-encoding", b"strict-transport-security"}
)
INDEX = re.compile(r"text/html|application/(vnd\.[a-z.+-]*\+)?json|application/vnd\.npm")
INDEX_BYTES = 32 << 20
"""The largest page of an index whose links are led back here."""
ROOTED = re.compile(rb"""(\b(?:href|src)=["'])/(?!/)""")
"""A link of a page to its own host."""
READ_S = 300.0


class OutRoute:
    """`allowed`: methods by host. Requests are written to the run's log, bodies are not."""

    max_body_bytes = MAX_BODY_BYTES

    def __init__(self, allowed: Mapping[str, frozenset[str]], ledger: Ledger, *, scheme: str = "https") -> None:
        self.allowed, self.ledger, self.scheme = allowed, ledger, scheme
        self._client = httpx.AsyncClient(
            verify=trusted(),
            timeout=httpx.Timeout(20.0, read=READ_S, pool=None),
            limits=httpx.Limits(max_connections=64),
        )
        hosts = "|".join(re.escape(host) for host in sorted(allowed, key=len, reverse=True))
        self._links = re.compile(rf"{scheme}://({hosts})(?=[/\"'?#])".encode())

    def accepts(self, method: str, raw_path: bytes) -> bool:
        found = PATH.fullmatch(raw_path)
        if found is None or b".." in raw_path.split(b"/"):
            return False
        return method in self.allowed.get(found[1].decode(), frozenset())

    async def close(self) -> None:
        await self._client.aclose()

    async def answer(self, scope: Scope, body: Body, send: Send) -> None:
        found = PATH.fullmatch(scope["raw_path"])
        assert found is not None, "the route accepted it"
        host, path, content = found[1].decode(), found[2].decode(), await body.whole()
        entry = {"route": "out", "method": scope["method"], "host": host, "path": path, "bytes_in": len(content)}
        query = scope["query_string"].decode("latin-1")
        headers = [pair for pair in scope["headers"] if pair[0] in REQUEST_HEADERS]
        request = self._client.build_request(
            scope["method"],
            f"{self.scheme}://{host}{path}" + (f"?{query}" if query else ""),
            headers=[*headers, (b"accept-encoding", b"identity")],
            content=content or None,
        )
        try:
            response = await self._client.send(request, stream=True)
        except httpx.HTTPError as error:
            self.ledger.write(**entry, status=502, error=f"{type(error).__name__}: {error}"[:300])
            await answer_json(send, 502, f"{host} cannot be reached.")
            return
        told = {"status": response.status_code, "bytes_out": 0}
        try:
            told["bytes_out"] = await self._pass_on(scope, response, send)
        except httpx.HTTPError as error:
            entry["error"] = f"{type(error).__name__}: {error}"[:300]
        finally:
            await response.aclose()
            self.ledger.write(**entry, **told)

    async def _pass_on(self, scope: Scope, response: httpx.Response, send: Send) -> int:
        """Returns the bytes of the body. What breaks off is left without an end. Raises: httpx.HTTPError."""
        here = b"http://" + dict(scope["headers"]).get(b"host", b"127.0.0.1") + PREFIX.encode()
        same = here + response.request.url.netloc
        headers = [(name.lower(), value) for name, value in response.headers.raw if name.lower() not in KEPT_BACK]
        headers = [(name, self._place(value, here, same) if name == b"location" else value) for name, value in headers]
        length = response.headers.get("content-length", "")
        index = INDEX.match(response.headers.get("content-type", "")) and scope["method"] == "GET"
        plain = "content-encoding" not in response.headers
        pieces, page, whole = response.aiter_raw(), b"", False
        if index and plain and (not length.isdigit() or int(length) <= INDEX_BYTES):
            page, whole = await _begun(pieces)
        if whole:
            text = ROOTED.sub(rb"\1" + same + b"/", self._links.sub(here + rb"\1", page))
            headers = [pair for pair in headers if pair[0] not in (b"content-length", b"etag")]
            headers.append((b"content-length", str(len(text)).encode()))
            await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
            await send({"type": "http.response.body", "body": text})
            return len(text)
        sent = len(page)
        await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        await send({"type": "http.response.body", "body": page, "more_body": True})
        async for chunk in pieces:
            sent += len(chunk)
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        return sent

    def _place(self, location: bytes, here: bytes, same: bytes) -> bytes:
        """Where a redirect leads: back here for an allowed host, unchanged for any other, which is then refused."""
        if location.startswith(b"/") and not location.startswith(b"//"):
            return same + location
        return self._links.sub(here + rb"\1", location + b"#").removesuffix(b"#")


async def _begun(pieces: AsyncIterator[bytes]) -> tuple[bytes, bool]:
    """What came up to the largest page's size, and whether that is all."""
    data = bytearray()
    async for chunk in pieces:
        data += chunk
        if len(data) > INDEX_BYTES:
            return bytes(data), False
    return bytes(data), True
