import itertools
import math
import random
import statistics as plain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.statistics import (
    bootstrap,
    decoding_error,
    noise_of_mean,
    run_deviation,
)

SCORES = st.lists(st.floats(0, 100), min_size=2, max_size=30)


@pytest.mark.parametrize("values", [[], [50.0], [50.0, math.nan], [math.inf]])
def test_a_single_run_never_gets_an_interval(values: list[float]) -> None:
    assert bootstrap(values) is None
    assert run_deviation(values) is None


def test_two_runs_give_the_lower_and_the_higher() -> None:
    found = bootstrap([40.0, 60.0])
    assert found is not None
    assert (found.low, found.high, found.n) == (40.0, 60.0, 2)


def test_the_interval_equals_the_exact_bootstrap_of_few_runs() -> None:
    values = [10.0, 20.0, 25.0, 60.0, 30.0]
    means = sorted(sum(draw) / 5 for draw in itertools.product(values, repeat=5))
    low, high = means[int(0.025 * len(means))], means[int(0.975 * len(means))]
    found = bootstrap(values)
    assert found is not None
    assert [found.low, found.high] == pytest.approx([low, high], abs=1.0)


@given(SCORES)
def test_an_interval_lies_within_the_runs_and_does_not_depend_on_their_order(values: list[float]) -> None:
    found = bootstrap(values)
    assert found is not None
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9
    assert bootstrap(list(reversed(values))) == found


def test_it_covers_the_mean_about_as_often_as_it_says() -> None:
    """Percentile bootstrap of 20 runs: somewhat below 95 %, never far below."""
    chance = random.Random(7)
    hits = 0
    for _ in range(400):
        found = bootstrap([chance.gauss(50, 8) for _ in range(20)])
        hits += found is not None and found.low <= 50 <= found.high
    assert 0.88 <= hits / 400 <= 0.98


def test_many_runs_agree_with_the_normal_interval() -> None:
    chance = random.Random(3)
    values = [chance.gauss(50, 8) for _ in range(400)]
    found, error = bootstrap(values), plain.stdev(values) / 20
    assert found is not None
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.08)


def test_the_two_noises_are_told_apart() -> None:
    assert run_deviation([40.0, 50.0, 60.0]) == pytest.approx(10.0)
    assert decoding_error([3.0, 4.0]) == pytest.approx(2.5)
    assert decoding_error([3.0, None]) is None
    assert noise_of_mean([50.0], 2.0) == 2.0
    assert noise_of_mean([40.0, 50.0, 60.0], 2.0) == pytest.approx(10 / math.sqrt(3))
    assert noise_of_mean([50.0, 50.1], 2.0) == 2.0
    assert noise_of_mean([50.0], None) is None
