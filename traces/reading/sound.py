"""Whether what a dialect made of a record holds the types that are promised: what an agent wrote may be of any."""

from collections.abc import Mapping
from datetime import datetime

from traces.contract import Tokens, TraceEvent


def is_sound(event: TraceEvent) -> bool:
    """False where a field holds another type than `TraceEvent` says: nothing behind the reader looks again."""
    names = (event.text, event.agent, event.session, event.tool, event.call_id, event.message_id)
    return (
        all(type(name) is str or isinstance(name, str) for name in names)
        and (event.at is None or isinstance(event.at, datetime))
        and (event.failed is None or isinstance(event.failed, bool))
        and (event.cost is None or isinstance(event.cost, int | float))
        and (event.tokens is None or isinstance(event.tokens, Tokens))
        and isinstance(event.detail, Mapping)
    )
