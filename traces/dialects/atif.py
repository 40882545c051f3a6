"""ATIF, the Agent Trajectory Interchange Format of Harbor, versions 1.0 to 1.7."""

from collections.abc import Iterable, Iterator
from typing import Any

from traces.contract import Basis, DocumentHead, EventKind, Record, Tokens, TraceEvent
from traces.dialects.common import (
    DocumentBase,
    count,
    event,
    images_in,
    items,
    mapping,
    moment,
    money,
    name_of,
    some,
    text_of,
)

SOURCES = {"user": EventKind.USER, "system": EventKind.SYSTEM, "agent": EventKind.ASSISTANT}
NESTED = "subagent_trajectories"


class Atif(DocumentBase):
    """Embedded sub-agents' trajectories are read as events of that sub-agent."""

    name = "atif"

    def __init__(self, read_back: Any) -> None:
        super().__init__(read_back)
        self._ids: dict[tuple[str | int, ...], str] = {}
        self._session = ""

    @classmethod
    def detects(cls, head: DocumentHead) -> bool:
        return not head.is_list and head.keys.get("schema_version", b"").startswith(b'"ATIF-v1')

    @classmethod
    def opens(cls, path: tuple[str | int, ...]) -> bool:
        inner = _inner(path)
        return inner in ((), ("steps",), (NESTED,))

    def record(self, record: Record) -> Iterable[TraceEvent] | None:
        inner = _inner(record.path)
        outer = record.path[: len(record.path) - len(inner)]
        agent = self._agent(outer)
        value = record.value
        if record.closed:
            return ()
        if len(inner) == 2 and inner[0] == "steps":
            return list(_step(record, mapping(value), agent)) if isinstance(value, dict) and "source" in value else None
        match inner:
            case ("agent",):
                return [self._start(record, mapping(value), agent)]
            case ("final_metrics",):
                return [_final(record, mapping(value), agent)]
            case ("session_id",) if not outer:
                self._session = name_of(value)
                return []
            case ("trajectory_id",) if outer:
                self._ids[outer] = name_of(value)
                return []
            case ("schema_version",) | ("trajectory_id",) | ("session_id",):
                return []
        return [
            event(
                record, EventKind.NOTICE, f"{inner[-1]}: {text_of(value)}", agent=agent, detail={"type": str(inner[-1])}
            )
        ]

    def _agent(self, outer: tuple[str | int, ...]) -> str:
        return self._ids.get(outer) or ".".join(str(part) for part in outer if isinstance(part, int)) if outer else ""

    def _start(self, record: Record, value: Any, agent: str) -> TraceEvent:
        name = name_of(value.get("name"))
        detail = some(agent=name, version=value.get("version"), model=value.get("model_name"), session=self._session)
        return event(record, EventKind.SESSION, name, agent=agent, session=self._session, detail=detail)


def _inner(path: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """The path within the innermost trajectory."""
    while len(path) >= 2 and path[0] == NESTED and isinstance(path[1], int):
        path = path[2:]
    return path


def _step(record: Record, step: Any, agent: str) -> Iterator[TraceEvent]:
    number = step.get("step_id")
    copied = some(copied=step.get("is_copied_context") or None)
    common: dict[str, Any] = {
        "at": moment(step.get("timestamp")),
        "agent": agent,
        "message_id": f"{agent}step-{number}",
    }
    if thought := text_of(step.get("reasoning_content")):
        yield event(record, EventKind.THINKING, thought, detail={"step": number}, **common)
    message, calls = step.get("message"), items(step.get("tool_calls"))
    metrics = {} if copied else _metrics(mapping(step.get("metrics")))
    detail = {"step": number} | copied | some(model=step.get("model_name"), images=images_in(message))
    kind = SOURCES.get(name_of(step["source"]), EventKind.SYSTEM)
    if message or not calls or metrics:
        yield event(record, kind, text_of(message), detail=detail, **metrics, **common)
    for call in map(mapping, calls):
        names = {"tool": name_of(call.get("function_name")), "call_id": name_of(call.get("tool_call_id"))}
        yield event(
            record, EventKind.TOOL_CALL, arguments=call.get("arguments"), detail={"step": number}, **names, **common
        )
    for result in map(mapping, items(mapping(step.get("observation")).get("results"))):
        content = result.get("content")
        refs = [name_of(mapping(ref).get("trajectory_id")) for ref in items(result.get("subagent_trajectory_ref"))]
        detail = {"step": number} | some(images=images_in(content), subagents=list(filter(None, refs)))
        call_id = name_of(result.get("source_call_id"))
        if not call_id and len(calls) == 1:
            call_id = name_of(mapping(calls[0]).get("tool_call_id"))
        yield event(record, EventKind.TOOL_RESULT, text_of(content), call_id=call_id, detail=detail, **common)


def _metrics(metrics: Any) -> dict[str, Any]:
    tokens = Tokens(*(count(metrics.get(f"{name}_tokens")) for name in ("prompt", "completion", "cached")))
    cost = money(metrics.get("cost_usd"))
    return some(tokens=tokens if tokens != Tokens() else None, cost=cost)


def _final(record: Record, value: Any, agent: str) -> TraceEvent:
    """A sub-agent's totals are told, not counted again."""
    total = Tokens(*(count(value.get(f"total_{name}_tokens")) for name in ("prompt", "completion", "cached")))
    steps = count(value.get("total_steps"))
    if agent:
        return event(record, EventKind.NOTICE, text_of(dict(value)), agent=agent, detail={"type": "final_metrics"})
    detail = {"declared": {"steps": steps}} if steps is not None else {}
    return event(
        record,
        EventKind.RESULT,
        "final metrics",
        tokens=total if total != Tokens() else None,
        cost=money(value.get("total_cost_usd")),
        basis=Basis.TOTAL,
        detail=detail,
    )
