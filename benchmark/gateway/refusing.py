"""Answers that the gateway gives itself, in the form that the provider's clients read."""

import contextlib
import json
from collections.abc import Iterable

import httpx

from benchmark.gateway.answers import error_text
from benchmark.gateway.asgi import Send
from benchmark.gateway.ledger import Kind
from benchmark.gateway.providers import Dialect, Provider, refusal
from benchmark.gateway.trouble import NOT_AGAIN, kind_of

ERROR_BYTES = 1 << 20
ERROR_KINDS = {
    400: "invalid_request_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


async def refuse(
    send: Send,
    dialect: Dialect,
    status: int,
    kind: str,
    message: str,
    *,
    again: bool,
    headers: Iterable[tuple[bytes, bytes]] = (),
) -> None:
    """`again`: whether the client may try once more."""
    body = json.dumps(refusal(dialect, status, kind, message)).encode()
    own = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"x-should-retry", b"true" if again else b"false"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": [*own, *headers]})
    await send({"type": "http.response.body", "body": body})


async def refuse_as_provider(
    send: Send, dialect: Dialect, status: int, kind: Kind, text: str, *, headers: Iterable[tuple[bytes, bytes]]
) -> None:
    """The provider's own refusal, passed on, except what it says about the platform's key."""
    own = (b"content-type", b"x-should-retry")
    await refuse(
        send,
        dialect,
        status,
        "authentication_error" if kind == "auth" else ERROR_KINDS.get(status, "api_error"),
        "The provider refused the platform's key." if kind == "auth" else text[:2000],
        again=kind not in NOT_AGAIN,
        headers=[pair for pair in headers if pair[0] not in own],
    )


async def refusal_read(response: httpx.Response, provider: Provider) -> tuple[Kind, str]:
    """What kind of refusal a provider's answer is, and its text without the platform's key. Closes the response."""
    text = await _short(response)
    with contextlib.suppress(ValueError, RecursionError):
        told = json.loads(text)
        text = error_text(told.get("error", told)) if isinstance(told, dict) else text
    text = text.replace(provider.key, "•••") if provider.key else text
    return kind_of(response.status_code, text), text


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
