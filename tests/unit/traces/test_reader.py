"""What every reader must survive; nothing is dropped, and pieces of any size give the same events."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.traces.support import CLAUDE, facts, kinds, read, transcripts
from traces.contract import EventKind
from traces.reading.reader import RECORD_LIMIT, Reader

WHOLE = b"".join(CLAUDE)
GEMINI = (
    b'{"type":"init","timestamp":"2026-01-01T00:00:00Z","session_id":"g","model":"m"}\n'
    b'{"type":"message","timestamp":"2026-01-01T00:00:01Z","role":"assistant","content":"one ","delta":true}\n'
    b'{"type":"message","timestamp":"2026-01-01T00:00:02Z","role":"assistant","content":"two","delta":true}\n'
    b'{"type":"result","timestamp":"2026-01-01T00:00:03Z","status":"success","stats":{"tool_calls":0}}\n'
)
PRETTY = json.dumps(
    {
        "schema_version": "ATIF-v1.4",
        "session_id": "s",
        "agent": {"name": "a", "version": "1"},
        "steps": [{"step_id": n, "source": "user", "message": f'say "{n}" \\ {{[ é🚀'} for n in (1, 2, 3)],
    },
    indent=2,
    ensure_ascii=False,
).encode()


def test_an_empty_file_has_no_events() -> None:
    assert read(b"") == ([], read(b"")[1])
    assert read(b"\n\n  \n")[0] == []


@pytest.mark.parametrize(
    "whole", [WHOLE, GEMINI, PRETTY, b"plain\ntext\n" * 30 + WHOLE], ids=["claude", "gemini", "document", "text"]
)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1000])
def test_pieces_give_the_same_events_as_the_whole(whole: bytes, size: int) -> None:
    assert facts(read(whole, size)[0]) == facts(read(whole)[0])


@pytest.mark.parametrize(("whole", "open_at_most"), [(WHOLE, 1), (GEMINI, 2)], ids=["claude", "gemini"])
def test_a_cut_at_any_byte_leaves_earlier_events_unchanged(whole: bytes, open_at_most: int) -> None:
    """Open at the cut: the last line, and in Gemini's stream the message whose pieces may go on."""
    full = facts(read(whole)[0])
    for cut in range(len(whole)):
        events = facts(read(whole[:cut])[0])
        certain = max(0, len(events) - open_at_most)
        assert events[:certain] == full[:certain], cut


def test_a_document_cut_at_any_byte_leaves_earlier_steps_unchanged() -> None:
    full = facts(read(PRETTY)[0])
    for cut in range(PRETTY.index(b'"steps"'), len(PRETTY)):
        events = facts(read(PRETTY[:cut])[0])
        assert [e for e in events if e["kind"] != "raw"] == full[: sum(e["kind"] != "raw" for e in events)], cut


def test_a_last_line_cut_in_the_middle_is_kept_as_raw() -> None:
    events, summary = read(WHOLE[:-40])
    assert events[-1].kind == EventKind.RAW
    assert events[-1].detail["reason"] == "cut"
    assert events[-1].line == 5
    assert WHOLE[events[-1].offset :].startswith(b'{"type":"result"')
    assert summary.reasons == {"cut": 1}


def test_a_last_line_without_a_line_end_is_a_record() -> None:
    assert facts(read(WHOLE.rstrip(b"\n"))[0]) == facts(read(WHOLE)[0])


def test_offsets_and_lines_point_at_the_source() -> None:
    data = b"# banner\n" + WHOLE
    for event in read(data)[0]:
        piece = data[event.offset : event.offset + event.length]
        assert piece == data.split(b"\n")[event.line - 1]


def test_lines_that_are_not_json_are_kept_word_for_word() -> None:
    events, _ = read(CLAUDE[0] + b"Killed\n  at line 3\n" + CLAUDE[1])
    assert kinds(events) == ["session", "raw", "assistant"]
    assert events[1].text == "Killed\n  at line 3"
    assert (events[1].line, events[1].offset) == (2, len(CLAUDE[0]))


def test_unknown_types_are_kept() -> None:
    line = b'{"type":"novelty","session_id":"s1","payload":[1,2]}\n'
    events, summary = read(CLAUDE[0] + line + CLAUDE[1])
    assert kinds(events) == ["session", "raw", "assistant"]
    assert json.loads(events[1].text) == json.loads(line)
    assert summary.reasons == {"unknown": 1}


def test_invalid_utf8_and_control_codes_survive() -> None:
    odd = CLAUDE[1].replace(b"I look.", b"I \xff look \\u0000 \\u001b[31mred\\u001b[0m \\ud800")
    events, _ = read(CLAUDE[0] + odd)
    assert kinds(events) == ["session", "assistant"]
    assert events[1].text == "I � look \x00 \x1b[31mred\x1b[0m \ud800"


def test_progress_bars_are_one_line() -> None:
    events, _ = read(b"".join(b"\r%3d%%" % n for n in range(101)) + b"\n")
    assert len(events) == 1
    assert events[0].text.endswith("100%")


def test_a_line_of_ten_megabytes_is_one_event() -> None:
    long = CLAUDE[3].replace(b"README.md", b"x" * 10_000_000)
    events, _ = read(CLAUDE[2] + long, 1 << 16)
    assert kinds(events) == ["tool_call", "tool_result"]
    assert len(events[1].text) == 10_000_000


def test_a_line_over_the_limit_is_kept_in_raw_pieces() -> None:
    size = RECORD_LIMIT + 5_000_000
    data = CLAUDE[0] + CLAUDE[3].replace(b"README.md", b"y" * size) + CLAUDE[4]
    reader = Reader()
    events = [event for at in range(0, len(data), 1 << 20) for event in reader.feed(data[at : at + (1 << 20)])]
    events += reader.finish()
    assert kinds(events) == ["session", "raw", "raw", "result"]
    assert sum(event.length for event in events[1:3]) == size + len(CLAUDE[3]) - len(b"README.md") - 1
    assert events[3].line == 3


def test_two_records_glued_together_are_both_read() -> None:
    glued = CLAUDE[0].rstrip(b"\n") + CLAUDE[1]
    events, summary = read(glued)
    assert kinds(events) == ["session", "assistant"]
    assert events[1].offset == len(CLAUDE[0]) - 1
    assert summary.recovered == 2


def test_a_valid_rest_after_rubbish_is_recovered_and_the_rubbish_kept() -> None:
    rubbish = CLAUDE[1][:150]
    events, summary = read(CLAUDE[0] + rubbish + CLAUDE[2])
    assert kinds(events) == ["session", "raw", "tool_call"]
    assert events[1].text.encode() == rubbish
    assert events[2].offset == len(CLAUDE[0]) + 150
    assert (summary.recovered, summary.reasons) == (1, {"damaged": 1})


def test_inner_objects_of_a_cut_line_are_no_records() -> None:
    inner = b'{"type":"assistant","session_id":"s1","message":{"content":[{"type":"text","text":"t"}],"id":"x'
    assert kinds(read(CLAUDE[0] + inner)[0]) == ["session", "raw"]


def test_rubbish_behind_a_record_is_kept() -> None:
    events, _ = read(CLAUDE[0].rstrip(b"\n") + b"Killed\n")
    assert kinds(events) == ["session", "raw"]
    assert events[1].text == "Killed"


def test_the_same_call_id_twice_pairs_in_order() -> None:
    events, summary = read(CLAUDE[2] + CLAUDE[3] + CLAUDE[2] + CLAUDE[3])
    assert [event.call_seq for event in events] == [None, 1, None, 3]
    assert summary.repeated_calls == 0


def test_an_end_before_its_start_is_flagged_and_lasts_no_time() -> None:
    call = (
        b'{"type":"tool_use","timestamp":"2026-01-01T00:00:09Z","tool_name":"t","tool_id":"i","parameters":{}}\n'
        b'{"type":"tool_result","timestamp":"2026-01-01T00:00:02Z","tool_id":"i","status":"success","output":"o"}\n'
    )
    events, summary = read(call)
    assert events[1].duration_s == 0.0
    assert events[1].detail["clock_skew"] == -7.0
    assert summary.skewed == 1


def test_several_sessions_in_one_file_add_up() -> None:
    second = WHOLE.replace(b'"s1"', b'"s2"').replace(b'"a1"', b'"a2"')
    _, summary = read(WHOLE + second)
    assert summary.sessions == ["s1", "s2"]
    assert summary.cost == 1.0
    assert summary.declared == {"turns": 4}


def test_of_several_results_of_a_session_the_last_one_totals() -> None:
    _, summary = read(WHOLE + CLAUDE[4].replace(b"0.5", b"0.7"))
    assert summary.cost == 0.7
    assert summary.tokens.output == 40


def test_usage_that_a_message_repeats_counts_once_and_output_stays_unknown_without_a_result() -> None:
    _, summary = read(b"".join(CLAUDE[:4]))
    assert summary.tokens.input == 15
    assert summary.tokens.cached == 10
    assert summary.tokens.output is None
    assert summary.cost is None


def test_time_stamps_of_a_wrapper_are_taken_off() -> None:
    stamped = b"".join(b"[2026-04-03T14:05:3%dZ] " % n + line for n, line in enumerate(CLAUDE))
    plain, events = read(WHOLE)[0], read(stamped)[0]
    assert kinds(events) == kinds(plain)
    assert events[1].at is not None
    assert events[1].at.isoformat() == "2026-04-03T14:05:31+00:00"
    assert events[3].at == plain[3].at, "the record's own time wins"


def test_text_without_any_record_is_grouped() -> None:
    data = b"".join(b"line %d\n" % n for n in range(120))
    events, summary = read(data)
    assert [event.detail["lines"] for event in events] == [50, 50, 20]
    assert [event.line for event in events] == [1, 51, 101]
    assert "\n".join(event.text for event in events).encode() + b"\n" == data
    assert summary.dialects == []


def test_a_document_below_a_line_of_text_is_found() -> None:
    events, _ = read(b"Exporting session\n" + PRETTY + b"\n")
    assert kinds(events) == ["raw", "session", "user", "user", "user"]
    assert events[-1].line == 2 + PRETTY[: PRETTY.rindex(b"    {\n")].count(b"\n")


def test_documents_glued_together_are_all_read() -> None:
    assert kinds(read(PRETTY * 40)[0]) == ["session", "user", "user", "user"] * 40


def test_a_broken_document_goes_on_as_lines() -> None:
    broken = PRETTY[: PRETTY.index(b'"step_id": 2')] + b"]]]\n" + WHOLE
    events, _ = read(broken)
    assert kinds(events)[-5:] == kinds(read(WHOLE)[0])


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400), st.integers(1, 50))
def test_any_bytes_become_events_that_cover_them(data: bytes, size: int) -> None:
    events, _ = read(data, size)
    assert facts(events) == facts(read(data)[0])
    covered = bytearray(len(data))
    for event in events:
        covered[event.offset : event.offset + event.length] = b"\x01" * event.length
    assert all(covered[place] or data[place : place + 1].isspace() for place in range(len(data)))


KEYS = (
    *("type", "message", "content", "id", "item", "usage", "payload", "part", "kind", "source", "timestamp"),
    *("sessionID", "session_id", "steps", "text", "stats", "role", "tool_id", "tool_name", "subtype", "action"),
    *("observation", "status", "delta"),
)
TYPES = (
    *("assistant", "user", "system", "result", "item.completed", "turn.completed", "event_msg", "response_item"),
    *("tool_use", "message", "ActionEvent", "ObservationEvent", "ConversationStateUpdateEvent", "text"),
    *("step_finish", "init", "tool_result", "error", "session_meta"),
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=8,
)
_record = st.builds(
    lambda kind, values: {**values, "type": kind, "kind": kind},
    st.sampled_from(TYPES),
    st.dictionaries(st.sampled_from(KEYS), _json, max_size=8),
)


FIRST_OF_EACH: tuple[dict[str, object], ...] = (
    {"type": "text", "timestamp": 1, "sessionID": "s", "part": {"type": "text", "text": "a", "messageID": "m"}},
    {"type": "assistant", "session_id": "s", "message": {"id": "m", "role": "assistant", "content": "a"}},
    {"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user", "content": "a"}},
    {"type": "thread.started", "thread_id": "t"},
    {"type": "session_meta", "timestamp": "2026-01-01T00:00:00Z", "payload": {"id": "s"}},
    {"type": "init", "timestamp": "2026-01-01T00:00:00Z", "session_id": "g", "model": "m"},
    {"kind": "MessageEvent", "id": "1", "source": "agent", "llm_message": {"role": "assistant", "content": "a"}},
    {"id": 1, "action": "run", "source": "agent", "args": {"command": "a"}},
)


@settings(max_examples=400, deadline=None)
@given(st.lists(_record, max_size=5))
def test_records_of_the_wrong_shape_are_never_an_error(records: list[dict[str, object]]) -> None:
    events, summary = read("\n".join(map(json.dumps, records)).encode())
    assert summary.records == len(records)
    lines = {event.line for event in events}
    assert len(lines) + summary.merged >= len(records)


@pytest.mark.parametrize("first", FIRST_OF_EACH, ids=lambda value: str(value)[:30])
@settings(max_examples=60, deadline=None)
@given(values=st.dictionaries(st.sampled_from([*KEYS, "thread_id", "data", "uuid", "sessionId"]), _json, max_size=6))
def test_fields_of_any_type_after_the_dialect_is_known_are_never_an_error(
    first: dict[str, object], values: dict[str, object]
) -> None:
    events, _ = read("\n".join(map(json.dumps, [first, {**first, **values}, first])).encode())
    for event in events:
        names = (event.text, event.agent, event.session, event.tool, event.call_id, event.message_id)
        assert {type(name) for name in names} == {str}


@pytest.mark.parametrize("levels", [150, 199, 250, 450, 900, 980, 5000])
def test_what_is_nested_deeply_is_kept_and_what_is_parsed_can_be_written_again(levels: int) -> None:
    deep = "[" * levels + "]" * levels
    called = WHOLE.replace(b'{"command":"ls"}', deep.encode())
    told = json.dumps({"type": "response_item", "timestamp": "2026-01-01T00:00:00Z", "payload": _called(deep)})
    for data in (called, told.encode()):
        events, _ = read(data)
        assert any(deep in (event.text or json.dumps(event.arguments)).replace(" ", "") for event in events)
        assert all(deeper(event.arguments) <= 250 for event in events)


def _called(arguments: str) -> dict[str, str]:
    return {"type": "function_call", "name": "shell", "call_id": "c", "arguments": arguments}


def deeper(value: object) -> int:
    count = 0
    while isinstance(value, list) and value:
        value, count = value[0], count + 1
    return count


_heads = st.sampled_from(
    [
        {"schema_version": "ATIF-v1.6"},
        {"version": 2, "eval": {}},
        {"id": 1, "epoch": 1, "input": ""},
        {"trajectory_format": "m", "messages": []},
        {"trajectory": []},
        {"history": []},
        {"instruction": ""},
        {"info": {"id": "ses_1"}, "messages": []},
    ]
)
_parts = st.sampled_from(
    ["steps", "messages", "history", "trajectory", "samples", "events", "attachments", "info", "agent", "final_metrics"]
)
_items = _json | st.lists(
    st.dictionaries(st.sampled_from([*KEYS, "event", "output", "state", "info", "parts", "tool_calls"]), _json),
    max_size=4,
)


@settings(max_examples=400, deadline=None)
@given(_heads, st.dictionaries(_parts, _items, max_size=4), st.integers(1, 90))
def test_documents_of_the_wrong_shape_are_never_an_error(
    head: dict[str, object], rest: dict[str, object], size: int
) -> None:
    data = json.dumps({**head, **rest}).encode()
    events, summary = read(data, size)
    assert facts(events) == facts(read(data)[0])
    assert summary.records == 0 or len(events) + summary.merged > 0


def test_every_real_transcript_is_the_same_in_pieces(shared_data: Path) -> None:
    for path in transcripts(shared_data):
        data = path.read_bytes()[:60_000]
        assert facts(read(data, 997)[0]) == facts(read(data)[0]), path.name


def test_every_small_real_transcript_cut_at_every_byte(shared_data: Path) -> None:
    """Lines only: the beginning of a document cannot be told from text. Larger files are cut at fewer places."""
    for path in transcripts(shared_data):
        data = path.read_bytes()
        if path.suffix != ".jsonl" or len(data) > 20_000:
            continue
        full = facts(read(data)[0])
        for cut in range(0, len(data), 1 if len(data) < 1500 else 41):
            events = facts(read(data[:cut])[0])
            certain = max(0, len(events) - (2 if "gemini" in path.name else 1))
            assert events[:certain] == full[:certain], (path.name, cut)
