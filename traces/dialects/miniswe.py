"""mini-swe-agent's `.traj.json`: `{info, messages, trajectory_format}`, or in older versions the messages alone."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from traces.contract import Basis, DocumentHead, EventKind, Record, TraceEvent
from traces.dialects.chat import ROLES, thinking, tool_calls
from traces.dialects.common import (
    DocumentBase,
    count,
    epoch,
    event,
    mapping,
    money,
    name_of,
    openai_usage,
    some,
    text_of,
)

COMMAND = re.compile(r"```(?:mswea_bash_command|bash|sh)\s*\n(.*?)\n?```", re.DOTALL)
RETURNED = re.compile(r"\s*<returncode>(-?\d{1,10})</returncode>")


class MiniSwe(DocumentBase):
    name = "mini-swe-agent"
    agent = "mini-swe-agent"

    def __init__(self, read_back: Any) -> None:
        super().__init__(read_back)
        self._steps = 0
        self._open = ""
        self._result_event: TraceEvent | None = None

    @classmethod
    def detects(cls, head: DocumentHead) -> bool:
        if head.is_list:
            return "role" in head.keys and "content" in head.keys
        return "messages" in head.keys and (
            "trajectory_format" in head.keys or b"model_stats" in head.keys.get("info", b"")
        )

    @classmethod
    def opens(cls, path: tuple[str | int, ...]) -> bool:
        return path in ((), ("messages",))

    def record(self, record: Record) -> Iterable[TraceEvent] | None:
        path, value = record.path, record.value
        if record.closed:
            return ()
        if path == ("info",):
            return self._start(record, mapping(value))
        if path and isinstance(path[-1], int):
            return list(self._message(record, value)) if isinstance(value, dict) and "role" in value else None
        return [event(record, EventKind.NOTICE, f"{path[-1]}: {text_of(value)}", detail={"type": str(path[-1])})]

    def _start(self, record: Record, info: Any) -> Iterator[TraceEvent]:
        config = mapping(info.get("config"))
        model = name_of(mapping(config.get("model")).get("model_name"))
        detail = some(agent=self.agent, version=info.get("mini_version"), model=model)
        yield event(record, EventKind.SESSION, self.agent, detail=detail)
        stats = mapping(info.get("model_stats"))
        calls, cost = count(stats.get("api_calls")), money(stats.get("instance_cost"))
        if cost == 0 and calls and mapping(config.get("model")).get("cost_tracking") == "ignore_errors":
            cost = None  # prices were not known, which the program writes as 0
        status = name_of(info.get("exit_status"))
        self._result_event = event(
            record,
            EventKind.RESULT,
            "\n".join(filter(None, (status, text_of(info.get("submission"))))),
            failed=None if not status else status.lower() != "submitted",
            cost=cost,
            basis=Basis.TOTAL,
            detail=some(exit_status=status) | ({"declared": {"model_calls": calls}} if calls is not None else {}),
        )

    def finish(self) -> Iterable[TraceEvent]:
        """`info` stands in front of the messages; its closing summary comes last."""
        return [self._result_event] if self._result_event is not None else []

    def _message(self, record: Record, message: Any) -> Iterator[TraceEvent]:
        role, extra = name_of(message["role"]), mapping(message.get("extra"))
        response = mapping(extra.get("response"))
        at = epoch(extra.get("timestamp")) or epoch(response.get("created"))
        text = text_of(message.get("content"))
        if role == "assistant":
            yield from self._turn(record, message, text, at)
        elif role == "tool" or (role == "user" and self._open):
            yield self._result(record, message, text, at)
        elif role == "exit":
            yield event(
                record,
                EventKind.NOTICE,
                text or "exit",
                at=at,
                detail=some(type="exit", status=extra.get("exit_status")),
            )
        else:
            yield event(record, ROLES.get(role, EventKind.SYSTEM), text, at=at)

    def _turn(self, record: Record, message: Any, text: str, at: Any) -> Iterator[TraceEvent]:
        response = mapping(mapping(message.get("extra")).get("response"))
        common = {"at": at, "message_id": name_of(response.get("id"))}
        yield from thinking(record, message, **common)
        yield event(
            record,
            EventKind.ASSISTANT,
            text,
            tokens=openai_usage(response.get("usage")),
            detail=some(model=response.get("model")),
            **common,
        )
        calls = list(tool_calls(record, message, **common))
        yield from calls
        found = COMMAND.search(text) if not calls else None
        if found is not None:
            self._steps += 1
            self._open = f"step-{self._steps}"
            yield event(
                record, EventKind.TOOL_CALL, tool="bash", call_id=self._open, arguments={"command": found[1]}, **common
            )

    def _result(self, record: Record, message: Any, text: str, at: Any) -> TraceEvent:
        extra = mapping(message.get("extra"))
        call, self._open = name_of(message.get("tool_call_id")) or self._open, ""
        found = RETURNED.match(text)
        code = extra.get("returncode", int(found[1]) if found else None)
        raw = extra.get("raw_output")
        return event(
            record,
            EventKind.TOOL_RESULT,
            raw if isinstance(raw, str) else text,
            call_id=call,
            at=at,
            failed=None if code is None else code != 0,
            detail=some(exit_code=code, exception=extra.get("exception_info")),
        )
