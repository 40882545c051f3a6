"""The provider's route behind a real socket, in front of a scripted provider."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmark.gateway.ledger import Ledger
from benchmark.gateway.prices import Price
from benchmark.gateway.process import Gateway
from benchmark.gateway.provider_route import ProviderRoute
from benchmark.gateway.providers import Dialect, Provider
from tests.support.scripted_provider import Fault, Script, ScriptedProvider, Turn
from tests.support.waiting import until

KEY = "the-platform-s-own-key-0123456789"
PRICES = {"small": Price(1, 5, 0.1, 1.25)}
MESSAGES = {"model": "small", "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}
CHAT = {"model": "small", "messages": [{"role": "user", "content": "hello"}]}
RESPONSES = {"model": "small", "input": [{"role": "user", "content": "hello"}]}
GEMINI = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}
ASKED: list[tuple[str, Dialect, str, dict[str, Any], dict[str, Any]]] = [
    ("messages", "anthropic", "/v1/messages", MESSAGES, MESSAGES | {"stream": True}),
    ("chat", "openai", "/chat/completions", CHAT, CHAT | {"stream": True}),
    ("responses", "openai", "/responses", RESPONSES, RESPONSES | {"stream": True}),
]


class Way:
    """A gateway with one provider's route, and a client of its socket."""

    def __init__(self, folder: Path, provider: ScriptedProvider, dialect: Dialect, **limits: Any) -> None:
        self.log_path, self.socket = folder / "provider.jsonl", folder / "g.sock"
        self.ledger = Ledger(PRICES, log_path=self.log_path, **limits)
        told = Provider("it", dialect, provider.url, KEY)
        self.gateway = Gateway(socket=self.socket, routes=[ProviderRoute(told, self.ledger, models=["small"])])
        transport = httpx.HTTPTransport(uds=str(self.socket))
        self.client = httpx.Client(transport=transport, base_url="http://gateway/provider/it", timeout=120)

    def __enter__(self) -> "Way":
        self.gateway.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.client.close()
        self.gateway.stop()

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log_path.read_text().splitlines()]


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider(Script([Turn("true")], tokens=(100, 40, 10))) as made:
        yield made


@pytest.mark.parametrize(("name", "dialect", "path", "whole", "streamed"), ASKED, ids=[each[0] for each in ASKED])
def test_counts_whole_and_streamed_answers_and_adds_the_key(
    tmp_path: Path,
    provider: ScriptedProvider,
    name: str,
    dialect: Dialect,
    path: str,
    whole: dict[str, Any],
    streamed: dict[str, Any],
) -> None:
    with Way(tmp_path, provider, dialect) as way:
        theirs = {"x-api-key": "agent", "authorization": "Bearer agent", "cookie": "c"}
        assert way.client.post(path, json=whole, headers=theirs).status_code == 200
        assert way.ledger.spent().usage.total == 110
        text = way.client.post(path, json=streamed, headers=theirs).text
        assert "data:" in text
    spent = way.ledger.spent()
    assert (spent.usage.input, spent.usage.cached, spent.usage.output) == (120, 80, 20)
    assert spent.cost_usd == pytest.approx((120 + 8 + 100) / 1e6)
    for each in provider.seen:
        assert set(each["credentials"].values()) in ({KEY}, {f"Bearer {KEY}"})
    assert [each["status"] for each in way.log()] == [200, 200]
    assert "hello" not in way.log_path.read_text()
    assert KEY not in way.log_path.read_text()


def test_gemini_names_its_model_in_the_path(tmp_path: Path, provider: ScriptedProvider) -> None:
    with Way(tmp_path, provider, "gemini") as way:
        stream = "/v1beta/models/small:streamGenerateContent?alt=sse&key=agent"
        assert way.client.post(stream, json=GEMINI).status_code == 200
        assert way.client.post("/v1beta/models/small:generateContent", json=GEMINI).status_code == 200
        assert way.client.post("/v1beta/models/large:generateContent", json=GEMINI).status_code == 403
    assert way.ledger.spent().usage.total == 220
    assert [each["credentials"] for each in provider.seen] == [{"x-goog-api-key": KEY}] * 2


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/files"),
        ("GET", "/v1/messages"),
        ("DELETE", "/v1/models/small"),
        ("POST", "/v1/messages/../../v1/files"),
        ("POST", "/v1/messages%2f..%2ffiles"),
        ("POST", "/v1/messages/batches"),
        ("GET", "/v1/organizations/api_keys"),
    ],
)
def test_nothing_else_of_the_provider_is_reached(
    tmp_path: Path, provider: ScriptedProvider, method: str, path: str
) -> None:
    with Way(tmp_path, provider, "anthropic") as way:
        request = way.client.build_request(method, "/v1/messages", json=MESSAGES if method == "POST" else None)
        request.url = request.url.copy_with(raw_path=b"/provider/it" + path.encode())
        assert way.client.send(request).status_code == 403
    assert provider.seen == []


def test_another_model_than_the_driver_is_refused_and_not_retried(tmp_path: Path, provider: ScriptedProvider) -> None:
    with Way(tmp_path, provider, "anthropic") as way:
        answer = way.client.post("/v1/messages", json=MESSAGES | {"model": "teacher"})
        assert answer.status_code == 403
        assert answer.headers["x-should-retry"] == "false"
        assert "teacher" in answer.json()["error"]["message"]
        assert way.client.post("/v1/messages", content=b"[1").status_code == 400
        assert way.client.post("/v1/messages", json={"messages": []}).status_code == 403
    assert provider.seen == []
    assert way.ledger.trouble() is None


def test_a_budget_of_tokens_refuses_the_next_request(tmp_path: Path, provider: ScriptedProvider) -> None:
    with Way(tmp_path, provider, "openai", tokens_most=150) as way:
        asked = [way.client.post("/chat/completions", json=CHAT) for _ in range(3)]
        assert [each.status_code for each in asked] == [200, 200, 403]
        assert "budget of tokens" in asked[-1].json()["error"]["message"]
        assert way.ledger.refused_for_s() > 0
    assert len(provider.seen) == 2


def test_an_expired_key_is_not_retried_and_its_text_is_ours(tmp_path: Path) -> None:
    said = f"Incorrect API key provided: {KEY}"
    with (
        ScriptedProvider(Script([], faults=[Fault(None, 401, 0, said)])) as provider,
        Way(tmp_path, provider, "openai") as way,
    ):
        answer = way.client.post("/chat/completions", json=CHAT)
        assert (answer.status_code, answer.headers["x-should-retry"]) == (401, "false")
        trouble = way.ledger.trouble()
        assert trouble is not None
        assert trouble.kind == "auth"
        assert KEY not in answer.text + trouble.detail + way.log_path.read_text()


def test_a_cut_stream_is_cut_for_the_client_too_and_counted_as_far_as_it_came(tmp_path: Path) -> None:
    with (
        ScriptedProvider(Script([], tokens=(100, 40, 10), faults=[Fault(None, 0)])) as provider,
        Way(tmp_path, provider, "anthropic") as way,
    ):
        with pytest.raises(httpx.RemoteProtocolError):
            way.client.post("/v1/messages", json=MESSAGES | {"stream": True})
        trouble = way.ledger.trouble()
        assert trouble is not None
        assert trouble.kind == "cut"
        assert way.ledger.spent().usage.input == 60
        assert way.client.post("/v1/messages", json=MESSAGES).status_code == 200
        assert way.ledger.trouble() is None


def test_a_whole_answer_that_breaks_off_is_no_answer(tmp_path: Path) -> None:
    with ScriptedProvider(Script([], faults=[Fault(None, 0)])) as provider, Way(tmp_path, provider, "openai") as way:
        with pytest.raises(httpx.RemoteProtocolError):
            way.client.post("/chat/completions", json=CHAT)
        trouble = way.ledger.trouble()
    assert trouble is not None
    assert trouble.kind == "cut"


def test_retry_after_is_passed_on(tmp_path: Path) -> None:
    fault = Fault(None, 429, headers={"retry-after": "3", "set-cookie": "x", "openai-organization": "org"})
    with ScriptedProvider(Script([], faults=[fault])) as provider, Way(tmp_path, provider, "openai") as way:
        answer = way.client.post("/chat/completions", json=CHAT)
    assert (answer.status_code, answer.headers["retry-after"], answer.headers["x-should-retry"]) == (429, "3", "true")
    assert {"set-cookie", "openai-organization"}.isdisjoint(answer.headers)


def test_a_provider_that_is_away_is_told_so(tmp_path: Path) -> None:
    provider = ScriptedProvider(Script([]))
    with provider:
        pass
    with Way(tmp_path, provider, "anthropic") as way:
        assert way.client.post("/v1/messages", json=MESSAGES).status_code == 502
        trouble = way.ledger.trouble()
    assert trouble is not None
    assert trouble.kind == "unreachable"


def test_a_client_that_leaves_pays_all_the_same(tmp_path: Path) -> None:
    slow = ScriptedProvider(Script([], final="word " * 60, tokens=(100, 40, 10)), pace_s=0.02)
    with slow, Way(tmp_path, slow, "openai") as way:
        with way.client.stream("POST", "/chat/completions", json=CHAT | {"stream": True}) as answer:
            next(answer.iter_raw())
        way.client.close()
        until(lambda: way.ledger.spent().usage.total == 110, "all that was said is counted")


def test_requests_that_wait_for_their_place_do_not_go_out_once_the_budget_is_used_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmark.gateway.provider_route.AT_ONCE", 2)
    slow = ScriptedProvider(Script([], final="word " * 20, tokens=(100, 40, 10)), pace_s=0.5)
    with slow, Way(tmp_path, slow, "openai", tokens_most=100) as way, ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(way.client.post, "/chat/completions", json=CHAT | {"stream": True}) for _ in range(8)]
        until(lambda: len(slow.seen) == 2, "both places are taken")
        time.sleep(0.2)  # for the others to be waiting by then
        slow.pace_s = 0.0
        told = sorted(each.result().status_code for each in asked)
    assert told == [200, 200, 403, 403, 403, 403, 403, 403]
    assert len(slow.seen) == 2


LONG = {"messages": [{"role": "user", "content": 'a "long" line\n' * 200_000}]}


def test_a_long_request_is_passed_on_whole_and_unchanged(tmp_path: Path, provider: ScriptedProvider) -> None:
    with Way(tmp_path, provider, "anthropic") as way:
        for body in (LONG | {"model": "small"}, {"model": "small", "stream": True} | LONG):
            assert way.client.post("/v1/messages", json=body).status_code == 200
    assert [each["model"] for each in provider.seen] == ["small", "small"]
    assert way.ledger.spent().usage.total == 220
    assert [each["bytes_in"] > 3_000_000 for each in way.log()] == [True, True]


@pytest.mark.parametrize(
    ("ending", "status"),
    [('"model":"teacher"}', 403), ('"model":"small","model":"small"}', 400), ('"model":"small"', 400)],
    ids=["another model", "twice", "no end"],
)
def test_the_end_of_a_long_request_that_is_refused_never_goes_out(
    tmp_path: Path, provider: ScriptedProvider, ending: str, status: int
) -> None:
    body = json.dumps(LONG)[:-1] + "," + ending
    with Way(tmp_path, provider, "anthropic") as way:
        answer = way.client.post("/v1/messages", content=body)
        assert (answer.status_code, answer.headers["x-should-retry"]) == (status, "false")
        assert way.client.post("/v1/messages", json=MESSAGES).status_code == 200
        assert [each["status"] for each in way.log()] == [status, 200]
    assert [each["model"] for each in provider.seen] == ["small"]
    assert provider.broken_off <= 1
    assert way.ledger.trouble() is None


def test_a_client_that_leaves_in_the_middle_of_its_request_is_no_trouble_of_the_provider(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    def cut() -> Iterator[bytes]:
        yield b'{"model":"small",' + b" " * 1_000_000
        raise InterruptedError

    with Way(tmp_path, provider, "anthropic") as way:
        with pytest.raises(InterruptedError):
            way.client.post("/v1/messages", content=cut(), headers={"content-length": "2000000"})
        assert way.client.post("/v1/messages", json=MESSAGES).status_code == 200
        assert way.ledger.trouble() is None
    assert len(provider.seen) == 1
