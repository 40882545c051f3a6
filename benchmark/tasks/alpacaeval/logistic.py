"""Logistic regression with an L1 penalty, for targets that are probabilities.

The objective is LIBLINEAR's (Fan et al. 2008, L1-regularised logistic regression) without an intercept:

    ‖w‖₁ + C · Σᵢ sᵢ · [ yᵢ·log(1 + e^(−xᵢw)) + (1 − yᵢ)·log(1 + e^(xᵢw)) ]

It is convex and has three coefficients here, so cyclic coordinate descent on its quadratic approximation (Friedman,
Hastie and Tibshirani 2010, section 3) finds the minimum itself, where LIBLINEAR stops at a tolerance.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STRENGTHS = tuple(10.0 ** (-4 + 8 * k / 9) for k in range(10))
"""Values of C tried in cross-validation: ten from 1e-4 to 1e4, as scikit-learn's LogisticRegressionCV does."""
FOLDS = 5
NEWTON_STEPS, SWEEPS, TOLERANCE = 100, 200, 1e-10
SMALLEST_CURVATURE = 1e-10


def sigmoid(z: Array) -> Array:
    share: Array = np.exp(-np.logaddexp(0.0, -z))
    return share


def log_loss(z: Array, y: Array) -> Array:
    """Of each row, for logits `z` and probabilities `y`."""
    loss: Array = y * np.logaddexp(0.0, -z) + (1 - y) * np.logaddexp(0.0, z)
    return loss


def fit(x: Array, y: Array, weights: Array, strength: float, start: Array | None = None) -> Array:
    """Coefficients (k,) for features `x` (n, k), probabilities `y` (n,) and weights (n,)."""
    w = np.zeros(x.shape[1]) if start is None else start.copy()

    def objective(at: Array) -> float:
        return float(np.abs(at).sum() + strength * (weights * log_loss(x @ at, y)).sum())

    value = objective(w)
    for _ in range(NEWTON_STEPS):
        p = sigmoid(x @ w)
        gradient = strength * x.T @ (weights * (p - y))
        curvature = strength * (x.T * (weights * p * (1 - p))) @ x
        step = _lasso_step(w, gradient, curvature)
        # Halved until it does not make things worse: far from the minimum the approximation may overshoot.
        share = 1.0
        while (tried := objective(w + share * step)) > value and share > TOLERANCE:
            share /= 2
        done = share <= TOLERANCE or np.abs(step).max() < TOLERANCE
        if share > TOLERANCE:
            w, value = w + share * step, tried
        if done:
            break
    return w


def _lasso_step(w: Array, gradient: Array, curvature: Array) -> Array:
    """The step that minimises the penalty and the quadratic approximation at `w`, one coordinate after the other."""
    step = np.zeros_like(w)
    for _ in range(SWEEPS):
        largest = 0.0
        for k in range(len(w)):
            h = max(float(curvature[k, k]), SMALLEST_CURVATURE)
            free = w[k] + step[k] - float(gradient[k] + curvature[k] @ step) / h
            moved = float(np.sign(free)) * max(abs(float(free)) - 1 / h, 0.0) - w[k] - step[k]
            step[k] += moved
            largest = max(largest, abs(moved))
        if largest < TOLERANCE / 10:
            break
    return step


def fit_cross_validated(x: Array, y: Array, weights: Array, strengths: Sequence[float] = STRENGTHS) -> Array:
    """The fit to all rows with the C whose mean weighted log loss on five held-out folds is smallest.

    Row i lies in fold i mod 5. Of equal losses the smaller C is taken.
    """
    fold = np.arange(len(y)) % FOLDS
    losses = np.zeros(len(strengths))
    for held in range(min(FOLDS, len(y))):
        out = fold == held
        w: Array | None = None
        for k, strength in enumerate(strengths):
            w = fit(x[~out], y[~out], weights[~out], strength, w)
            losses[k] += float(np.mean(weights[out] * log_loss(x[out] @ w, y[out])))
    return fit(x, y, weights, strengths[int(np.argmin(losses))])
