"""Values of any shape as what they should be; None when they are something else."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta, timezone
from typing import Any

from bundles.format.jsonfile import tidy

STAMP = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T _](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s*(Z|z|UTC|[+-]\d\d:?\d\d)?$"
)
CLOCK_MOST = 1e8
NUMBER_MOST = 2**31 - 1
COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)[T_-](\d\d)(\d\d)(\d\d)")


def number(value: Any) -> float | None:
    """A finite number, or text that is one."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def whole(value: Any) -> int | None:
    found = number(value)
    return int(found) if found is not None and found == int(found) else None


def numbered(value: Any, place: int) -> int:
    """A submission's number as stated, its place from 1 on where that is no number of a submission."""
    stated = whole(value)
    return stated if stated is not None and 1 <= stated <= NUMBER_MOST else place


def word(value: Any, limit: int = 300) -> str:
    """Text that every store takes: without NUL and lone surrogates."""
    return tidy(value).strip()[:limit] if isinstance(value, str) else ""


def table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def rows(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def shallow(value: Any, depth: int = 3) -> Any:
    """`value` without what is nested more than `depth` deep: None stands there."""
    if isinstance(value, dict):
        return {name: shallow(item, depth - 1) for name, item in value.items()} if depth else None
    if isinstance(value, list):
        return [shallow(item, depth - 1) for item in value] if depth else None
    return value


def moment(value: Any) -> datetime | None:
    """A time in UTC from ISO text (no zone: UTC) or epoch seconds."""
    seconds = number(value) if not isinstance(value, str) else None
    try:
        if seconds is not None:
            return datetime.fromtimestamp(seconds / 1000 if seconds > 1e11 else seconds, timezone.utc)
        return _stamp(value.strip()) if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None


def _stamp(text: str) -> datetime | None:
    match = STAMP.match(text) or COMPACT.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, *rest = match.groups()
    fraction, zone = rest if rest else (None, None)
    micro = int((fraction or "0")[:6].ljust(6, "0"))
    found = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second or 0), micro, timezone.utc)
    if zone and zone[0] in "+-":
        sign = -1 if zone[0] == "-" else 1
        found -= sign * timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
    return found


def iso(moment: datetime | None) -> str | None:
    """`2026-03-10T12:35:00Z`, with microseconds where there are any."""
    if moment is None:
        return None
    return moment.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


def later(moment: datetime | None, seconds: float | None) -> datetime | None:
    """`moment` and so many seconds; None when one is unknown or the sum is no time."""
    if moment is None or seconds is None:
        return None
    try:
        return moment + timedelta(seconds=seconds)
    except OverflowError:
        return None


def clock_seconds(text: str) -> float | None:
    """`HH:MM:SS` in seconds."""
    match = re.match(r"\s*(\d{1,4}):(\d\d):(\d\d)\s*$", text)
    return int(match[1]) * 3600.0 + int(match[2]) * 60 + int(match[3]) if match else None


def clock(seconds: float | None) -> str:
    """Seconds as `H:MM:SS`, `—` when unknown."""
    if seconds is None:
        return "—"
    if abs(seconds) > CLOCK_MOST:
        return f"{seconds:.3g} s"
    whole_s = int(abs(seconds))
    return f"{'−' if seconds < 0 else ''}{whole_s // 3600}:{whole_s % 3600 // 60:02}:{whole_s % 60:02}"
