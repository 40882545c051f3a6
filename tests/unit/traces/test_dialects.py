"""Each dialect: what its records become."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.unit.traces.support import kinds, read
from traces.contract import EventKind, Tokens
from traces.reading.reader import Reader

Lines = list[dict[str, Any]]


def jsonl(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


REAL: dict[str, tuple[str, dict[str, int], dict[str, int], Tokens, float | None]] = {
    # file: dialect, some counts by kind, declared, tokens, cost
    "atif_multi_tool.json": ("atif", {"tool_call": 4, "tool_result": 4}, {"steps": 5}, Tokens(9150, 635, 5562), 0.0074),
    "atif_v17_subagents.json": ("atif", {"tool_call": 1, "session": 2}, {"steps": 4}, Tokens(42, 12), None),
    "claude_stream_auth_failure.jsonl": ("claude-stream", {"result": 1}, {"turns": 1}, Tokens(0, 0, 0), 0.0),
    "claude_stream_killed.jsonl": (
        "claude-stream",
        {"tool_call": 25, "raw": 1},
        {},
        Tokens(480575, None, 444971),
        None,
    ),
    "own_claude_success.jsonl": ("claude-stream", {"tool_call": 4}, {"turns": 5}, Tokens(145819, 181, 93552), 0.312636),
    "codex_exec_mixed_stderr.jsonl": ("codex-exec", {"tool_call": 2, "raw": 4}, {}, Tokens(), None),
    "own_codex_success.jsonl": ("codex-exec", {"tool_call": 4}, {}, Tokens(49701, 201, 32155, 0), None),
    "codex_rollout.jsonl": (
        "codex-rollout",
        {"tool_call": 13, "tool_result": 8},
        {},
        Tokens(87409, 1144, 65024, 105),
        None,
    ),
    "gemini_stream.jsonl": ("gemini", {"tool_call": 41, "tool_result": 40}, {}, Tokens(), None),
    "own_gemini_success.jsonl": ("gemini", {"assistant": 4}, {"tool_calls": 4}, Tokens(60407, 181, 38941), None),
    "inspect_small.eval": ("inspect", {"assistant": 1, "system": 1}, {"samples": 1}, Tokens(66, 2), None),
    "miniswe.traj.json": ("mini-swe-agent", {"tool_call": 10, "tool_result": 10}, {}, Tokens(), None),
    "own_miniswe_success.traj.json": (
        "mini-swe-agent",
        {"tool_call": 5},
        {"model_calls": 5},
        Tokens(5702, 180, 3886),
        None,
    ),
    "opencode_run.jsonl": ("opencode", {"tool_call": 1, "error": 1}, {}, Tokens(534, 128, 0, 64), 0.0123),
    "openhands_v0_output.jsonl": ("openhands-v0", {"tool_call": 24, "tool_result": 24}, {}, Tokens(), 1.223646),
    "openhands_v1_events.jsonl": ("openhands-v1", {"tool_result": 3}, {}, Tokens(107458, 1347, 68193, 0), 0.0),
    "own_openhands_auth.jsonl": ("openhands-v1", {"error": 1, "user": 1}, {}, Tokens(), None),
    "sweagent_simple.traj": ("swe-agent", {"tool_call": 5, "tool_result": 5}, {}, Tokens(), None),
}


@pytest.mark.parametrize("name", REAL)
def test_real_transcripts(shared_data: Path, name: str) -> None:
    dialect, counts, declared, tokens, cost = REAL[name]
    _, summary = read((shared_data / "traces" / name).read_bytes())
    assert summary.dialects == [dialect]
    assert {kind: summary.kinds[kind] for kind in counts} == counts
    assert summary.declared == declared
    for what in declared:
        assert summary.stored[what] == declared[what]
    assert summary.tokens == tokens
    assert summary.cost == (None if cost is None else pytest.approx(cost))


def test_no_real_record_is_unknown(shared_data: Path) -> None:
    for path in sorted((shared_data / "traces").iterdir()):
        _, summary = read(path.read_bytes())
        assert set(summary.reasons) <= {"not_json"}, path.name


def test_claude_session_file() -> None:
    common = {"sessionId": "s", "version": "2.0", "timestamp": "2026-01-01T00:00:00Z", "isSidechain": False}
    usage = {"input_tokens": 5, "output_tokens": 1}
    said: dict[str, Any] = {
        "id": "m",
        "role": "assistant",
        "usage": usage,
        "content": [{"type": "thinking", "thinking": ""}],
    }
    last = {
        **said,
        "stop_reason": "end_turn",
        "usage": {**usage, "output_tokens": 9},
        "content": [{"type": "text", "text": "hi"}],
    }
    events, summary = read(
        jsonl(
            {"type": "summary", "summary": "Earlier", "leafUuid": "u"},
            {"type": "user", "message": {"role": "user", "content": "go"}, "uuid": "1", **common},
            {"type": "assistant", "message": said, "uuid": "2", **common},
            {"type": "assistant", "message": last, "uuid": "3", **common, "isSidechain": True, "agentId": "a7"},
        )
    )
    assert kinds(events) == ["notice", "session", "user", "thinking", "assistant"]
    assert summary.tokens == Tokens(5, 9)
    assert events[3].detail["hidden"] is True
    assert events[4].agent == "a7"


def test_claude_images_and_unknown_blocks() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 4000}}
    result = {
        "type": "tool_result",
        "tool_use_id": "c",
        "content": [{"type": "text", "text": "see"}, image],
        "is_error": False,
    }
    content = [result, {"type": "novelty", "x": 1}]
    line = {"type": "user", "session_id": "s", "message": {"role": "user", "content": content}}
    events, _ = read(jsonl(line))
    assert events[0].text == "see\n[image image/png, 3000 bytes]"
    assert events[0].detail["images"] == [{"media_type": "image/png", "bytes": 3000, "url": ""}]
    assert (events[1].kind, events[1].detail["block"]) == (EventKind.RAW, "novelty")


def test_codex_item_ids_restart_in_each_session() -> None:
    item = {"id": "item_0", "type": "command_execution", "command": "ls", "aggregated_output": "x", "exit_code": 1}
    session = (
        {"type": "thread.started", "thread_id": "t"},
        {"type": "item.started", "item": {**item, "exit_code": None, "status": "in_progress"}},
        {"type": "item.completed", "item": {**item, "status": "failed"}},
        {"type": "turn.completed", "usage": {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 2}},
    )
    events, summary = read(jsonl(*session, *session))
    assert [event.call_id for event in events if event.call_id] == ["item_0", "item_0", "2:item_0", "2:item_0"]
    assert [event.call_seq for event in events if event.kind == EventKind.TOOL_RESULT] == [2, 6]
    assert events[2].failed is True
    assert events[2].detail["exit_code"] == 1
    assert summary.tokens == Tokens(20, 4, 8)


def test_codex_rollout_says_each_message_once_and_never_sums_running_totals() -> None:
    def line(kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": "2026-01-01T00:00:00Z", "type": kind, "payload": payload}

    text = [{"type": "output_text", "text": "done"}]
    totals = [{"input_tokens": n, "output_tokens": n, "cached_input_tokens": 0} for n in (10, 25)]
    events, summary = read(
        jsonl(
            line("session_meta", id="s", cli_version="1"),
            line("event_msg", type="agent_message", message="done"),
            line("response_item", type="message", role="assistant", content=text),
            line("response_item", type="message", role="assistant", content=text),
            *(line("event_msg", type="token_count", info={"total_token_usage": total}) for total in totals),
            line("response_item", type="function_call", name="shell", arguments='{"command":["ls"]}', call_id="c"),
            line(
                "response_item",
                type="function_call_output",
                call_id="c",
                output='{"output":"x","metadata":{"exit_code":2}}',
            ),
        )
    )
    assert kinds(events) == ["session", "assistant", "assistant", "usage", "usage", "tool_call", "tool_result"]
    assert summary.tokens == Tokens(25, 25, 0)
    assert events[5].arguments == {"command": ["ls"]}
    assert (events[6].text, events[6].failed) == ("x", True)


def test_opencode_counts_the_cache_as_input() -> None:
    tokens = {"total": 7907, "input": 1564, "output": 88, "reasoning": 0, "cache": {"write": 0, "read": 6255}}
    part = {"type": "step-finish", "tokens": tokens, "cost": 0.25}
    _, summary = read(jsonl({"type": "step_finish", "timestamp": 1767445000100, "sessionID": "ses_1", "part": part}))
    assert summary.tokens == Tokens(7819, 88, 6255, 0)
    assert summary.cost == 0.25


def test_opencode_export_behind_a_line_of_text() -> None:
    tool = {
        "type": "tool",
        "tool": "bash",
        "callID": "c",
        "state": {"status": "completed", "input": {"command": "ls"}, "output": "x"},
    }
    document = {
        "info": {"id": "ses_1", "version": "1.0"},
        "messages": [
            {"info": {"role": "user", "id": "m1"}, "parts": [{"type": "text", "text": "go"}]},
            {
                "info": {"role": "assistant", "id": "m2", "modelID": "m"},
                "parts": [{"type": "text", "text": "hi"}, tool],
            },
        ],
    }
    events, summary = read(b"Exporting session: ses_1\n" + json.dumps(document, indent=2).encode())
    assert kinds(events) == ["raw", "session", "user", "notice", "assistant", "tool_call", "tool_result"]
    assert (summary.dialects, summary.model) == (["opencode-export"], "m")


def test_gemini_joins_pieces_and_reads_two_runs() -> None:
    def at(second: int) -> str:
        return f"2026-01-01T00:00:{second:02}Z"

    run: list[dict[str, Any]] = [
        {"type": "init", "timestamp": at(0), "session_id": "g", "model": "m"},
        *(
            {"type": "message", "timestamp": at(n), "role": "assistant", "content": f"{n} ", "delta": True}
            for n in (1, 2, 3)
        ),
        {
            "type": "result",
            "timestamp": at(9),
            "status": "success",
            "stats": {"input_tokens": 7, "output_tokens": 3, "cached": 2},
        },
    ]
    second = [{**line, "session_id": "h"} if line["type"] == "init" else line for line in run]
    events, summary = read(jsonl(*run, *second))
    assert kinds(events) == ["session", "assistant", "result"] * 2
    assert events[1].text == "1 2 3 "
    assert summary.tokens == Tokens(14, 6, 4)


def test_openhands_v0_list_answers_by_cause() -> None:
    steps = [
        {"id": 0, "timestamp": "2026-01-01T00:00:00", "source": "user", "action": "message", "args": {"content": "go"}},
        {
            "id": 1,
            "timestamp": "2026-01-01T00:00:01",
            "source": "agent",
            "action": "run",
            "args": {"command": "ls", "thought": "look"},
        },
        {
            "id": 2,
            "timestamp": "2026-01-01T00:00:02",
            "source": "agent",
            "action": "run",
            "args": {"command": "pwd"},
            "llm_metrics": {
                "accumulated_cost": 0.5,
                "accumulated_token_usage": {"prompt_tokens": 9, "completion_tokens": 3},
            },
        },
        {
            "id": 3,
            "timestamp": "2026-01-01T00:00:03",
            "source": "agent",
            "observation": "run",
            "content": "x",
            "extras": {"metadata": {"exit_code": 1}},
            "cause": 1,
        },
    ]
    for data in (json.dumps(steps).encode(), json.dumps(steps, indent=1).encode(), jsonl(*steps)):
        events, summary = read(data)
        assert kinds(events) == ["user", "assistant", "tool_call", "tool_call", "tool_result"]
        assert (events[4].call_seq, events[4].failed, events[4].duration_s) == (3, True, 2.0)
        assert events[0].detail["zone"] == "assumed"
        assert (summary.tokens, summary.cost) == (Tokens(9, 3), 0.5)


def test_swe_agent_tells_its_trajectory_where_there_is_no_history() -> None:
    steps = [{"action": "ls", "observation": "README", "response": "I look.", "thought": "", "execution_time": 0.5}]
    info = {
        "exit_status": "submitted",
        "model_stats": {"instance_cost": 0.25, "tokens_sent": 9, "tokens_received": 3, "api_calls": 1},
    }
    history = [
        {"role": "system", "content": "You are", "agent": "main"},
        {"role": "assistant", "content": "I look.", "action": "ls\n", "agent": "main"},
        {"role": "user", "content": "README", "message_type": "observation", "agent": "main"},
    ]
    events, summary = read(json.dumps({"trajectory": steps, "info": info}, indent=1).encode())
    assert kinds(events) == ["result", "assistant", "tool_call", "tool_result"]
    assert (summary.tokens, summary.cost, summary.declared) == (Tokens(9, 3), 0.25, {"model_calls": 1})
    events, summary = read(json.dumps({"trajectory": steps, "history": history, "info": info}).encode())
    assert kinds(events) == ["system", "assistant", "tool_call", "tool_result", "result"]
    assert events[3].call_seq == 3


def test_mini_swe_agent_leaves_unknown_prices_unknown() -> None:
    def document(cost: float, tracking: str) -> bytes:
        info = {
            "model_stats": {"instance_cost": cost, "api_calls": 2},
            "config": {"model": {"cost_tracking": tracking}},
        }
        return json.dumps({"info": info, "messages": [], "trajectory_format": "mini-swe-agent-1.1"}).encode()

    assert read(document(0.0, "ignore_errors"))[1].cost is None
    assert read(document(0.0, "default"))[1].cost == 0.0
    assert read(document(0.5, "ignore_errors"))[1].cost == 0.5


def inspect_sample() -> dict[str, Any]:
    """Long texts stand behind the events that refer to them."""
    call = {"id": "c", "function": "bash", "arguments": {"cmd": "ls"}}
    message = {"role": "assistant", "content": "attachment://a1", "tool_calls": [call]}
    usage = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 17, "input_tokens_cache_read": 10}
    return {
        "id": "s1",
        "epoch": 1,
        "input": "go",
        "target": "",
        "messages": [{"role": "system", "content": "You are"}, {"role": "user", "content": "go"}],
        "events": [
            {
                "event": "sample_init",
                "timestamp": "2026-01-01T00:00:00+00:00",
                "state": {"messages": [{"role": "user", "content": "go"}]},
            },
            {
                "event": "model",
                "uuid": "m",
                "timestamp": "2026-01-01T00:00:01+00:00",
                "model": "x/y",
                "output": {"choices": [{"message": message, "stop_reason": "tool_calls"}], "usage": usage},
            },
            {
                "event": "tool",
                "id": "c",
                "function": "bash",
                "timestamp": "2026-01-01T00:00:02+00:00",
                "result": "attachment://a2",
                "error": None,
            },
        ],
        "attachments": {"a1": "I look.", "a2": "README"},
    }


def inspect_forms() -> dict[str, bytes]:
    header = {
        "version": 2,
        "status": "success",
        "eval": {"task": "t", "model": "x/y", "packages": {"inspect_ai": "0.3"}},
    }
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("samples/s1_epoch_1.json", json.dumps(inspect_sample()))
        file.writestr("summaries.json", "[]")
        file.writestr("header.json", json.dumps(header, indent=2))
    return {
        "eval": archive.getvalue(),
        "json": json.dumps({**header, "samples": [inspect_sample()]}, indent=2).encode(),
    }


@pytest.mark.parametrize("form", ["eval", "json"])
def test_inspect_logs_find_their_attachments(form: str) -> None:
    data = inspect_forms()[form]
    events, summary = read(data, 100)
    told = [event for event in events if event.kind not in (EventKind.NOTICE, EventKind.SESSION)]
    assert kinds(told) == ["system", "user", "assistant", "tool_call", "tool_result"]
    assert [event.text for event in told] == ["You are", "go", "I look.", "", "README"]
    assert told[4].call_seq == told[3].seq
    assert summary.tokens == Tokens(15, 2, 10)
    assert summary.model == "x/y"


def test_an_archive_that_unpacks_to_much_more_than_its_size_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("traces.reading.archive.LEAST", 1 << 20)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for number in range(4):
            file.writestr(f"samples/{number}.json", b" " * (4 << 20))
    reader = Reader()
    events = reader.feed(archive.getvalue()) + list(reader.finish())
    assert reader.offset < 5 << 20
    assert "unpacks to more" in reader.summary.notes[-1]
    assert "the rest was left out" in events[-1].text


def test_a_damaged_archive_is_said_and_kept() -> None:
    data = inspect_forms()["eval"]
    events, summary = read(data[: len(data) // 2])
    assert kinds(events) == ["raw"]
    assert "cannot be read" in summary.notes[0]
    flipped = bytearray(data)
    flipped[60:90] = b"\x00" * 30
    events, summary = read(bytes(flipped))
    assert any("cannot be" in note for note in summary.notes)
    assert "session" in kinds(events)
