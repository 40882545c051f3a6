"""SWE-agent's `.traj`: `{trajectory, history, info}`. Both lists tell the same; the history tells more."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from traces.contract import Basis, DocumentHead, EventKind, Record, Tokens, TraceEvent
from traces.dialects.chat import ROLES, thinking, tool_calls
from traces.dialects.common import DocumentBase, count, event, guarded, mapping, money, name_of, parsed, some, text_of


class SweAgent(DocumentBase):
    """Steps of the trajectory are told only where there is no history; they are looked up again at the end."""

    name = "swe-agent"
    agent = "SWE-agent"

    def __init__(self, read_back: Any) -> None:
        super().__init__(read_back)
        self._steps = 0
        self._open: list[str] = []
        self._held: list[tuple[int, int, int]] = []
        self._has_history = False

    @classmethod
    def detects(cls, head: DocumentHead) -> bool:
        if head.is_list or "messages" in head.keys:
            return False
        return head.keys.get("trajectory", b"").startswith(b"[") or head.keys.get("history", b"").startswith(b"[")

    @classmethod
    def opens(cls, path: tuple[str | int, ...]) -> bool:
        return path in ((), ("history",), ("trajectory",))

    def record(self, record: Record) -> Iterable[TraceEvent] | None:
        path, value = record.path, record.value
        if record.closed:
            return ()
        if path == ("info",):
            return [_result(record, mapping(value))]
        if len(path) == 2 and path[0] == "trajectory":
            self._held.append((record.offset, record.length, record.line))
            return []
        if len(path) == 2 and path[0] == "history":
            if not isinstance(value, dict) or "role" not in value:
                return None
            self._has_history = True
            return list(self._message(record, value))
        return [event(record, EventKind.NOTICE, f"{path[-1]}: {text_of(value)}", detail={"type": str(path[-1])})]

    def finish(self) -> Iterable[TraceEvent]:
        if not self._has_history:
            for offset, length, line in self._held:
                step = Record(parsed(self.read_back(offset, length)), line, offset, length)
                yield from guarded(step, partial(self._step, step))
        self._held = []

    def _message(self, record: Record, message: Any) -> Iterator[TraceEvent]:
        role, text = name_of(message["role"]), text_of(message.get("content"))
        agent = name_of(message.get("agent"))
        common = {"agent": "" if agent in ("main", "primary") else agent}
        if role == "assistant":
            yield from thinking(record, message, **common)
            yield event(record, EventKind.ASSISTANT, text, **common)
            calls = list(tool_calls(record, message, **common))
            yield from calls
            self._open = [call.call_id for call in calls]
            action = text_of(message.get("action")).strip()
            if not calls and action:
                yield self._call(record, action, common)
        elif role == "tool" or (message.get("message_type") == "observation" and self._open):
            yield self._observation(record, message, text, common)
        else:
            yield event(record, ROLES.get(role, EventKind.SYSTEM), text, **common)

    def _call(self, record: Record, action: str, common: dict[str, Any]) -> TraceEvent:
        self._steps += 1
        self._open = [f"step-{self._steps}"]
        arguments = {"command": action}
        return event(record, EventKind.TOOL_CALL, tool="bash", call_id=self._open[0], arguments=arguments, **common)

    def _observation(self, record: Record, message: Any, text: str, common: dict[str, Any]) -> TraceEvent:
        said = message.get("tool_call_ids")
        ids = [name_of(each) for each in said] if isinstance(said, list) else self._open[:1]
        self._open = [each for each in self._open if each not in ids]
        detail = {"answers": ids} if len(ids) > 1 else {}
        return event(record, EventKind.TOOL_RESULT, text, call_id=ids[0] if ids else "", detail=detail, **common)

    def _step(self, record: Record) -> Iterator[TraceEvent]:
        step = mapping(record.value)
        yield event(record, EventKind.ASSISTANT, text_of(step.get("response") or step.get("thought")))
        if action := text_of(step.get("action")).strip():
            yield self._call(record, action, {})
            detail = some(execution_time=money(step.get("execution_time")))
            text = text_of(step.get("observation"))
            yield event(record, EventKind.TOOL_RESULT, text, call_id=self._open[0], detail=detail)


def _result(record: Record, info: Any) -> TraceEvent:
    stats, status = mapping(info.get("model_stats")), name_of(info.get("exit_status"))
    calls = count(stats.get("api_calls"))
    return event(
        record,
        EventKind.RESULT,
        "\n".join(filter(None, (status, text_of(info.get("submission"))))),
        failed=None if not status else not status.startswith("submitted"),
        tokens=Tokens(count(stats.get("tokens_sent")), count(stats.get("tokens_received"))) if stats else None,
        cost=money(stats.get("instance_cost")),
        basis=Basis.TOTAL,
        detail=some(exit_status=status) | ({"declared": {"model_calls": calls}} if calls is not None else {}),
    )
