"""Messages in OpenAI's shape, as SWE-agent and mini-swe-agent keep them."""

from collections.abc import Iterator
from typing import Any

from traces.contract import EventKind, Record, TraceEvent
from traces.dialects.common import decoded, event, items, mapping, name_of, text_of

ROLES = {"system": EventKind.SYSTEM, "developer": EventKind.SYSTEM, "user": EventKind.USER}


def tool_calls(record: Record, message: Any, **common: Any) -> Iterator[TraceEvent]:
    """The `tool_calls` of an assistant's message."""
    for call in items(message.get("tool_calls")):
        function = mapping(mapping(call).get("function"))
        yield event(
            record,
            EventKind.TOOL_CALL,
            tool=name_of(function.get("name")),
            call_id=name_of(mapping(call).get("id")),
            arguments=decoded(function.get("arguments")),
            **common,
        )


def thinking(record: Record, message: Any, **common: Any) -> Iterator[TraceEvent]:
    blocks = message.get("thinking_blocks")
    if text := text_of(message.get("reasoning_content")) or text_of(blocks):
        yield event(record, EventKind.THINKING, text, **common)
