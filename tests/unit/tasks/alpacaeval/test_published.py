"""The formulas against what AlpacaEval published: 30 models' stored judgements and 200 models' weights."""

import statistics

import pytest

from benchmark.tasks.alpacaeval.length_control import Gamed, length_controlled, rate_of
from benchmark.tasks.alpacaeval.rates import discrete_win_rate, standard_error, win_rate
from tests.unit.tasks.alpacaeval.published import Published

EXAMPLES = {"NullModel": (76.9198, 86.4578), "gpt4_gamed": (3.7383, 12.1888), "alpaca-7b": (2.591, 5.875)}


def test_win_rates_and_numbers_of_judgements(published: Published) -> None:
    assert len(published.annotations) == 30
    for model, rows in published.annotations.items():
        told, preferences = published.board[model], [row.preference for row in rows]
        assert len(rows) == int(told["n_total"]), model
        assert win_rate(preferences) == pytest.approx(float(told["win_rate"]), abs=1e-6), model
        assert standard_error(preferences) == pytest.approx(float(told["standard_error"]), abs=1e-6), model
        assert discrete_win_rate(preferences) == pytest.approx(float(told["discrete_win_rate"]), abs=1e-6), model


def test_length_controlled_rates_from_the_published_weights(published: Published) -> None:
    off = {
        model: abs(rate_of(weights, published.difficulties).rate - float(told["length_controlled_winrate"]))
        for model, weights in published.weights.items()
        if (told := published.board.get(model)) and told["length_controlled_winrate"]
    }
    assert len(off) == 199
    assert max(off.values()) < 0.36
    assert statistics.fmean(off.values()) < 0.09
    assert off.keys() >= published.annotations.keys()


def test_length_controlled_rates_from_a_fit(published: Published) -> None:
    """With stand-ins for the constants: close, in the same order, and flattery by length does not pay."""
    fitted = {model: length_controlled(rows, published.gamed).rate for model, rows in published.annotations.items()}
    told = {model: float(published.board[model]["length_controlled_winrate"]) for model in fitted}
    off = [abs(fitted[model] - told[model]) for model in fitted]
    assert statistics.fmean(off) < 1.1
    assert max(off) < 2.8
    ranks = [
        {model: rank for rank, model in enumerate(sorted(rates, key=rates.__getitem__))} for rates in (fitted, told)
    ]
    assert statistics.correlation(*([float(rank[model]) for model in fitted] for rank in ranks)) > 0.98


@pytest.mark.parametrize("model", EXAMPLES)
def test_examples(published: Published, model: str) -> None:
    raw, controlled = EXAMPLES[model]
    assert win_rate([row.preference for row in published.annotations[model]]) == pytest.approx(raw, abs=5e-4)
    assert float(published.board[model]["length_controlled_winrate"]) == pytest.approx(controlled, abs=5e-4)
    assert rate_of(published.weights[model], published.difficulties).rate == pytest.approx(controlled, abs=0.4)


def test_the_regulariser_resists_gaming_by_length(published: Published) -> None:
    """Without judgements of the brief and verbose baseline, a briefer copy of it would win far more."""
    rows = published.annotations["gpt4_gamed"]
    nothing: list[Gamed] = []
    assert length_controlled(rows, published.gamed).rate < 15
    assert length_controlled(rows, nothing).rate > 25


def test_the_baseline_against_itself_has_a_half(published: Published) -> None:
    assert rate_of(published.weights["gpt4_1106_preview"], published.difficulties).rate == 50


def test_the_null_model_is_one_output_for_everything(published: Published) -> None:
    assert {row.length for row in published.annotations["NullModel"]} == {872}
