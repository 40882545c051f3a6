"""What Claude Code's two formats share: messages made of blocks, and usage that repeats."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from traces.contract import EventKind, Record, Tokens, TraceEvent
from traces.dialects.common import added, as_json, count, event, images_in, mapping, name_of, some, text_of

RECENT = 4096
"""Message ids remembered; the lines of one message stand close together."""


class Messages:
    """Blocks to events. Each part of a message's usage is counted once, however many lines repeat it."""

    def __init__(self) -> None:
        self._prompt_counted: dict[str, None] = {}
        self._output_counted: dict[str, None] = {}

    def events(self, record: Record, *, at: datetime | None, agent: str, session: str) -> Iterator[TraceEvent]:
        message = mapping(record.value["message"])
        role = name_of(message.get("role")) or record.value["type"]
        usage = self._usage(message) if role == "assistant" else (None, {})
        common = {"at": at, "agent": agent, "session": session, "message_id": name_of(message.get("id"))}
        blocks = message.get("content")
        if not isinstance(blocks, list) or not blocks:
            blocks = [{"type": "text", "text": text_of(blocks)}]
        for index, block in enumerate(blocks):
            tokens, detail = usage if index == 0 else (None, {})
            model = name_of(message.get("model"))
            if model and model != "<synthetic>":
                detail = {**detail, "model": model}
            yield _block(record, block, role, tokens=tokens, detail=detail, **common)

    def _usage(self, message: Any) -> tuple[Tokens | None, dict[str, Any]]:
        """Output is the stream's opening value until the message says why it stopped: unknown before."""
        usage, key = mapping(message.get("usage")), name_of(message.get("id"))
        if not usage or message.get("model") == "<synthetic>":
            return None, {}
        parts: list[int | None] = [None, None, None]
        opening = count(usage.get("output_tokens"))
        if _first(self._prompt_counted, key):
            cached = count(usage.get("cache_read_input_tokens"))
            made = count(usage.get("cache_creation_input_tokens"))
            parts[0], parts[2] = added(count(usage.get("input_tokens")), cached, made), cached
        if message.get("stop_reason") and _first(self._output_counted, key):
            parts[1], opening = opening, None
        tokens = Tokens(*parts) if any(part is not None for part in parts) else None
        return tokens, some(opening_output_tokens=opening, stop_reason=message.get("stop_reason"))


def _first(seen: dict[str, None], key: str) -> bool:
    if key and key in seen:
        return False
    seen[key] = None
    if len(seen) > RECENT:
        del seen[next(iter(seen))]
    return True


def _block(record: Record, block: Any, role: str, *, detail: dict[str, Any], **common: Any) -> TraceEvent:
    said = EventKind.ASSISTANT if role == "assistant" else EventKind.USER
    if not isinstance(block, dict):
        return event(record, said, text_of(block), detail=detail, **common)
    kind = name_of(block.get("type"))
    if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        names = {"tool": name_of(block.get("name")), "call_id": name_of(block.get("id"))}
        return event(record, EventKind.TOOL_CALL, arguments=block.get("input"), detail=detail, **names, **common)
    if kind == "tool_result" or kind.endswith("_tool_result"):
        return _result(record, block, detail, common)
    if kind in ("thinking", "redacted_thinking"):
        hidden = not block.get("thinking")
        detail = {**detail, "hidden": True} if hidden else detail
        return event(record, EventKind.THINKING, text_of(block.get("thinking")), detail=detail, **common)
    if kind == "text":
        return event(record, said, text_of(block.get("text")), detail=detail, **common)
    if images := images_in([block]):
        return event(record, said, text_of([block]), detail={**detail, "images": images}, **common)
    return event(record, EventKind.RAW, as_json(block), detail={**detail, "reason": "unknown", "block": kind}, **common)


def _result(record: Record, block: dict[str, Any], detail: dict[str, Any], common: dict[str, Any]) -> TraceEvent:
    content = block.get("content")
    extra = mapping(record.value.get("tool_use_result"))
    exit_code = extra.get("exit_code", extra.get("exitCode"))
    detail = {
        **detail,
        **some(images=images_in(content), exit_code=exit_code, interrupted=extra.get("interrupted") or None),
    }
    failed = block.get("is_error")
    return event(
        record,
        EventKind.TOOL_RESULT,
        text_of(content),
        call_id=name_of(block.get("tool_use_id")),
        failed=failed if isinstance(failed, bool) else None,
        detail=detail,
        **common,
    )
