"""Win rates from preferences. A preference is within 0 and 1: 1, the model's output is better; ½, a draw."""

import math
from collections.abc import Sequence


def win_rate(preferences: Sequence[float]) -> float:
    """100 · mean."""
    return 100 * math.fsum(preferences) / len(preferences)


def discrete_win_rate(preferences: Sequence[float]) -> float:
    """100 · (wins + ½ draws) / n; a draw is a preference of exactly ½."""
    return win_rate([float(p > 0.5) if p != 0.5 else 0.5 for p in preferences])


def standard_error(values: Sequence[float]) -> float:
    """100 · sample standard deviation / √n, in points; 0 for a single value."""
    n = len(values)
    if n < 2:
        return 0.0
    mean = math.fsum(values) / n
    return 100 * math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1) / n)


def of_annotation(preference: float) -> float | None:
    """AlpacaEval's stored preferences are within 1 and 2, and 0 is a draw; None: the judgement could not be read."""
    if math.isnan(preference):
        return None
    return 0.5 if preference == 0 else preference - 1
