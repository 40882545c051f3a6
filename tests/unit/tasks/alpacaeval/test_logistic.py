"""The regression against optimality conditions and closed forms."""

import math

import numpy as np
import pytest

from benchmark.tasks.alpacaeval.length_control import Annotation, fit_weights, rate_of, scaled_lengths
from benchmark.tasks.alpacaeval.logistic import fit, fit_cross_validated, sigmoid

RNG = np.random.default_rng(7)
X = RNG.normal(size=(400, 3))
TRUTH = np.array([1.5, -0.7, 0.0])
Y = sigmoid(X @ TRUTH)
WEIGHTS = RNG.uniform(0.1, 1.0, size=400)


@pytest.mark.parametrize("strength", [0.002, 0.05, 1.0, 1e4])
def test_the_fit_is_where_the_subgradient_holds_zero(strength: float) -> None:
    """Karush-Kuhn-Tucker: |C·gradient| is 1 and against the sign where w ≠ 0, and at most 1 where w = 0."""
    w = fit(X, Y, WEIGHTS, strength)
    slope = strength * X.T @ (WEIGHTS * (sigmoid(X @ w) - Y))
    for coefficient, against in zip(w, slope, strict=True):
        if coefficient == 0:
            assert abs(against) <= 1 + 1e-6
        else:
            assert against == pytest.approx(-math.copysign(1, coefficient), abs=1e-5)


def test_a_weak_penalty_finds_the_truth_and_a_strong_one_nothing() -> None:
    assert fit(X, Y, WEIGHTS, 1e6) == pytest.approx(TRUTH, abs=1e-4)
    assert list(fit(X, Y, WEIGHTS, 1e-6)) == [0, 0, 0]
    assert fit_cross_validated(X, Y, WEIGHTS) == pytest.approx(TRUTH, abs=1e-3)


def test_one_column_has_the_log_odds() -> None:
    y = np.array([1.0, 1.0, 0.0, 0.75])
    assert sigmoid(fit(np.ones((4, 1)), y, np.ones(4), 1e9))[0] == pytest.approx(y.mean(), abs=1e-6)


def test_separable_data_ends() -> None:
    assert np.isfinite(fit(np.array([[1.0], [-1.0]]), np.array([1.0, 0.0]), np.ones(2), 1e4)).all()


def test_equal_lengths_and_a_single_row_are_no_division_by_zero() -> None:
    same = [Annotation(0.5, 10, 10, 0.0), Annotation(1.0, 20, 20, 1.0)]
    assert list(scaled_lengths(same)) == [0, 0]
    assert list(scaled_lengths(same[:1])) == [0]
    rate = rate_of(fit_weights(same[:1], []), [0.0]).rate
    assert 0 <= rate <= 100


def test_lengths_are_scaled_by_the_sample_deviation() -> None:
    rows = [Annotation(0.5, 10, 4, 0.0), Annotation(0.5, 10, 6, 0.0)]
    assert list(scaled_lengths(rows)) == pytest.approx([6 / math.sqrt(2), 4 / math.sqrt(2)])
