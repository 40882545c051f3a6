"""A stored trace as ATIF v1.6.

One step a message of the agent, with its calls and their results; all else is a step of its own, its kind in `extra`.
A sub-agent's steps stand among the others, its id in `extra`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from traces.contract import Basis, EventKind
from traces.export.writing import Bodies, dumped
from traces.models import Event, Trace

VERSION = "ATIF-v1.6"
TURN = frozenset({EventKind.ASSISTANT, EventKind.THINKING, EventKind.TOOL_CALL})
PEOPLE = {EventKind.USER: "user", EventKind.SYSTEM: "system"}


@dataclass(slots=True)
class _Step:
    """The events of one step: rows without their texts, which are read when the step is written."""

    source: str
    rows: list[Event] = field(default_factory=list)
    results: list[Event] = field(default_factory=list)
    open: bool = False
    """More of the same message may follow."""

    def continues(self, row: Event) -> bool:
        first = self.rows[0]
        if not self.open or first.agent != row.agent:
            return False
        return first.message_id == row.message_id if row.message_id or first.message_id else True


def atif(trace: Trace) -> Iterator[str]:
    """The document in pieces. Memory is its rows and one step's texts. Raises: OSError: the files are not here."""
    steps = _steps(Event.objects.filter(trace=trace).order_by("seq").iterator(chunk_size=2000))
    yield dumped(_header(trace))[:-1] + ', "steps": ['
    with Bodies(trace) as bodies:
        for number, step in enumerate(steps, 1):
            yield ("" if number == 1 else ",") + "\n" + dumped(_written(number, step, bodies))
        if not steps:
            yield dumped({"step_id": 1, "source": "system", "message": "", "extra": {"empty": True}})
    yield "\n]"
    yield f', "final_metrics": {dumped(_final(trace, max(1, len(steps))))}}}\n'


def _header(trace: Trace) -> dict[str, Any]:
    agent: dict[str, Any] = {"name": trace.agent or trace.run.agent, "version": trace.agent_version or "unknown"}
    if trace.model:
        agent["model_name"] = trace.model
    sessions = trace.summary.get("sessions") or [trace.key]
    extra = {"run": trace.run.slug, "task": trace.run.task, "dialect": trace.dialect, "sha256": trace.sha256}
    return {"schema_version": VERSION, "session_id": sessions[0], "agent": agent, "extra": extra}


def _final(trace: Trace, steps: int) -> dict[str, Any]:
    values = {
        "total_prompt_tokens": trace.tokens_input,
        "total_completion_tokens": trace.tokens_output,
        "total_cached_tokens": trace.tokens_cached,
        "total_cost_usd": trace.cost,
        "total_steps": steps,
    }
    return {name: value for name, value in values.items() if value is not None}


def _steps(rows: Iterator[Event]) -> list[_Step]:
    steps: list[_Step] = []
    by_call: dict[int, _Step] = {}
    last: _Step | None = None
    for row in rows:
        if row.kind in TURN:
            if last is None or not last.continues(row):
                last = _Step("agent", open=True)
                steps.append(last)
            last.rows.append(row)
            if row.kind == EventKind.TOOL_CALL:
                by_call[row.seq] = last
        elif row.kind == EventKind.TOOL_RESULT:
            step = by_call.get(row.call_seq or 0)
            if step is None:
                step = _Step("system")
                steps.append(step)
            step.results.append(row)
            if last is not None and not last.rows[0].message_id:
                last.open = False
        elif row.kind == EventKind.USAGE and row.basis == Basis.SHARE and last is not None:
            last.rows.append(row)
            last.open = False
        else:
            steps.append(_Step(PEOPLE.get(EventKind(row.kind), "system"), [row]))
            if last is not None and not last.rows[0].message_id:
                last.open = False
    return steps


def _written(number: int, step: _Step, bodies: Bodies) -> dict[str, Any]:
    texts: dict[str, list[str]] = {}
    calls = []
    for row in step.rows:
        text, arguments = bodies.read(row)
        if row.kind == EventKind.TOOL_CALL:
            calls.append(_call(row, arguments))
        elif row.kind != EventKind.USAGE:
            texts.setdefault("thought" if row.kind == EventKind.THINKING else "said", []).append(text)
    rows = step.rows or step.results
    out: dict[str, Any] = {"step_id": number, "source": step.source, "message": "\n".join(texts.get("said", []))}
    if (at := next((row.at for row in rows if row.at), None)) is not None:
        out["timestamp"] = at.isoformat().replace("+00:00", "Z")
    if texts.get("thought"):
        out["reasoning_content"] = "\n".join(texts["thought"])
    if calls:
        out["tool_calls"] = calls
    if step.results:
        out["observation"] = {"results": [_result(row, bodies, bool(step.rows)) for row in step.results]}
    if step.source == "agent" and (metrics := _metrics(step.rows)):
        out["metrics"] = metrics
    out["extra"] = _extra(step, rows)
    return out


def _extra(step: _Step, rows: list[Event]) -> dict[str, Any]:
    extra: dict[str, Any] = {"seq": rows[0].seq, "line": rows[0].line}
    if step.source == "system" and step.rows and rows[0].kind != EventKind.SYSTEM:
        extra |= {"kind": rows[0].kind, "detail": rows[0].detail}
    if rows[0].agent:
        extra["agent"] = rows[0].agent
    failed = [row.call_id for row in step.results if row.failed]
    return extra | ({"failed": failed} if failed else {})


def _identity(row: Event) -> str:
    """Of a call; calls without an id, or with one that comes twice, stay apart by their number."""
    return row.call_id or f"event-{row.seq}"


def _call(row: Event, arguments: Any) -> dict[str, Any]:
    held = arguments if isinstance(arguments, dict) else ({} if arguments is None else {"value": arguments})
    return {"tool_call_id": _identity(row), "function_name": row.tool or "unknown", "arguments": held}


def _result(row: Event, bodies: Bodies, answers: bool) -> dict[str, Any]:
    content = {"content": bodies.read(row)[0]}
    return {"source_call_id": row.call_id, **content} if answers and row.call_id else content


def _metrics(rows: list[Event]) -> dict[str, Any]:
    names = {"prompt_tokens": "tokens_input", "completion_tokens": "tokens_output", "cached_tokens": "tokens_cached"}
    out: dict[str, Any] = {}
    for name, column in {**names, "cost_usd": "cost"}.items():
        known = [getattr(row, column) for row in rows if row.basis == Basis.SHARE and getattr(row, column) is not None]
        if known:
            out[name] = sum(known)
    return out
