"""What a provider's refusal means for the run that met it."""

import re

from benchmark.gateway.ledger import Kind

CONTEXT = re.compile(
    r"context[_ ](length|window)|maximum context|prompt is too long|input token count|too many (input )?tokens"
    r"|exceeds? the (maximum|limit).{0,40}tokens|request_too_large",
    re.IGNORECASE,
)
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
