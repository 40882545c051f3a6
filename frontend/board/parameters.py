"""The parameters of an address: their names, their values, and what is wrong with one."""

import re
from collections.abc import Mapping
from datetime import date

from benchmark.models import Mode, Origin, Trust
from frontend.bad_query import BadQuery
from frontend.board.known_tasks import LEVELS

COLUMNS = ("both", "score", "gain")
HIDEABLE = ("mode", "mean", "runs", "origin")
VERIFIED = (Trust.CHECKED, Trust.REVIEWED, Trust.REGRADED)
"""What is asked for as a minimum, the least first. What was graded here always fits, a flagged run never."""
CHOICES: Mapping[str, tuple[str, ...]] = {
    "level": LEVELS,
    "mode": tuple(Mode.values),
    "origin": tuple(Origin.values),
    "trust": tuple(map(str, VERIFIED)),
    "cols": COLUMNS,
    "hide": HIDEABLE,
}
MANY = ("level", "task", "agent", "driver", "mode", "base", "origin", "budget", "protocol", "hide")
ONE = ("q", "trust", "since", "until", "sort", "cols")
PARAMETERS = {**{name: name for name in (*MANY, *ONE)}, "since": "from", "until": "to"}
"""Each field's name in the address."""
TEXT_MOST, VALUES_MOST, PARAMETERS_MOST, WORDS_MOST = 200, 20, 60, 8
BUDGET = re.compile(r"([0-9]{1,7})(s|m|h)")
SECONDS = {"s": 1, "m": 60, "h": 3600}
UNIT_WORDS = {"s": "s", "m": "min", "h": "h"}
SORT = re.compile(r"-?[A-Za-z0-9_.-]{1,64}")
LAST_YEAR = 9000


def seconds(budget: str) -> int:
    """Of a budget such as `12h`. Raises: ValueError."""
    match = BUDGET.fullmatch(budget)
    if not match:
        raise ValueError(budget)
    return int(match[1]) * SECONDS[match[2]]


def budget_text(budget_s: int) -> str:
    """`12h`, `7m`, `90s`: the largest unit that divides it."""
    unit = next(unit for unit in ("h", "m", "s") if budget_s % SECONDS[unit] == 0)
    return f"{budget_s // SECONDS[unit]}{unit}"


def budget_words(budget_s: int) -> str:
    """`12 h`, `7 min`, `90 s`."""
    text = budget_text(budget_s)
    return f"{text[:-1]} {UNIT_WORDS[text[-1]]}"


def field_read(field: str, values: list[str]) -> object:
    """One field of Filters from its texts, at least one and none empty. Raises: BadQuery."""
    name, most = PARAMETERS[field], VALUES_MOST if field in MANY else 1
    if len(values) > most:
        raise BadQuery(name, f"is given {len(values)} times; at most {most} fit.")
    for value in values:
        if wrong := _wrong(field, value):
            raise BadQuery(name, f"cannot be {shown(value)!r}: {wrong}.")
    if field in {"since", "until"}:
        return date.fromisoformat(values[0])
    return tuple(dict.fromkeys(values)) if field in MANY else values[0]


def shown(text: str) -> str:
    """A stranger's text, cut for a message."""
    return text[:40] + ("…" if len(text) > 40 else "")


def _wrong(field: str, value: str) -> str:
    """What is wrong with a value; empty: nothing."""
    if len(value) > TEXT_MOST or not value.isprintable():
        return f"at most {TEXT_MOST} printable characters fit"
    if field in CHOICES and value not in CHOICES[field]:
        return f"it is one of {', '.join(CHOICES[field])}"
    if field == "q" and len(value.split()) > WORDS_MOST:
        return f"at most {WORDS_MOST} words are searched"
    if field == "budget" and (not BUDGET.fullmatch(value) or seconds(value) >= 2**31):
        return "write 12h, 30m or 90s"
    if field == "sort" and not SORT.fullmatch(value):
        return "write a column's key, such as -mean or gsm8k"
    return _wrong_day(value) if field in {"since", "until"} else ""


def _wrong_day(text: str) -> str:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    return "" if day and 1970 <= day.year <= LAST_YEAR else "write a day such as 2026-04-12"
