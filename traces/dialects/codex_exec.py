"""Codex CLI's `exec --json`."""

from collections.abc import Iterable, Iterator
from typing import Any

from traces.contract import EventKind, Record, TraceEvent
from traces.dialects.common import LineBase, as_json, event, mapping, name_of, openai_usage, some, text_of

STARTS = ("thread.", "turn.", "item.")


class CodexExec(LineBase):
    """Item ids restart in each session: from the second session on call ids are written `2:item_1`."""

    name = "codex-exec"
    agent = "Codex CLI"

    def __init__(self, read_back: Any) -> None:
        super().__init__(read_back)
        self._session = ""
        self._sessions = 0
        self._called: set[str] = set()

    @classmethod
    def recognises(cls, value: dict[str, Any]) -> bool:
        kind = value.get("type")
        if not isinstance(kind, str):
            return False
        if kind.startswith("item."):
            return isinstance(value.get("item"), dict)
        return kind.startswith(STARTS) or (kind == "error" and value.keys() == {"type", "message"})

    def record(self, record: Record) -> Iterable[TraceEvent] | None:
        value = record.value
        match value["type"]:
            case "thread.started":
                return [self._start(record)]
            case "turn.started":
                return [event(record, EventKind.NOTICE, "turn started", session=self._session)]
            case "turn.completed":
                tokens = openai_usage(value.get("usage"))
                return [event(record, EventKind.USAGE, "turn completed", session=self._session, tokens=tokens)]
            case "turn.failed":
                error = mapping(value.get("error"))
                text = text_of(error.get("message") or value.get("error"))
                return [event(record, EventKind.ERROR, text, session=self._session, detail={"type": "turn.failed"})]
            case "error":
                return [event(record, EventKind.ERROR, text_of(value.get("message")), session=self._session)]
            case "item.started" | "item.updated" | "item.completed" as kind:
                found = self._item(record, mapping(value["item"]), kind.removeprefix("item."))
                return None if found is None else list(found)
        return None

    def _start(self, record: Record) -> TraceEvent:
        self._sessions += 1
        self._called.clear()
        self._session = name_of(record.value.get("thread_id"))
        detail = {"agent": self.agent, "session": self._session}
        return event(record, EventKind.SESSION, "Codex CLI", session=self._session, detail=detail)

    def _item(self, record: Record, item: Any, phase: str) -> Iterator[TraceEvent] | None:
        said = {"agent_message": EventKind.ASSISTANT, "reasoning": EventKind.THINKING, "error": EventKind.ERROR}
        kind = name_of(item.get("type"))
        if kind in said:
            text = text_of(item.get("text") or item.get("message"))
            return iter([event(record, said[kind], text, session=self._session)] if phase == "completed" else [])
        if kind == "todo_list":
            return iter([event(record, EventKind.NOTICE, _plan(item), session=self._session, detail={"type": kind})])
        if kind in ("command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call"):
            return self._call(record, item, kind, phase)
        return None

    def _call(self, record: Record, item: Any, kind: str, phase: str) -> Iterator[TraceEvent]:
        """The call when the item is first seen, its result when it is completed."""
        number = f"{self._sessions}:" if self._sessions > 1 else ""
        call = number + name_of(item.get("id"))
        tool, arguments = _called(item, kind)
        names = {"tool": tool, "call_id": call, "session": self._session}
        if call not in self._called:
            self._called.add(call)
            yield event(record, EventKind.TOOL_CALL, arguments=arguments, **names)
        if phase == "completed":
            self._called.discard(call)
            status, code = name_of(item.get("status")), item.get("exit_code")
            failed = True if status in ("failed", "declined") else (None if not status else code not in (None, 0))
            detail = some(status=status, exit_code=code)
            yield event(record, EventKind.TOOL_RESULT, _output(item, kind), failed=failed, detail=detail, **names)


def _called(item: Any, kind: str) -> tuple[str, Any]:
    if kind == "command_execution":
        return "shell", {"command": item.get("command")}
    if kind == "file_change":
        return kind, {"changes": item.get("changes")}
    if kind == "web_search":
        return kind, {"query": item.get("query")}
    return ".".join(filter(None, (name_of(item.get("server")), name_of(item.get("tool"))))) or kind, item.get(
        "arguments"
    )


def _output(item: Any, kind: str) -> str:
    if kind == "command_execution":
        return text_of(item.get("aggregated_output"))
    error = mapping(item.get("error"))
    if error:
        return text_of(error.get("message") or dict(error))
    result = item.get("result")
    return text_of(mapping(result).get("content") or result) if result is not None else ""


def _plan(item: Any) -> str:
    lines = [
        f"[{'x' if mapping(i).get('completed') else ' '}] {mapping(i).get('text')}" for i in item.get("items") or ()
    ]
    return "\n".join(lines) or as_json(item)
