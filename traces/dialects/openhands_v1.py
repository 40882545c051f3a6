"""OpenHands V1: events with a `kind`, between banners when taken from its terminal."""

from collections.abc import Iterable, Iterator
from typing import Any

from traces.contract import Basis, EventKind, Record, Tokens, TraceEvent
from traces.dialects.common import (
    LineBase,
    added,
    as_json,
    count,
    event,
    images_in,
    mapping,
    moment,
    money,
    name_of,
    some,
    text_of,
)

ENDINGS = ("Event", "Condensation", "CondensationRequest", "CondensationSummary", "Observation")


class OpenHandsV1(LineBase):
    """Times have no zone: read as UTC. Usage comes as running totals, where it comes at all."""

    name = "openhands-v1"
    agent = "OpenHands"

    @classmethod
    def recognises(cls, value: dict[str, Any]) -> bool:
        kind = value.get("kind")
        return isinstance(kind, str) and kind.endswith(ENDINGS) and "source" in value and "timestamp" in value

    def record(self, record: Record) -> Iterable[TraceEvent] | None:
        match record.value["kind"]:
            case "SystemPromptEvent":
                return [_event(record, EventKind.SYSTEM, text_of(record.value.get("system_prompt")))]
            case "MessageEvent":
                return _message(record)
            case "ActionEvent":
                return _action(record)
            case "ObservationEvent" | "UserRejectObservation":
                return [_observation(record)]
            case "AgentErrorEvent" if record.value.get("tool_call_id"):
                return [_failed(record)]
            case "AgentErrorEvent" | "ConversationErrorEvent":
                value = record.value
                text = ": ".join(
                    filter(None, (name_of(value.get("code")), text_of(value.get("detail") or value.get("error"))))
                )
                return [_event(record, EventKind.ERROR, text)]
            case "ConversationStateUpdateEvent":
                return [_state(record)]
            case "Condensation" | "CondensationRequest" | "CondensationSummaryEvent" | "PauseEvent" as kind:
                text = text_of(record.value.get("summary")) or kind
                return [_event(record, EventKind.NOTICE, text, detail={"type": kind})]
        return None


def _event(record: Record, kind: EventKind, text: str = "", **values: Any) -> TraceEvent:
    said = record.value["timestamp"]
    zone = {} if isinstance(said, str) and (said.endswith("Z") or "+" in said[10:]) else {"zone": "assumed"}
    values["detail"] = {**values.get("detail", {}), **zone}
    return event(record, kind, text, at=moment(said), **values)


def _message(record: Record) -> Iterator[TraceEvent]:
    message = mapping(record.value.get("llm_message"))
    identity = name_of(record.value.get("llm_response_id"))
    if thought := text_of(message.get("reasoning_content")):
        yield _event(record, EventKind.THINKING, thought, message_id=identity)
    kind = EventKind.USER if record.value.get("source") == "user" else EventKind.ASSISTANT
    content = message.get("content")
    detail = some(images=images_in(content), sender=record.value.get("sender"))
    yield _event(record, kind, text_of(content), message_id=identity, detail=detail)


def _action(record: Record) -> Iterator[TraceEvent]:
    value = record.value
    identity = name_of(value.get("llm_response_id"))
    if thought := text_of(value.get("reasoning_content")):
        yield _event(record, EventKind.THINKING, thought, message_id=identity)
    if said := text_of(value.get("thought")):
        yield _event(record, EventKind.ASSISTANT, said, message_id=identity)
    action = mapping(value.get("action"))
    kind = name_of(action.get("kind"))
    arguments = {key: item for key, item in action.items() if key != "kind"} if action else value.get("tool_call")
    names = {"tool": name_of(value.get("tool_name")) or kind, "call_id": name_of(value.get("tool_call_id"))}
    detail = some(action=kind, risk=value.get("security_risk"))
    yield _event(record, EventKind.TOOL_CALL, arguments=arguments, message_id=identity, detail=detail, **names)


def _observation(record: Record) -> TraceEvent:
    value = record.value
    seen = mapping(value.get("observation"))
    content = seen.get("content", seen.get("output", value.get("rejection_reason")))
    code, error = seen.get("exit_code"), seen.get("is_error")
    failed = True if error is True or value["kind"] == "UserRejectObservation" else None
    if failed is None and (error is False or code is not None):
        failed = code not in (None, 0)
    return _event(
        record,
        EventKind.TOOL_RESULT,
        text_of(content),
        tool=name_of(value.get("tool_name")),
        call_id=name_of(value.get("tool_call_id")),
        failed=failed,
        detail=some(exit_code=code, timeout=seen.get("timeout") or None, images=images_in(content)),
    )


def _failed(record: Record) -> TraceEvent:
    value = record.value
    names = {"tool": name_of(value.get("tool_name")), "call_id": name_of(value.get("tool_call_id"))}
    return _event(record, EventKind.TOOL_RESULT, text_of(value.get("error")), failed=True, **names)


def _state(record: Record) -> TraceEvent:
    key, value = name_of(record.value.get("key")), record.value.get("value")
    of_each = mapping(mapping(value).get("usage_to_metrics")) if key == "stats" else {}
    if not of_each:
        return _event(
            record, EventKind.NOTICE, f"{key}: {text_of(value)}" if key else as_json(value), detail={"type": key}
        )
    used = [mapping(mapping(each).get("accumulated_token_usage")) for each in of_each.values()]

    def total(name: str) -> int | None:
        return added(*(count(each.get(name)) for each in used))

    costs = [money(mapping(each).get("accumulated_cost")) for each in of_each.values()]
    known = [cost for cost in costs if cost is not None]
    tokens = Tokens(
        total("prompt_tokens"), total("completion_tokens"), total("cache_read_tokens"), total("reasoning_tokens")
    )
    model = next((name_of(mapping(each).get("model_name")) for each in of_each.values()), "")
    return _event(
        record,
        EventKind.USAGE,
        "running totals",
        tokens=tokens,
        cost=sum(known) if known else None,
        basis=Basis.TOTAL,
        detail=some(model=model),
    )
