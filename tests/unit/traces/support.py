"""Reading in tests."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from traces.contract import TraceEvent
from traces.reading.reader import Reader
from traces.reading.summary import Summary

CLAUDE = (
    b'{"type":"system","subtype":"init","session_id":"s1","model":"m-1","claude_code_version":"2.1","tools":["Bash"]}\n',
    b'{"type":"assistant","session_id":"s1","parent_tool_use_id":null,"message":{"id":"a1","role":"assistant",'
    b'"model":"m-1","stop_reason":null,"content":[{"type":"text","text":"I look."}],"usage":{"input_tokens":3,'
    b'"cache_read_input_tokens":10,"cache_creation_input_tokens":2,"output_tokens":1}}}\n',
    b'{"type":"assistant","session_id":"s1","parent_tool_use_id":null,"message":{"id":"a1","role":"assistant",'
    b'"model":"m-1","stop_reason":null,"content":[{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"ls"}}],'
    b'"usage":{"input_tokens":3,"cache_read_input_tokens":10,"cache_creation_input_tokens":2,"output_tokens":1}}}\n',
    b'{"type":"user","session_id":"s1","parent_tool_use_id":null,"timestamp":"2026-03-01T09:00:00Z","message":'
    b'{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"README.md","is_error":false}]}}\n',
    b'{"type":"result","subtype":"success","is_error":false,"session_id":"s1","num_turns":2,"total_cost_usd":0.5,'
    b'"usage":{"input_tokens":3,"cache_read_input_tokens":10,"cache_creation_input_tokens":2,"output_tokens":40},'
    b'"result":"done"}\n',
)


def read(data: bytes, size: int = 0, secrets: Iterable[str] = ()) -> tuple[list[TraceEvent], Summary]:
    """All events, fed at once or in pieces of `size` bytes."""
    reader = Reader(secrets=secrets)
    events: list[TraceEvent] = []
    for start in range(0, len(data), size or max(1, len(data))):
        events += reader.feed(data[start : start + size] if size else data)
    events += reader.finish()
    return events, reader.summary


def facts(events: list[TraceEvent]) -> list[dict[str, Any]]:
    return [asdict(event) for event in events]


def kinds(events: list[TraceEvent]) -> list[str]:
    return [event.kind.value for event in events]


def transcripts(folder: Path) -> list[Path]:
    """Every real transcript of the test data."""
    return [
        *sorted((folder / "traces").iterdir()),
        *sorted((folder / "bundles").rglob("solve_out.txt")),
        *sorted((folder / "bundles").rglob("agent.jsonl")),
        *sorted((folder / "bundles").rglob("agent.log")),
    ]
