"""What a provider's refusal means for the run that met it."""

import re
from collections.abc import Mapping
from typing import Any

from benchmark.gateway.ledger import Kind

CONTEXT = re.compile(
    r"context[_ ](length|window|limit)|maximum (context|model length)|prompt is too long|input token count"
    r"|too many (input )?tokens|exceeds? the (maximum|limit).{0,40}tokens|request_too_large",
    re.IGNORECASE,
)
NAMED: Mapping[Kind, re.Pattern[str]] = {
    "rate_limited": re.compile(r"rate_limit|resource_exhausted|quota|\b429\b", re.IGNORECASE),
    "auth": re.compile(r"authentication|permission|unauthenticated|api_key|\b40[13]\b", re.IGNORECASE),
    "refused": re.compile(r"invalid_|not_found|\b40[04]\b", re.IGNORECASE),
}
"""The names of errors in the providers' API references; the first that fits."""
NOT_AGAIN = frozenset({"auth", "context", "refused"})
"""Asking the same again cannot help; clients obey `x-should-retry: false`."""


def kind_of(status: int, text: str) -> Kind:
    """The kind of trouble that an answer with that HTTP status (400 and more) and text is."""
    if CONTEXT.search(text) and status < 500 and status != 429:
        return "context"
    if status in (401, 403):
        return "auth"
    if status == 429:
        return "rate_limited"
    return "refused" if status < 500 and status not in (408, 409, 425) else "error"


def kind_in_answer(error: Any) -> Kind:
    """The kind of trouble that an error is which came with HTTP 200, inside a stream: only its words tell.

    Names are read, not what is told to people, which may quote anything; but length is told in no other way.
    """
    told = error if isinstance(error, Mapping) else {"message": error}
    names = " ".join(str(told.get(key, "")) for key in ("type", "status", "code"))
    kind = next((kind for kind, words in NAMED.items() if words.search(names)), None)
    if kind != "rate_limited" and CONTEXT.search(f"{names} {told.get('message', '')}"):
        return "context"
    return kind or "error"
