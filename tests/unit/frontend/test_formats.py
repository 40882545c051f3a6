import math

import pytest

from frontend import formats


def test_unscored_is_a_dash_and_zero_is_not() -> None:
    assert formats.score(None) == "—"
    assert formats.score(math.nan) == "—"
    assert formats.score(0.0) == "0.00"


@pytest.mark.parametrize(
    ("value", "text"), [(21.95, "+21.95"), (-23.18, "−23.18"), (0.0, "±0.00"), (-0.001, "±0.00"), (None, "")]
)
def test_a_gain_has_its_sign(value: float | None, text: str) -> None:
    assert formats.gain(value) == text


@pytest.mark.parametrize(
    ("improvement", "error", "level"),
    [
        (4.9, 1.0, "1"),
        (5.1, 1.0, "2"),
        (40.1, 1.0, "4"),
        (-15.1, 1.0, "-3"),
        (0.9, 1.0, ""),
        (0.0, None, ""),
        (None, 1, ""),
    ],
)
def test_heat_is_for_gains_beyond_the_noise(improvement: float | None, error: float | None, level: str) -> None:
    assert formats.heat(improvement, error) == level


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "—"), (0, "0:00"), (58.9, "0:58"), (6850, "1:54:10"), (-3, "0:00"), (43200, "12:00:00")],
)
def test_clock(seconds: float | None, text: str) -> None:
    assert formats.clock(seconds) == text


@pytest.mark.parametrize(("value", "text"), [(None, "—"), (950, "950"), (61_000, "61 k"), (18_400_000, "18.4 M")])
def test_count(value: int | None, text: str) -> None:
    assert formats.count(value) == text


@pytest.mark.parametrize(("seconds", "text"), [(4, "4 s"), (1080, "18 min"), (11520, "3.2 h"), (5 * 86400, "5 days")])
def test_length(seconds: float, text: str) -> None:
    assert formats.length(seconds) == text
