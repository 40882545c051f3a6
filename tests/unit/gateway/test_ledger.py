"""Accounts and prices."""

import json
from pathlib import Path

import pytest

from benchmark.gateway.ledger import TOO_LONG_MOST, Ledger
from benchmark.gateway.prices import BadPrices, Price, price_of, prices_read
from benchmark.gateway.trouble import kind_of
from benchmark.gateway.usage import Usage

PRICES = {"small": Price(1, 5, 0.1, 1.25), "small-20": Price(9, 9, 9, 9)}


def test_a_cost_adds_up_by_kind() -> None:
    assert PRICES["small"].cost(Usage(1_000_000, 2_000_000, 400_000, 100_000)) == pytest.approx(1 + 0.2 + 0.5 + 0.5)


def test_a_dated_model_has_its_name_s_price_and_another_one_has_none() -> None:
    assert price_of("small-20251101", {"small": PRICES["small"]}) == PRICES["small"]
    assert price_of("smaller", PRICES) is None
    assert price_of("small-mini", PRICES) is None


def test_a_model_without_a_price_makes_the_cost_unknown_and_uses_up_a_budget_of_money() -> None:
    ledger = Ledger(PRICES, usd_most=5.0)
    ledger.answered("small", Usage(10, 0, 0, 10))
    assert ledger.used_up() == ""
    ledger.answered("other", Usage(10, 0, 0, 10))
    assert ledger.spent().cost_usd is None
    assert ledger.used_up() == "money"


def test_budgets_end_where_they_are_reached() -> None:
    ledger = Ledger(PRICES, tokens_most=100)
    ledger.answered("small", Usage(60, 0, 0, 39))
    assert ledger.used_up() == ""
    ledger.failed("cut", "broke off", model="small", usage=Usage(1, 0, 0, 0))
    assert ledger.used_up() == "tokens"
    assert (ledger.spent().requests, ledger.spent().failures) == (2, 1)


def test_trouble_lasts_until_an_answer_comes() -> None:
    ledger = Ledger({})
    ledger.failed("error", "HTTP 500")
    first = ledger.trouble()
    ledger.failed("rate_limited", "HTTP 429")
    second = ledger.trouble()
    assert first is not None
    assert second is not None
    assert (second.kind, second.times, second.since) == ("rate_limited", 2, first.since)
    ledger.answered("small", None)
    assert ledger.trouble() is None


def test_an_agent_whose_shortened_conversations_are_too_long_again_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000.0]
    monkeypatch.setattr("benchmark.gateway.ledger.time.monotonic", lambda: clock[0])
    ledger = Ledger({})

    def overflow(times: int, apart_s: float) -> None:
        for _ in range(times):
            clock[0] += apart_s
            ledger.failed("context", "HTTP 400")
            ledger.answered("small", None)

    overflow(TOO_LONG_MOST + 10, 120)
    assert not ledger.always_too_long(), "one every two minutes is a long run"
    clock[0] += 3600
    overflow(TOO_LONG_MOST - 1, 20)
    assert not ledger.always_too_long()
    overflow(1, 20)
    assert ledger.always_too_long()
    assert ledger.trouble() is None


def test_the_log_has_a_line_for_each_request(tmp_path: Path) -> None:
    ledger = Ledger({}, log_path=tmp_path / "log.jsonl")
    ledger.write(path="/v1/messages\n", status=200)
    assert (tmp_path / "log.jsonl").read_text().count("\n") == 1


def test_the_log_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmark.gateway.ledger.LOG_BYTES_MOST", 5000)
    path = tmp_path / "log.jsonl"
    ledger = Ledger({}, log_path=path)
    ledger.write(model="m" * 1_000_000)
    for _ in range(50):
        ledger.write(path="/v1/messages", status=200)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert path.stat().st_size < 5200
    assert lines[0]["model"] == "m" * 2000
    assert ["full" in line.get("error", "") for line in lines] == [False] * (len(lines) - 1) + [True]


def test_shipped_prices_are_read_and_an_operator_s_come_over_them(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("claude-opus-4-6: {input: 1, output: 2}\nmine: {input: 3, output: 4, cached: 0.5}\n")
    prices = prices_read(own)
    assert prices["claude-opus-4-6"] == Price(1, 2, 1, 1)
    assert prices["mine"].cached == 0.5
    assert prices_read()["claude-opus-4-6"].output == 25


@pytest.mark.parametrize("text", ["- a\n", "m: 3\n", "m: {input: x, output: 1}\n", "m: {input: 1}\n", "{{"])
def test_odd_prices_are_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(text)
    with pytest.raises(BadPrices, match=r"p\.yaml"):
        prices_read(path)


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (401, "invalid x-api-key", "auth"),
        (403, "forbidden", "auth"),
        (429, "rate limit", "rate_limited"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", "context"),
        (400, "This model's maximum context length is 128000 tokens", "context"),
        (400, "The input token count (1200000) exceeds the maximum number of tokens allowed", "context"),
        (400, "input length and `max_tokens` exceed context limit: 199000 + 21333 > 200000", "context"),
        (400, "The prompt (length 5000) is longer than the maximum model length of 4096", "context"),
        (400, "messages: field required", "refused"),
        (404, "no such model", "refused"),
        (500, "oops", "error"),
        (529, "Overloaded", "error"),
        (408, "time-out", "error"),
    ],
)
def test_what_a_refusal_means(status: int, text: str, kind: str) -> None:
    assert kind_of(status, text) == kind


def test_shipped_prices_know_the_agents_drivers_and_none_is_free() -> None:
    shipped = prices_read()
    drivers = ("claude-opus-4-6", "claude-haiku-4-5-20251001", "gpt-5", "gpt-5.5", "gemini-2.5-pro")
    assert all(price_of(driver, shipped) for driver in drivers)
    assert all(min(price.input, price.output, price.cached, price.written) > 0 for price in shipped.values())
    assert price_of("gpt-5.5-of-somebody", shipped) is None


def test_a_long_request_has_its_own_price(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(
        "m: {input: 1, output: 10, cached: 0.1, long: {above: 200000, input: 2, output: 15, cached: 0.2}}\n"
    )
    price = prices_read(path)["m"]
    assert price.cost(Usage(input=100_000, cached=100_000, output=1_000_000)) == pytest.approx(0.1 + 0.01 + 10)
    assert price.cost(Usage(input=100_001, cached=100_000, output=0)) == pytest.approx(0.200002 + 0.02)
    path = tmp_path / "bad.yaml"
    path.write_text("m: {input: 1, output: 10, long: {above: 5}}\n")
    with pytest.raises(BadPrices, match="m needs `input` and `output`"):
        prices_read(path)
