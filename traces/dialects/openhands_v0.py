"""OpenHands V0: a list of actions and observations, its event files, and the `history` of its evaluation output."""

from collections.abc import Iterable, Iterator
from typing import Any

from traces.contract import Basis, DocumentHead, EventKind, Record, Tokens, TraceEvent
from traces.dialects.common import (
    DocumentBase,
    LineBase,
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

QUIET = frozenset(
    {"recall", "change_agent_state", "null", "agent_state_changed", "condensation", "condensation_request"}
)
SPOKEN = {"user": EventKind.USER, "environment": EventKind.SYSTEM}


class Steps:
    """Times have no zone: read as UTC. Results answer by `cause`; the oldest form has no ids and answers in order."""

    def __init__(self) -> None:
        self._last = ""
        self._number = 0

    def events(self, record: Record) -> Iterator[TraceEvent]:
        if "action" in record.value:
            yield from self._action(record)
        else:
            yield self._observation(record)

    def _action(self, record: Record) -> Iterator[TraceEvent]:
        value = record.value
        kind = name_of(value["action"])
        args = value["args"] if isinstance(value.get("args"), dict) else _flat(value)
        if kind in ("message", "system"):
            content = args.get("content", value.get("message"))
            said = EventKind.SYSTEM if kind == "system" else SPOKEN.get(name_of(value.get("source")), self._speaker())
            yield _event(record, said, text_of(content), **_usage(value))
            return
        if kind in QUIET:
            yield _event(record, EventKind.NOTICE, text_of(value.get("message")) or kind, detail={"type": kind})
            return
        thought = text_of(args.get("thought"))
        if kind == "think":
            yield _event(record, EventKind.THINKING, thought, **_usage(value))
            return
        if kind == "finish":
            text = text_of(args.get("final_thought")) or thought or text_of(value.get("message"))
            yield _event(record, EventKind.ASSISTANT, text, detail={"type": kind}, **_usage(value))
            return
        if thought:
            yield _event(record, EventKind.ASSISTANT, thought)
        yield self._call(record, kind, args)

    def _speaker(self) -> EventKind:
        """Without a source the first message is the task."""
        self._number += 1
        return EventKind.USER if self._number == 1 else EventKind.ASSISTANT

    def _call(self, record: Record, kind: str, args: dict[str, Any]) -> TraceEvent:
        value, metadata = record.value, mapping(record.value.get("tool_call_metadata"))
        identity = name_of(metadata.get("tool_call_id")) or (f"event-{value['id']}" if "id" in value else "")
        if not identity:
            self._number += 1
            identity = f"step-{self._number}"
        self._last = identity
        arguments = {key: item for key, item in args.items() if key != "thought" and item not in (None, "")}
        return _event(record, EventKind.TOOL_CALL, tool=kind, call_id=identity, arguments=arguments, **_usage(value))

    def _observation(self, record: Record) -> TraceEvent:
        value = record.value
        kind = name_of(value["observation"])
        text = text_of(value.get("content", value.get("message")))
        if kind in QUIET:
            return _event(record, EventKind.NOTICE, text or kind, detail={"type": kind})
        extras, cause = mapping(value.get("extras")), value.get("cause")
        metadata = mapping(value.get("tool_call_metadata"))
        identity = name_of(metadata.get("tool_call_id")) or (f"event-{cause}" if cause is not None else "")
        if not identity and "id" not in value:
            identity, self._last = self._last, ""
        code = mapping(extras.get("metadata")).get("exit_code", extras.get("exit_code", value.get("exit_code")))
        failed = True if kind == "error" else (None if code is None else code not in (0, -1))
        if not identity and kind == "error":
            return _event(record, EventKind.ERROR, text)
        detail = some(exit_code=code, observation=kind)
        return _event(record, EventKind.TOOL_RESULT, text, tool=kind, call_id=identity, failed=failed, detail=detail)


def _event(record: Record, kind: EventKind, text: str = "", **values: Any) -> TraceEvent:
    at = moment(record.value.get("timestamp"))
    if at is not None:
        values["detail"] = {**values.get("detail", {}), "zone": "assumed"}
    return event(record, kind, text, at=at, **values)


def _flat(value: dict[str, Any]) -> dict[str, Any]:
    aside = (
        "action",
        "id",
        "timestamp",
        "source",
        "message",
        "is_confirmed",
        "action_risk",
        "keep_prompt",
        "kernel_init_code",
    )
    return {key: item for key, item in value.items() if key not in aside}


def _usage(value: Any) -> dict[str, Any]:
    metrics = mapping(value.get("llm_metrics"))
    if not metrics:
        return {}
    used = mapping(metrics.get("accumulated_token_usage"))
    tokens = Tokens(
        count(used.get("prompt_tokens")), count(used.get("completion_tokens")), count(used.get("cache_read_tokens"))
    )
    return {
        "tokens": tokens if used else None,
        "cost": money(metrics.get("accumulated_cost")),
        "basis": Basis.TOTAL,
    }


class OpenHandsV0Lines(LineBase):
    """One event a line."""

    name = "openhands-v0"
    agent = "OpenHands"

    def __init__(self, read_back: Any) -> None:
        super().__init__(read_back)
        self._steps = Steps()

    @classmethod
    def recognises(cls, value: dict[str, Any]) -> bool:
        return isinstance(value.get("action", value.get("observation")), str) and "source" in value and "id" in value

    def record(self, record: Record) -> Iterable[TraceEvent] | None:
        return self._steps.events(record)


class OpenHandsV0(DocumentBase):
    """A list of events, or an evaluation's record with the events in `history`."""

    name = "openhands-v0"
    agent = "OpenHands"

    def __init__(self, read_back: Any) -> None:
        super().__init__(read_back)
        self._steps = Steps()

    @classmethod
    def detects(cls, head: DocumentHead) -> bool:
        if head.is_list:
            return ("action" in head.keys or "observation" in head.keys) and "role" not in head.keys
        return "instruction" in head.keys and not {"trajectory", "schema_version", "type"} & head.keys.keys()

    @classmethod
    def opens(cls, path: tuple[str | int, ...]) -> bool:
        return path in ((), ("history",))

    def record(self, record: Record) -> Iterable[TraceEvent] | None:
        value, path = record.value, record.path
        if record.closed:
            return ()
        if len(path) == 1 and isinstance(path[0], str):
            return [_fact(record, path[0])]
        if isinstance(value, list):  # the older pairs of action and observation
            steps = [Record(each, record.line, record.offset, record.length) for each in value if _is_step(each)]
            return [found for step in steps for found in self._steps.events(step)] if len(steps) == len(value) else None
        return self._steps.events(record) if _is_step(value) else None


def _is_step(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("action", value.get("observation")), str)


def _fact(record: Record, key: str) -> TraceEvent:
    """What stands beside the history."""
    value = record.value
    if key == "metrics":
        cost = money(mapping(value).get("accumulated_cost"))
        return event(record, EventKind.RESULT, as_json(value), cost=cost, basis=Basis.TOTAL, session=str(record.line))
    if key == "error" and value:
        return event(record, EventKind.ERROR, text_of(value))
    return event(record, EventKind.NOTICE, f"{key}: {text_of(value)}", detail={"type": key})
