"""The rollout files that Codex CLI keeps in its home folder."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from traces.contract import Basis, EventKind, Record, TraceEvent
from traces.dialects.common import (
    LineBase,
    as_json,
    decoded,
    event,
    items,
    mapping,
    moment,
    name_of,
    openai_usage,
    some,
    text_of,
)

TYPES = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"})
ROLES = {"user": EventKind.USER, "assistant": EventKind.ASSISTANT}
ECHOES = {"agent_message": "assistant", "user_message": "user", "agent_reasoning": "reasoning"}
OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output")
CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call")


class CodexRollout(LineBase):
    """Messages stand twice, as `response_item` and as `event_msg`: the first seen counts, its echo is dropped."""

    name = "codex-rollout"
    agent = "Codex CLI"

    def __init__(self, read_back: Any) -> None:
        super().__init__(read_back)
        self._session = ""
        self._said: dict[bool, Counter[tuple[str, int]]] = {True: Counter(), False: Counter()}

    @classmethod
    def recognises(cls, value: dict[str, Any]) -> bool:
        return value.get("type") in TYPES and isinstance(value.get("payload"), dict) and "timestamp" in value

    def record(self, record: Record) -> Iterable[TraceEvent] | None:
        value, payload = record.value, record.value["payload"]
        at = moment(value["timestamp"])
        match value["type"]:
            case "session_meta":
                return self._start(record, payload, at)
            case "response_item":
                return self._item(record, payload, at)
            case "event_msg":
                return self._message(record, payload, at)
            case "turn_context":
                detail = some(type="turn_context", model=payload.get("model"), effort=payload.get("effort"))
                return [self._event(record, EventKind.NOTICE, "turn context", at=at, detail=detail)]
            case "compacted":
                text = text_of(payload.get("message")) or "context compacted"
                return [self._event(record, EventKind.NOTICE, text, at=at, detail={"type": "compacted"})]
        return None

    def _event(self, record: Record, kind: EventKind, text: str = "", **values: Any) -> TraceEvent:
        return event(record, kind, text, session=self._session, **values)

    def _start(self, record: Record, payload: Any, at: Any) -> list[TraceEvent]:
        self._session = name_of(payload.get("id") or payload.get("session_id"))
        detail = some(
            agent=self.agent, version=payload.get("cli_version"), session=self._session, cwd=payload.get("cwd")
        )
        events = [self._event(record, EventKind.SESSION, "Codex CLI", at=at, detail=detail)]
        if base := text_of(mapping(payload.get("base_instructions")).get("text") or payload.get("instructions")):
            events.append(self._event(record, EventKind.SYSTEM, base, at=at))
        return events

    def _item(self, record: Record, payload: Any, at: Any) -> list[TraceEvent] | None:
        kind = name_of(payload.get("type"))
        if kind == "message":
            text, role = text_of(payload.get("content")), name_of(payload.get("role"))
            if self._echo(True, role, text):
                return []
            return [self._event(record, ROLES.get(role, EventKind.SYSTEM), text, at=at)]
        if kind == "reasoning":
            text = text_of(payload.get("summary") or payload.get("content"))
            if text and self._echo(True, "reasoning", text):
                return []
            hidden = {"hidden": True} if payload.get("encrypted_content") else {}
            return [self._event(record, EventKind.THINKING, text, at=at, detail=hidden)]
        call = name_of(payload.get("call_id") or payload.get("id"))
        if kind in CALLS:
            arguments = decoded(payload.get("arguments", payload.get("input", payload.get("action"))))
            tool = name_of(payload.get("name")) or kind.removesuffix("_call")
            return [self._event(record, EventKind.TOOL_CALL, tool=tool, call_id=call, arguments=arguments, at=at)]
        if kind in OUTPUTS:
            text, detail, failed = _output(payload.get("output"))
            return [self._event(record, EventKind.TOOL_RESULT, text, call_id=call, at=at, failed=failed, detail=detail)]
        return None

    def _message(self, record: Record, payload: Any, at: Any) -> list[TraceEvent] | None:
        kind = name_of(payload.get("type"))
        if kind in ECHOES:
            text = text_of(payload.get("message") or payload.get("text"))
            if self._echo(False, ECHOES[kind], text):
                return []
            return [self._event(record, ROLES.get(ECHOES[kind], EventKind.THINKING), text, at=at)]
        if kind == "token_count":
            return [self._usage(record, mapping(payload.get("info")), at)]
        if kind in ("error", "stream_error", "turn_aborted"):
            text = text_of(payload.get("message") or payload.get("reason")) or kind
            return [self._event(record, EventKind.ERROR, text, at=at, detail={"type": kind})]
        if kind.endswith(("_begin", "_end", "_delta")):
            return []  # what the response items say as well
        text = text_of(payload.get("message") or payload.get("last_agent_message")) if kind != "task_complete" else ""
        return [self._event(record, EventKind.NOTICE, text or kind or as_json(payload), at=at, detail={"type": kind})]

    def _usage(self, record: Record, info: Any, at: Any) -> TraceEvent:
        last = mapping(info.get("last_token_usage"))
        return self._event(
            record,
            EventKind.USAGE,
            "token count",
            at=at,
            tokens=openai_usage(info.get("total_token_usage")),
            basis=Basis.TOTAL,
            detail=some(last={key: value for key, value in last.items() if isinstance(value, int)}),
        )

    def _echo(self, item: bool, role: str, text: str) -> bool:
        """Whether the other source has said this already; what is said first waits for its echo."""
        key = (role, hash(text.strip()))
        if self._said[not item][key] > 0:
            self._said[not item][key] -= 1
            return True
        self._said[item][key] += 1
        return False


def _output(output: Any) -> tuple[str, dict[str, Any], bool | None]:
    """Text, and what a JSON output says of its exit code."""
    inner = decoded(output) if isinstance(output, str) and output.startswith("{") else output
    if isinstance(inner, dict) and "output" in inner:
        code = mapping(inner.get("metadata")).get("exit_code")
        return text_of(inner["output"]), some(exit_code=code), None if code is None else code != 0
    if isinstance(inner, dict) and "content" in inner:
        success = inner.get("success")
        return text_of(inner["content"]), {}, None if success is None else not success
    return text_of(items(output) or output), {}, None
