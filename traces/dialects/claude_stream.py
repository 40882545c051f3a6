"""Claude Code's `--output-format stream-json`."""

from collections.abc import Iterable
from typing import Any

from traces.contract import Basis, EventKind, Record, Tokens, TraceEvent
from traces.dialects.claude_messages import Messages
from traces.dialects.common import (
    LineBase,
    added,
    as_json,
    count,
    event,
    mapping,
    moment,
    money,
    name_of,
    some,
    text_of,
)

NOTICES = frozenset({"rate_limit_event", "tool_progress", "auth_status", "tool_use_summary", "prompt_suggestion"})


class ClaudeStream(LineBase):
    name = "claude-stream"
    agent = "Claude Code"

    def __init__(self, read_back: Any) -> None:
        super().__init__(read_back)
        self._messages = Messages()

    @classmethod
    def recognises(cls, value: dict[str, Any]) -> bool:
        kind = value.get("type")
        if kind in ("assistant", "user"):
            return isinstance(value.get("message"), dict) and "sessionId" not in value and "ts" not in value
        if kind in ("system", "result"):
            return isinstance(value.get("subtype"), str) and "session_id" in value
        return kind in NOTICES or (kind in ("stream_event", "control_request") and "session_id" in value)

    def record(self, record: Record) -> Iterable[TraceEvent] | None:
        value = record.value
        session = name_of(value.get("session_id"))
        at = moment(value.get("timestamp"))
        match value.get("type"):
            case "assistant" | "user":
                agent = name_of(value.get("parent_tool_use_id"))
                return self._messages.events(record, at=at, agent=agent, session=session)
            case "result":
                return [_result(record, session)]
            case "system" if value.get("subtype") == "init":
                return [_session(record, session)]
            case "system":
                return [_notice(record, session, at)]
            case "stream_event":
                return []  # pieces of messages that follow whole
            case kind if kind in NOTICES:
                return [event(record, EventKind.NOTICE, as_json(value), at=at, session=session, detail={"type": kind})]
        return None


def _session(record: Record, session: str) -> TraceEvent:
    value = record.value
    detail = some(
        agent="Claude Code",
        version=value.get("claude_code_version"),
        model=value.get("model"),
        session=session,
        cwd=value.get("cwd"),
        permission_mode=value.get("permissionMode"),
    )
    tools = ", ".join(tool for tool in value.get("tools", []) if isinstance(tool, str))
    return event(record, EventKind.SESSION, f"Claude Code, tools: {tools}", session=session, detail=detail)


def _notice(record: Record, session: str, at: Any) -> TraceEvent:
    value = record.value
    subtype = name_of(value["subtype"])
    if subtype == "api_retry":
        text = (
            f"retry {value.get('attempt')} of {value.get('max_retries')} after {value.get('error_status')} "
            f"{value.get('error')}"
        )
    else:
        text = text_of(value.get("description") or value.get("summary") or value.get("status")) or subtype
    call = name_of(value.get("tool_use_id"))
    detail = some(type=subtype, task=value.get("task_id"), call_id=call)
    return event(record, EventKind.NOTICE, text, at=at, session=session, detail=detail)


def _result(record: Record, session: str) -> TraceEvent:
    """The closing line. An authentication failure says `success` and `is_error`."""
    value, usage = record.value, mapping(record.value.get("usage"))
    cached = count(usage.get("cache_read_input_tokens"))
    prompt = added(count(usage.get("input_tokens")), cached, count(usage.get("cache_creation_input_tokens")))
    failed = value.get("is_error")
    detail = some(
        subtype=value.get("subtype"),
        duration_ms=value.get("duration_ms"),
        duration_api_ms=value.get("duration_api_ms"),
        api_error_status=value.get("api_error_status"),
        permission_denials=len(value.get("permission_denials") or ()),
        models=sorted(mapping(value.get("modelUsage"))),
        errors=[text_of(error)[:500] for error in (value.get("errors") or ())[:20]],
    )
    turns = count(value.get("num_turns"))
    return event(
        record,
        EventKind.RESULT,
        text_of(value.get("result")),
        session=session,
        failed=failed if isinstance(failed, bool) else None,
        tokens=Tokens(prompt, count(usage.get("output_tokens")), cached) if usage else None,
        cost=money(value.get("total_cost_usd")),
        basis=Basis.TOTAL,
        detail=detail | ({"declared": {"turns": turns}} if turns is not None else {}),
    )
