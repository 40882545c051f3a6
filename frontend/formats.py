"""Numbers and times as the pages print them. `None` is always a dash: not scored is not zero."""

import math
from datetime import datetime

from django.utils import timezone

DASH = "—"
HEAT_STEPS = (5.0, 15.0, 40.0)
"""Up to 5, 15, 40 and more points."""


def score(value: float | None) -> str:
    """Two decimals, or a dash."""
    return DASH if value is None or not math.isfinite(value) else f"{value:.2f}"


def gain(value: float | None) -> str:
    """Two decimals with a sign and a true minus, or nothing."""
    if value is None or not math.isfinite(value):
        return ""
    rounded = round(value, 2)
    if rounded == 0:
        return "±0.00"
    return f"{'+' if rounded > 0 else '−'}{abs(rounded):.2f}"


def direction(value: float | None) -> str:
    """The class that colours a gain: `up`, `down` or none."""
    if value is None or round(value, 2) == 0:
        return ""
    return "up" if value > 0 else "down"


def within_noise(improvement: float | None, standard_error: float | None) -> bool:
    """Whether a gain is smaller than its score's standard error: then it gets ≈ and no colour."""
    return improvement is not None and standard_error is not None and abs(improvement) < standard_error


def heat(improvement: float | None, standard_error: float | None = None) -> str:
    """-4..4 for `data-heat`, empty for no colour."""
    if improvement is None or not direction(improvement) or within_noise(improvement, standard_error):
        return ""
    level = 1 + sum(abs(improvement) > step for step in HEAT_STEPS)
    return str(level if improvement > 0 else -level)


def clock(seconds: float | None) -> str:
    """`0:58` below an hour (minutes and seconds), `1:54:10` above."""
    if seconds is None:
        return DASH
    whole = max(0, int(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def ago(moment: datetime | None) -> str:
    """How long ago, in the largest unit that fits."""
    return DASH if moment is None else length((timezone.now() - moment).total_seconds())


def length(seconds: float) -> str:
    """`4 s`, `18 min`, `3.2 h`, `5 days`."""
    whole = max(0.0, seconds)
    if whole < 90:
        return f"{whole:.0f} s"
    if whole < 90 * 60:
        return f"{whole / 60:.0f} min"
    if whole < 48 * 3600:
        return f"{whole / 3600:.1f} h"
    return f"{whole / 86400:.0f} days"


def hours(value: float | None) -> str:
    """`36`, `2.1`, `0.17` hours, or a dash."""
    if value is None or not math.isfinite(value):
        return DASH
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def count(value: int | None) -> str:
    """`18.4 M`, `61 k`, `950`, or a dash."""
    if value is None:
        return DASH
    if value >= 1_000_000:
        return f"{value / 1_000_000:.1f} M"
    return f"{value / 1000:.0f} k" if value >= 10_000 else f"{value:,}"


def plural(number: int, noun: str) -> str:
    """`1 submission`, `3 submissions`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
