"""Inspect AI's logs: the `.json` document, and header and samples out of an `.eval` archive.

Long texts stand in a sample's `attachments`, behind its events: these are looked up again at the sample's end.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from traces.contract import DocumentHead, EventKind, Record, Tokens, TraceEvent
from traces.dialects.chat import ROLES
from traces.dialects.common import (
    DocumentBase,
    added,
    as_json,
    count,
    event,
    guarded,
    images_in,
    items,
    mapping,
    moment,
    name_of,
    parsed,
    some,
    text_of,
)

REFERENCES = ("attachment://", "tc://")
Place = tuple[int, int, int]


class InspectLog(DocumentBase):
    name = "inspect"

    def __init__(self, read_back: Any) -> None:
        super().__init__(read_back)
        self._sample = _Sample()

    @classmethod
    def detects(cls, head: DocumentHead) -> bool:
        if head.is_list:
            return False
        log = "eval" in head.keys and "version" in head.keys
        sample = {"id", "epoch", "input"} <= head.keys.keys()
        return log or sample

    @classmethod
    def opens(cls, path: tuple[str | int, ...]) -> bool:
        inner = _inner(path)
        return inner in ((), ("messages",), ("events",), ("attachments",), ("samples",))

    def record(self, record: Record) -> Iterable[TraceEvent] | None:
        inner = _inner(record.path)
        if record.closed:
            ends = not inner and (record.path[:1] == ("samples",) or not record.path)
            return self._sample_ended() if ends else ()
        place = (record.offset, record.length, record.line)
        match inner:
            case ("messages", int()):
                self._sample.messages.append(place)
                if mapping(record.value).get("role") == "system":
                    self._sample.system.append(place)
                return []
            case ("events", int()):
                self._sample.events.append(place)
                return []
            case ("attachments", str(key)):
                self._sample.attachments[key] = place
                return []
            case ("eval",):
                return [_start(record)]
            case ("status",) | ("results",) | ("error",) | ("scores",) | ("stats",) | ("metadata",) | ("plan",):
                return [_fact(record, str(inner[0]))]
            case ("id",):
                self._sample.identity = session = name_of(record.value)
                return [event(record, EventKind.SESSION, f"sample {session}", session=session)]
        return []  # what the events and messages tell as well

    def finish(self) -> Iterable[TraceEvent]:
        return self._sample_ended()

    def _sample_ended(self) -> Iterator[TraceEvent]:
        sample, self._sample = self._sample, _Sample()
        told = False
        for record in self._again(sample.system) if sample.events else ():  # no event tells these
            yield from self._said(record, sample)
        for record in self._again(sample.events):
            for found in self._happened(record, sample):
                told = told or found.kind in (EventKind.ASSISTANT, EventKind.TOOL_CALL)
                yield found
        for record in self._again(sample.messages) if not told else ():
            yield from self._said(record, sample)

    def _again(self, places: list[Place]) -> Iterator[Record]:
        for offset, length, line in places:
            yield Record(parsed(self.read_back(offset, length)), line, offset, length)

    def _happened(self, record: Record, sample: "_Sample") -> list[TraceEvent]:
        return guarded(record, lambda: _told(record, self._resolved(record.value, sample), sample.identity))

    def _said(self, record: Record, sample: "_Sample") -> list[TraceEvent]:
        def work() -> Iterator[TraceEvent]:
            return _message(record, self._resolved(record.value, sample), session=sample.identity)

        return guarded(record, work)

    def _resolved(self, value: Any, sample: "_Sample", depth: int = 0) -> Any:
        """`value` with references replaced by the attached texts."""
        if isinstance(value, str) and value.startswith(REFERENCES):
            place = sample.attachments.get(value.partition("://")[2])
            return parsed(self.read_back(*place[:2])) if place else value
        if isinstance(value, dict) and depth < 40:
            return {key: self._resolved(item, sample, depth + 1) for key, item in value.items()}
        if isinstance(value, list) and depth < 40:
            return [self._resolved(item, sample, depth + 1) for item in value]
        return value


class _Sample:
    def __init__(self) -> None:
        self.identity = ""
        self.messages: list[Place] = []
        self.system: list[Place] = []
        self.events: list[Place] = []
        self.attachments: dict[str, Place] = {}


def _inner(path: tuple[str | int, ...]) -> tuple[str | int, ...]:
    return path[2:] if len(path) >= 2 and path[0] == "samples" and isinstance(path[1], int) else path


def _start(record: Record) -> TraceEvent:
    value = mapping(record.value)
    detail = some(agent="Inspect", version=mapping(value.get("packages")).get("inspect_ai"), model=value.get("model"))
    task = name_of(value.get("task"))
    return event(record, EventKind.SESSION, f"Inspect, task {task}", at=moment(value.get("created")), detail=detail)


def _fact(record: Record, key: str) -> TraceEvent:
    value = record.value
    if key == "error" and value:
        return event(record, EventKind.ERROR, text_of(mapping(value).get("message") or value))
    if key == "results":
        samples = count(mapping(value).get("completed_samples"))
        detail = {"declared": {"samples": samples}} if samples is not None else {}
        return event(record, EventKind.RESULT, as_json(value), session="log", detail=detail)
    return event(record, EventKind.NOTICE, f"{key}: {text_of(value)}", detail={"type": key})


def _told(record: Record, value: Any, session: str) -> Iterator[TraceEvent]:
    at = moment(value.get("timestamp"))
    common = {"at": at, "session": session}
    match value.get("event"):
        case "model":
            yield from _model(record, value, common)
        case "tool":
            yield from _tool(record, value, common)
        case "sample_init":
            for message in items(mapping(value.get("state")).get("messages")):
                if mapping(message).get("role") != "system":
                    yield from _message(record, message, **common)
        case "error":
            yield event(record, EventKind.ERROR, text_of(mapping(value.get("error")).get("message")), **common)
        case "score":
            score = mapping(value.get("score"))
            detail = some(type="score", value=score.get("value"), intermediate=value.get("intermediate"))
            yield event(record, EventKind.NOTICE, f"score {text_of(score.get('value'))}", detail=detail, **common)
        case kind:
            text = text_of(value.get("message") or value.get("data") or value.get("input"))
            names = {"type": name_of(kind), "name": name_of(value.get("name")), "action": name_of(value.get("action"))}
            yield event(
                record, EventKind.NOTICE, text or " ".join(filter(None, names.values())), detail=some(**names), **common
            )


def _model(record: Record, value: Any, common: dict[str, Any]) -> Iterator[TraceEvent]:
    output = mapping(value.get("output"))
    choice = mapping(next(iter(items(output.get("choices"))), None))
    usage = mapping(output.get("usage"))
    detail = some(model=value.get("model"), stop_reason=choice.get("stop_reason"))
    common = {**common, "at": moment(value.get("completed")) or common["at"], "message_id": name_of(value.get("uuid"))}
    yield from _message(record, mapping(choice.get("message")), tokens=_tokens(usage), detail=detail, **common)
    if error := text_of(value.get("error") or output.get("error")):
        yield event(record, EventKind.ERROR, error, **common)


def _tokens(usage: Any) -> Tokens | None:
    """Whether `input_tokens` holds the cached ones differs by provider; the total tells."""
    if not usage:
        return None
    prompt, output = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
    read, written = count(usage.get("input_tokens_cache_read")), count(usage.get("input_tokens_cache_write"))
    total = count(usage.get("total_tokens"))
    if total is not None and total == added(prompt, output, read, written):
        prompt = added(prompt, read, written)
    return Tokens(prompt, output, read, count(usage.get("reasoning_tokens")))


def _tool(record: Record, value: Any, common: dict[str, Any]) -> Iterator[TraceEvent]:
    """The call itself stands in the model's message; an event tells its result."""
    error = mapping(value.get("error"))
    names = {"tool": name_of(value.get("function")), "call_id": name_of(value.get("id"))}
    result = value.get("result")
    text = text_of(result) or text_of(error.get("message"))
    common = {**common, "at": moment(value.get("completed")) or common["at"]}
    detail = some(error=error.get("type"), images=images_in(result))
    yield event(record, EventKind.TOOL_RESULT, text, failed=bool(error), detail=detail, **names, **common)


def _message(record: Record, message: Any, **common: Any) -> Iterator[TraceEvent]:
    message = mapping(message)
    role, content = name_of(message.get("role")), message.get("content")
    shared = {key: item for key, item in common.items() if key not in ("tokens", "detail")}
    for part in items(content):
        if mapping(part).get("type") == "reasoning":
            yield event(record, EventKind.THINKING, text_of([part]), **shared)
    said = (
        [part for part in content if mapping(part).get("type") != "reasoning"] if isinstance(content, list) else content
    )
    if role == "assistant":
        yield event(record, EventKind.ASSISTANT, text_of(said), **common)
        for call in map(mapping, items(message.get("tool_calls"))):
            names = {"tool": name_of(call.get("function")), "call_id": name_of(call.get("id"))}
            yield event(record, EventKind.TOOL_CALL, arguments=call.get("arguments"), **names, **shared)
    elif role == "tool":
        names = {"tool": name_of(message.get("function")), "call_id": name_of(message.get("tool_call_id"))}
        yield event(record, EventKind.TOOL_RESULT, text_of(said), failed=bool(message.get("error")), **names, **shared)
    else:
        images = images_in(content)
        yield event(record, ROLES.get(role, EventKind.NOTICE), text_of(said), detail=some(images=images), **shared)
