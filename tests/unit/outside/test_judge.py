"""The judge's route over a real socket, against a real HTTP server that misbehaves in every way."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from benchmark.tasks.services_contract import ServiceFault
from tests.support.judge import (
    KEY,
    Reply,
    ScriptedJudge,
    completion,
    dawdles,
    hangs_up,
    in_turn,
    refuses,
    says,
)
from tests.support.waiting import together
from tests.unit.outside.conftest import Ask


def asked(text: str, **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}], "max_tokens": 4, **more}


def content(answer: Any) -> str:
    return str(answer["choices"][0]["message"]["content"])


def test_the_judge_answers_under_the_configured_model_and_key(asking: Ask) -> None:
    with ScriptedJudge(says("A")) as scripted:
        _, services = asking(scripted)
        assert content(services.chat(asked("which?", model="another"))) == "A"
    [request] = scripted.requests
    assert request["model"] == scripted.model
    assert request["messages"] == [{"role": "user", "content": "which?"}]


def test_the_same_request_is_answered_from_the_store(asking: Ask) -> None:
    with ScriptedJudge(in_turn([says("A")], says("B"))) as scripted:
        judge, services = asking(scripted, price_in=2.0, price_out=10.0)
        request = asked("which?")
        assert content(services.chat(request)) == content(services.chat(dict(reversed(request.items())))) == "A"
        other, services = asking(scripted)
        assert content(services.chat(request)) == "A"
    assert len(scripted.requests) == 1
    assert judge.metrics() == {
        "judge_calls": 1,
        "judge_cache_hits": 1,
        "judge_retries": 0,
        "judge_tokens_in": 100,
        "judge_tokens_out": 1,
        "judge_cost": (100 * 2.0 + 1 * 10.0) / 1e6,
    }
    assert other.metrics()["judge_cost"] is None


def test_a_fresh_answer_replaces_the_stored_one(asking: Ask) -> None:
    with ScriptedJudge(in_turn([says("what?")], says("B"))) as scripted:
        _, services = asking(scripted)
        assert content(services.chat(asked("which?"))) == "what?"
        assert content(services.chat(asked("which?"), fresh=True)) == "B"
        assert content(services.chat(asked("which?"))) == "B"
    assert len(scripted.requests) == 2


def test_another_model_or_parameter_is_another_question(asking: Ask) -> None:
    with ScriptedJudge(says("A")) as scripted:
        for changes in ({}, {"model": "second"}, {"parameters": {"max_tokens": None, "max_completion_tokens": 9}}):
            asking(scripted, **changes)[1].chat(asked("which?"))
    assert len(scripted.requests) == 3
    assert "max_tokens" not in scripted.requests[2]
    assert scripted.requests[2]["max_completion_tokens"] == 9


@pytest.mark.parametrize(
    "trouble",
    [
        refuses(429, Retry_After="0"),
        refuses(500),
        refuses(503, "overloaded"),
        hangs_up(),
        lambda _: Reply(b"<html>gateway</html>"),
        lambda _: Reply({"error": {"message": "told with status 200"}}),
    ],
)
def test_what_passes_is_repeated(asking: Ask, trouble: Any) -> None:
    with ScriptedJudge(in_turn([trouble, trouble], says("A"))) as scripted:
        judge, services = asking(scripted)
        assert content(services.chat(asked("which?"))) == "A"
    assert len(scripted.requests) == 3
    assert (judge.counts.calls, judge.counts.retries) == (1, 2)


def test_retry_after_is_honoured(asking: Ask) -> None:
    with ScriptedJudge(in_turn([refuses(429, Retry_After="1.2")], says("A"))) as scripted:
        _, services = asking(scripted)
        began = time.monotonic()
        services.chat(asked("which?"))
    assert time.monotonic() - began >= 1.2


@pytest.mark.parametrize(
    "trouble",
    [
        refuses(429),
        refuses(429, Retry_After="3600"),
        refuses(500),
        hangs_up(),
        dawdles(0.8, says("A")),
        lambda _: Reply(b"nonsense"),
        lambda _: Reply({"choices": []}),
    ],
)
def test_what_does_not_pass_is_a_fault_once_patience_is_spent(asking: Ask, trouble: Any) -> None:
    with ScriptedJudge(trouble) as scripted:
        judge, services = asking(scripted, patience_s=1.0, timeout_s=0.4)
        began = time.monotonic()
        with pytest.raises(ServiceFault, match="The judge"):
            services.chat(asked("which?"))
        assert time.monotonic() - began < 60  # patience is a second; the rest is for a busy machine
    assert judge.counts.calls == 0
    assert len(scripted.requests) >= 1


def test_a_judge_that_is_down_is_a_fault(asking: Ask) -> None:
    with ScriptedJudge(says("A")) as scripted:
        pass
    _, services = asking(scripted, patience_s=0.5)
    with pytest.raises(ServiceFault, match="cannot be reached"):
        services.chat(asked("which?"))


def test_a_refusal_is_told_at_once_with_the_settings_and_without_the_key(asking: Ask) -> None:
    with ScriptedJudge(refuses(400, f"'max_tokens' is not supported; your key is {KEY}")) as scripted:
        _, services = asking(scripted)
        with pytest.raises(ServiceFault, match=r"max_tokens.*AGENT2_JUDGE_PARAMETERS") as told:
            services.chat(asked("which?"))
        assert len(scripted.requests) == 1
    assert KEY not in str(told.value)
    assert "•••" in str(told.value)


def test_a_wrong_key_is_told_with_the_setting(asking: Ask) -> None:
    with ScriptedJudge(says("A")) as scripted:
        _, services = asking(scripted, key="sk-wrong")
        with pytest.raises(ServiceFault, match=r"401.*AGENT2_JUDGE_KEY"):
            services.chat(asked("which?"))


def test_no_more_requests_at_once_than_allowed(asking: Ask) -> None:
    with ScriptedJudge(together(3, says("A"))) as scripted:
        _, services = asking(scripted, concurrency=3)
        with ThreadPoolExecutor(12) as threads:
            list(threads.map(lambda n: services.chat(asked(f"question {n}")), range(24)))
    assert len(scripted.requests) == 24
    assert scripted.most_at_once == 3


def test_a_request_without_messages_is_refused(asking: Ask) -> None:
    with ScriptedJudge(says("A")) as scripted:
        _, services = asking(scripted)
        with pytest.raises(ServiceFault, match="messages"):
            services.chat({"prompt": "which?"})
    assert scripted.requests == []


def test_only_the_judge_is_reached(asking: Ask) -> None:
    with ScriptedJudge(says("A")) as scripted:
        _, services = asking(scripted)
        with pytest.raises(ServiceFault, match="cannot be reached from inside"):
            services.search("anything", count=3)


def test_a_completion_with_probabilities_arrives_whole(asking: Ask) -> None:
    with ScriptedJudge(lambda _: completion("A", probabilities={"A": 0.9, "B": 0.1})) as scripted:
        answer = asking(scripted)[1].chat(asked("which?"))
    assert [top["token"] for top in answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"]] == ["A", "B"]
