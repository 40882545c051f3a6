"""Usage as each provider tells it. The shapes are those of the providers' API references."""

import json
from typing import Any

import pytest

from benchmark.gateway import usage
from benchmark.gateway.answers import AnswerReader
from benchmark.gateway.usage import Usage

ANTHROPIC = {"input_tokens": 25, "cache_read_input_tokens": 400, "cache_creation_input_tokens": 30, "output_tokens": 12}
RESPONSES = {"input_tokens": 500, "input_tokens_details": {"cached_tokens": 384}, "output_tokens": 70}
CHAT = {"prompt_tokens": 500, "prompt_tokens_details": {"cached_tokens": 384}, "completion_tokens": 70}
GEMINI = {"promptTokenCount": 90, "cachedContentTokenCount": 40, "candidatesTokenCount": 7, "thoughtsTokenCount": 5}

WRITTEN = {"cached_tokens": 384, "cache_write_tokens": 100}


def sse(*events: Any) -> bytes:
    return b"".join(b"data: " + (e if isinstance(e, bytes) else json.dumps(e).encode()) + b"\n\n" for e in events)


def read(reader: usage.Reader, content: bytes, kind: str, step: int) -> AnswerReader:
    made = AnswerReader(kind, reader)
    for at in range(0, len(content), step):
        made.feed(content[at : at + step])
    made.close()
    return made


WHOLE = [
    (usage.anthropic, {"type": "message", "usage": ANTHROPIC}, Usage(25, 400, 30, 12)),
    (usage.responses, {"object": "response", "usage": RESPONSES}, Usage(116, 384, 0, 70)),
    (usage.chat, {"object": "chat.completion", "usage": CHAT}, Usage(116, 384, 0, 70)),
    (usage.gemini, {"candidates": [], "usageMetadata": GEMINI}, Usage(50, 40, 0, 12)),
    (usage.responses, {"usage": RESPONSES | {"input_tokens_details": WRITTEN}}, Usage(16, 384, 100, 70)),
    (usage.chat, {"usage": CHAT | {"prompt_tokens_details": WRITTEN}}, Usage(16, 384, 100, 70)),
]
START = {"type": "message_start", "message": {"usage": {**ANTHROPIC, "output_tokens": 1}}}
STREAMS = [
    (usage.anthropic, sse(START, {"type": "message_delta", "usage": {"output_tokens": 12}}), Usage(25, 400, 30, 12)),
    (
        usage.responses,
        sse(
            {"response": {"usage": None}},
            {"type": "x"},
            {"type": "response.completed", "response": {"usage": RESPONSES}},
        ),
        Usage(116, 384, 0, 70),
    ),
    (
        usage.chat,
        sse({"choices": [{}], "usage": None}, {"choices": [], "usage": CHAT}, b"[DONE]"),
        Usage(116, 384, 0, 70),
    ),
    (usage.gemini, sse({"usageMetadata": {"promptTokenCount": 90}}, {"usageMetadata": GEMINI}), Usage(50, 40, 0, 12)),
]


@pytest.mark.parametrize(("reader", "body", "told"), WHOLE)
def test_a_whole_answer(reader: usage.Reader, body: dict[str, Any], told: Usage) -> None:
    assert read(reader, json.dumps(body).encode(), "application/json", 7).usage == told


@pytest.mark.parametrize("step", [1, 13, 100_000])
@pytest.mark.parametrize(("reader", "stream", "told"), STREAMS)
def test_a_stream_however_it_is_cut_into_pieces(reader: usage.Reader, stream: bytes, told: Usage, step: int) -> None:
    assert read(reader, stream, "text/event-stream; charset=utf-8", step).usage == told


def test_a_stream_that_breaks_off_tells_what_it_had_told() -> None:
    content = sse(START, {"type": "content_block_delta"})
    assert read(usage.anthropic, content, "text/event-stream", 50).usage == Usage(25, 400, 30, 1)


def test_gemini_streams_a_list_where_no_events_were_asked_for() -> None:
    content = json.dumps([{"usageMetadata": {"promptTokenCount": 90}}, {"usageMetadata": GEMINI}]).encode()
    assert read(usage.gemini, content, "application/json", 9).usage == Usage(50, 40, 0, 12)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not json",
        b"[1, 2]",
        b'{"usage": 7}',
        b'{"usage": {"input_tokens": "many", "output_tokens": -1}}',
        b"\xff\xfe",
    ],
)
@pytest.mark.parametrize("reader", [usage.anthropic, usage.responses, usage.chat, usage.gemini])
def test_nonsense_is_no_usage_and_no_fault(reader: usage.Reader, content: bytes) -> None:
    told = read(reader, content, "application/json", 4).usage
    assert told is None or told.total == 0


def test_an_error_inside_a_stream_is_found() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    found = read(usage.anthropic, sse(START, error), "text/event-stream", 11)
    assert found.error == "overloaded_error: Overloaded"
    failed = {
        "type": "response.failed",
        "response": {"error": {"code": "server_error", "message": "no"}, "usage": None},
    }
    assert read(usage.responses, sse(failed), "text/event-stream", 11).error == "server_error: no"


OVERLOADED = {"type": "overloaded_error", "message": "Overloaded"}
LONG = {"code": "context_length_exceeded", "message": "Your input exceeds the context window of this model."}
LIMITED = {"code": "rate_limit_exceeded", "message": "Rate limit reached: too many tokens per min."}
EXPIRED = {"code": 401, "status": "UNAUTHENTICATED", "message": "API key expired"}


@pytest.mark.parametrize(
    ("reader", "event", "kind"),
    [
        (usage.anthropic, {"type": "error", "error": OVERLOADED}, "error"),
        (usage.anthropic, {"type": "error", "error": {"type": "rate_limit_error", "message": "no"}}, "rate_limited"),
        (usage.responses, {"type": "response.failed", "response": {"error": LONG}, "usage": None}, "context"),
        (usage.responses, {"type": "response.failed", "response": {"error": LIMITED}, "usage": None}, "rate_limited"),
        (usage.responses, {"type": "error", **LONG, "sequence_number": 1}, "context"),
        (usage.responses, {"type": "error", "code": "server_error", "message": "401 permissions"}, "error"),
        (usage.chat, {"error": {"type": "invalid_request_error", "message": "messages: required"}}, "refused"),
        (usage.chat, {"error": "the engine is dead"}, "error"),
        (usage.gemini, {"error": EXPIRED}, "auth"),
        (usage.gemini, {"error": {"code": 503, "status": "UNAVAILABLE", "message": "overloaded"}}, "error"),
    ],
)
def test_an_error_inside_a_stream_is_of_its_kind(reader: usage.Reader, event: dict[str, Any], kind: str) -> None:
    found = read(reader, sse(event), "text/event-stream", 11)
    assert found.error
    assert found.kind == kind
