"""Length-controlled win rate: the win rate if the model's outputs were as long as the baseline's.

Dubois et al. 2024, "Length-Controlled AlpacaEval". For each instruction x

    P(model wins) = σ( θ + φ·tanh(Δlen / sd(Δlen)) + ψ·γₓ ),   Δlen = baseline's characters − model's characters,

with γₓ the instruction's difficulty. Two sets of judgements of the baseline that was told to be brief or verbose (no
θ for them: it is the same model) hold φ and ψ, which resists gaming the length. Then

    LC = 100 · mean over x of σ(θ + ψ·γₓ).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .logistic import Array, fit_cross_validated, sigmoid
from .rates import standard_error

GAMED_WEIGHT = 0.2 / 2
"""λ = 0.2, shared by the two sets."""


@dataclass(frozen=True)
class Annotation:
    """One judged instruction. `preference` is within 0 and 1, lengths are in characters."""

    preference: float
    baseline_length: int
    length: int
    difficulty: float


@dataclass(frozen=True)
class Gamed:
    """One judged instruction of the brief or verbose baseline; `scaled_length` is Δlen / sd(Δlen) of its set."""

    preference: float
    scaled_length: float
    difficulty: float


@dataclass(frozen=True)
class Weights:
    """φ, ψ and θ."""

    length: float
    difficulty: float
    model: float


@dataclass(frozen=True)
class LengthControlled:
    """The rate in 0..100, its standard error in points, and what was fitted."""

    rate: float
    standard_error: float
    weights: Weights


def scaled_lengths(annotations: Sequence[Annotation]) -> Array:
    """Δlen / sd(Δlen), with the sample standard deviation; zeros where all differences are the same."""
    difference = np.array([float(a.baseline_length - a.length) for a in annotations])
    deviation = float(difference.std(ddof=1)) if len(difference) > 1 else 0.0
    return difference / deviation if deviation > 0 else np.zeros_like(difference)


def fit_weights(annotations: Sequence[Annotation], gamed: Sequence[Gamed]) -> Weights:
    """The GLM's coefficients; its features are tanh of the scaled length, the difficulty, and 1 for the model."""
    own = scaled_lengths(annotations)
    length = np.tanh(np.concatenate([[g.scaled_length for g in gamed], own]))
    difficulty = np.array([*(g.difficulty for g in gamed), *(a.difficulty for a in annotations)])
    is_model = np.repeat([0.0, 1.0], [len(gamed), len(annotations)])
    preference = np.array([*(g.preference for g in gamed), *(a.preference for a in annotations)])
    weights = np.where(is_model == 1, 1.0, GAMED_WEIGHT)
    found = fit_cross_validated(np.column_stack([length, difficulty, is_model]), preference, weights)
    return Weights(*map(float, found))


def rate_of(weights: Weights, difficulties: Sequence[float]) -> LengthControlled:
    """What given weights predict at equal lengths; standard error: that of the mean prediction."""
    predicted = sigmoid(weights.model + weights.difficulty * np.array(difficulties))
    values = [float(p) for p in predicted]
    return LengthControlled(100 * math.fsum(values) / len(values), standard_error(values), weights)


def length_controlled(annotations: Sequence[Annotation], gamed: Sequence[Gamed]) -> LengthControlled:
    """Fit and predict."""
    return rate_of(fit_weights(annotations, gamed), [a.difficulty for a in annotations])
