"""What is read of a request's body: only its top, and never in another way than the provider reads it."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmark.gateway.asked import Asked, Refused, top_of
from benchmark.gateway.providers import endpoint_of

MODELS = ("small", "small-20*")
LEAF = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUE = st.recursive(LEAF, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
NAME = st.text(st.characters(min_codepoint=32, max_codepoint=126, exclude_characters='\\"'))
FORMS: list[dict[str, Any]] = [{}, {"indent": 2}, {"separators": (",", ":")}]


def sent(body: bytes, path: str = "/chat/completions") -> bytes:
    endpoint = endpoint_of("openai", "POST", path)
    assert endpoint is not None
    return Asked(endpoint, path, "").sent(body, MODELS)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=50)
@given(st.dictionaries(NAME, VALUE, max_size=6), st.sampled_from(FORMS), st.booleans())
def test_reads_every_object_whose_keys_are_plain(told: dict[str, Any], form: dict[str, Any], ascii_only: bool) -> None:
    distinct = {key.casefold(): key for key in told}
    told = {key: told[key] for key in distinct.values()}
    read = top_of(json.dumps(told, **form, ensure_ascii=ascii_only).encode())
    assert {key: json.loads(bytes(value)) for key, value in read.items()} == told


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"teacher","model":"small"}',
        b'{"model":"small","x":[1,{"a":"}"}],"model":"small"}',
        b'{"model":1,"model":12}',
        b'{"mod\\u0065l":"teacher","model":"small"}',
        b'{"model":"small","Model":"teacher"}',
        '{"ſtream":true,"stream":false,"model":"small"}'.encode(),
    ],
)
def test_a_key_that_can_be_read_in_two_ways_is_refused(body: bytes) -> None:
    with pytest.raises(Refused, match="may be given once, unescaped") as refused:
        sent(body)
    assert refused.value.status == 400


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "truncated"),
        (b"[1]", "got `array`"),
        (b'{"model":"small"', "truncated"),
        (b'{"model":"small"}{', "trailing"),
        (b'{"model":"small","x":"\xff"}', "not UTF-8 at byte 22"),
        ('{"model":"small"}'.encode("utf-16"), "not UTF-8 at byte 0"),
        (b'{"model":"small","x":' + b"[" * 3_000_000, "nested too deeply"),
        (b'{"model":"small","stream_options":' + b'{"a":' * 3_000_000, "nested too deeply"),
        (b'{"model":"small","x":NaN}', "malformed"),
    ],
)
def test_what_is_no_json_object_is_refused_with_the_reason(body: bytes, why: str) -> None:
    with pytest.raises(Refused, match=why) as refused:
        sent(body)
    assert refused.value.status == 400


@pytest.mark.parametrize("depth", range(700, 1010, 5))
def test_no_depth_is_more_than_a_refusal(depth: int) -> None:
    """The limit is met at some depth, by whichever reader is deepest in the stack."""
    deep = b'{"a":' * depth + b"1" + b"}" * depth
    body = b'{"model":"small","stream":true,"stream_options":%b,"x":%b}' % (deep, deep)
    with contextlib.suppress(Refused):
        assert b'"include_usage":true' in sent(body)


@pytest.mark.parametrize("model", ['"teacher"', "null", '["small"]', '{"small":1}', '"small\\u0000"', '""'])
def test_another_model_is_refused(model: str) -> None:
    with pytest.raises(Refused, match="driver is small") as refused:
        sent(b'{"messages":[],"model":%b}' % model.encode())
    assert refused.value.status == 403


@pytest.mark.parametrize(
    ("given", "asks"),
    [
        ({}, None),
        ({"stream": False}, None),
        ({"stream": None}, None),
        ({"stream": True}, {"include_usage": True}),
        ({"stream": 1}, {"include_usage": True}),
        ({"Stream": True}, {"include_usage": True}),
        ({"stream": True, "stream_options": {"include_usage": False, "x": 1}}, {"include_usage": True, "x": 1}),
        ({"stream": True, "stream_options": "no"}, {"include_usage": True}),
    ],
)
def test_a_stream_of_chat_completions_is_asked_for_its_usage(given: dict[str, Any], asks: Any) -> None:
    whole = {"model": "small", "messages": [{"content": "é 😀"}], "seed": 12345678901234567890}
    out = json.loads(sent(json.dumps(whole | given).encode()))
    assert out.get("stream_options") == asks
    assert {key: value for key, value in out.items() if key != "stream_options"} == {
        key: value for key, value in (whole | given).items() if key != "stream_options"
    }


def test_usage_cannot_be_switched_off_by_saying_it_twice() -> None:
    body = b'{"model":"small","stream":true,"stream_options":{"include_usage":true,"include_usage":false}}'
    assert sent(body).count(b"include_usage") == 1


def test_other_bodies_go_out_as_they_came() -> None:
    body = b' {"model" : "small-2026-01-01",\n"stream":true, "input":"\\u00e9 1e400" } \n'
    assert sent(body, "/responses") is body
