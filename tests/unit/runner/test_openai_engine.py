"""The engine of a model elsewhere: a real HTTP server in OpenAI's format, the worker's socket, the engine inside."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from benchmark.gateway.process import Gateway
from benchmark.tasks.contract import Completion, Prompt, Turn
from grading.contract import RunnerSpec
from grading.outside.endpoint import Api, Endpoint, EndpointSettings
from grading.runner.engines.openai_engine import DUMMY_KEY, OpenAiEngine
from grading.runner.engines.protocol import Request
from grading.runner.faults import InfraFault
from grading.runner.prompts import MessageEncoder
from grading.runner.stops import Decoder
from tests.support.judge import (
    Behaviour,
    Reply,
    ScriptedJudge,
    hangs_up,
    in_turn,
    refuses,
    says,
)
from tests.support.waiting import together

Start = Callable[..., tuple[Endpoint, OpenAiEngine]]


class Letters:
    """A tokenizer of single characters; 0 ends a text."""

    def decode(self, ids: list[int], **_: Any) -> str:
        return "".join(chr(number) for number in ids if number)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """`start(server, api)`: the worker's side and the engine on the sandbox's, for one server."""
    with ExitStack() as stack:

        def begin(
            server: ScriptedJudge, api: Api = "chat/completions", **changes: Any
        ) -> tuple[Endpoint, OpenAiEngine]:
            settings = {"url": server.url, "model": server.model, "key": server.key, "patience_s": 60.0}
            endpoint = Endpoint(EndpointSettings(**{**settings, **changes}), api)
            socket = tmp_path / f"{len(list(tmp_path.iterdir()))}.sock"
            stack.enter_context(Gateway(socket=socket, routes=[endpoint.route()]))
            spec = RunnerSpec("t/1", "t", "h", "", "", engine="openai", endpoint="the-model", outside=str(socket))
            engine = OpenAiEngine(spec, Decoder(Letters(), [0]) if api == "completions" else None)
            engine.load()
            return endpoint, engine

        yield begin


def asked(text: str, *, stop: tuple[str, ...] = (), max_tokens: int = 20) -> Request:
    _, request = MessageEncoder().encode(Prompt(max_tokens=max_tokens, text=text, stop=stop), first=True)
    assert request is not None
    return request


def answers(engine: OpenAiEngine, *requests: Request) -> list[Completion]:
    for key, request in enumerate(requests):
        engine.submit(key, request)
    done: dict[int, Completion] = {}
    while len(done) < len(requests):
        done.update(engine.step())
    return [done[key] for key in range(len(requests))]


def chat(content: Any, reason: str = "stop") -> Behaviour:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": reason}
    return lambda _: Reply({"choices": [choice], "usage": {"completion_tokens": 7}})


def test_messages_go_as_they_are_and_a_text_as_one_user_message(start: Start) -> None:
    with ScriptedJudge(says("Yes.")) as server:
        _, engine = start(server)
        turns = (Turn("system", "Be brief."), Turn("user", "Is it?"))
        _, request = MessageEncoder().encode(Prompt(max_tokens=5, messages=turns), first=True)
        assert request is not None
        engine.probe(())
        assert answers(engine, request, asked("2+2=", stop=("\n",))) == [Completion("Yes.", 1, "stop")] * 2
        sent = sorted(server.requests, key=lambda body: len(body["messages"]), reverse=True)
    assert sent[0]["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is it?"}]
    assert sent[1]["messages"] == [{"role": "user", "content": "2+2="}]
    assert (sent[1]["stop"], "stop" in sent[0]) == (["\n"], False)
    assert {(body["model"], body["temperature"], body["max_tokens"]) for body in sent} == {
        (server.model, 0.0, 5),
        (server.model, 0.0, 20),
    }
    assert engine.versions()["prompts"] == "messages; raw texts as one user message"


def test_the_key_is_put_in_outside(start: Start) -> None:
    with ScriptedJudge(says("x")) as server:  # which refuses every other key
        endpoint, engine = start(server)
        answers(engine, asked("a"))
    assert server.key not in repr(vars(engine)) + repr(engine._client.headers)
    assert engine._client.headers["authorization"] == f"Bearer {DUMMY_KEY}"
    assert endpoint.metrics()["endpoint_tokens_in"] == 100
    assert endpoint.versions() == {"endpoint_answered_as": server.model}


def test_parameters_are_put_in_and_taken_out(start: Start) -> None:
    with ScriptedJudge(says("one\ntwo")) as server:
        endpoint, engine = start(server, parameters={"stop": None, "reasoning_effort": "low"})
        # An API that knows no stop strings: what follows one is cut off here.
        assert answers(engine, asked("a", stop=("\n",)))[0].text == "one"
        assert "stop" not in server.requests[0]
        assert server.requests[0]["reasoning_effort"] == "low"
        assert "reasoning_effort" in endpoint.versions()["endpoint_parameters"]


@pytest.mark.parametrize(
    ("behave", "expected"),
    [
        (chat("cut off", "length"), Completion("cut off", 7, "length")),
        (chat(None), Completion("", 7, "stop")),
        (lambda _: Reply(b'{"choices": [{"message": {"content": "\\ud800"}, "finish_reason": "stop"}]}'), "?"),
    ],
)
def test_what_answers_look_like(behave: Behaviour, expected: Any, start: Start) -> None:
    with ScriptedJudge(behave) as server:
        [told] = answers(start(server)[1], asked("a"))
    assert told == expected or told.text == expected
    told.text.encode()


def test_many_requests_at_once_but_no_more_than_allowed(start: Start) -> None:
    with ScriptedJudge(together(4, says("x"))) as server:
        endpoint, engine = start(server, concurrency=4)
        assert len(answers(engine, *(asked(str(n)) for n in range(20)))) == 20
    assert server.most_at_once == 4
    assert endpoint.metrics()["endpoint_calls"] == 20


def test_what_passes_is_repeated_and_a_pause_is_kept(start: Start) -> None:
    first = [refuses(429, "slow down", retry_after="0.6"), refuses(503), hangs_up(), lambda _: Reply(b"<html>")]
    with ScriptedJudge(in_turn(first, says("x"))) as server:
        endpoint, engine = start(server, patience_s=60.0)
        began = time.monotonic()
        assert answers(engine, asked("a"))[0].text == "x"
        assert time.monotonic() - began >= 0.6
    assert endpoint.metrics()["endpoint_retries"] == 4


@pytest.mark.parametrize(
    ("behave", "message"),
    [
        (refuses(500, "out of order"), "The endpoint answered 500"),
        (refuses(401, "who are you"), "AGENT2_ENDPOINT_URL, _MODEL, _KEY"),
        (chat("I may not", "content_filter"), "content_filter"),
        (lambda _: Reply({"error": {"message": "no"}}), "no completion"),
    ],
)
def test_no_answer_is_the_providers_fault(behave: Behaviour, message: str, start: Start) -> None:
    with ScriptedJudge(behave) as server:
        _, engine = start(server, patience_s=0.3)
        with pytest.raises(InfraFault) as caught:
            answers(engine, asked("a"))
    assert caught.value.finding.code == "I_PROVIDER"
    assert message in caught.value.finding.message
    assert server.key not in caught.value.finding.message


def continued(body: Mapping[str, Any]) -> Reply:
    """The prompt's last letter three times and the end, as vLLM tells it, with the ids where they are wanted."""
    ids = [body["prompt"][-1]] * 3 + [0]
    choice = {"index": 0, "text": "ignored", "finish_reason": "stop", "token_ids": ids}
    return Reply({"choices": [choice], "usage": {"completion_tokens": 4}})


def test_token_ids_are_sent_and_decoded_here(start: Start) -> None:
    with ScriptedJudge(continued, "/v1/completions") as server:
        _, engine = start(server, "completions")
        engine.probe((97,))
        assert answers(engine, Request((97, 98), 9, ("c",)))[0] == Completion("bbb", 4, "stop")
        assert engine.versions()["decoding"] == "token ids"
    body = server.requests[-1]
    assert body["prompt"] == [97, 98]
    assert (body["max_tokens"], body["stop"], body["stop_token_ids"]) == (9, ["c"], [0])
    assert (body["temperature"], body["repetition_penalty"], body["ignore_eos"]) == (0.0, 1.0, False)


def test_a_server_that_returns_no_ids_decodes_itself(start: Start) -> None:
    answer = Reply({"choices": [{"text": "by the server", "finish_reason": "stop"}]})
    with ScriptedJudge(lambda _: answer, "/v1/completions") as server:
        _, engine = start(server, "completions")
        assert answers(engine, Request((97,), 9))[0].text == "by the server"
        assert engine.versions()["decoding"] == "endpoint"


def test_a_socket_that_nobody_serves_is_a_fault(tmp_path: Path) -> None:
    outside = str(tmp_path / "nobody.sock")
    engine = OpenAiEngine(RunnerSpec("t/1", "t", "h", "", "", engine="openai", endpoint="m", outside=outside), None)
    engine.load()
    with pytest.raises(InfraFault, match="does not answer on its socket"):
        answers(engine, asked("a"))


def test_other_paths_are_closed(start: Start) -> None:
    with ScriptedJudge(says("x")) as server:
        _, engine = start(server, "completions")
        engine._decoder = None  # speaks to the chat API, which this socket does not lead to
        with pytest.raises(InfraFault, match="cannot be reached from inside the sandbox"):
            answers(engine, asked("a"))
    assert not server.requests
