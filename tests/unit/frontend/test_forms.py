import pytest

from frontend.forms import budget_seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("10m", 600),
        ("10 minutes", 600),
        ("1h 30m", 5400),
        ("1h30m", 5400),
        ("1.5h", 5400),
        (" 2D ", 172800),
    ],
)
def test_times_are_read(text: str, seconds: int) -> None:
    assert budget_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "10", "h", "-5m", "10m!", "ten minutes", "1e9h", "m10", "5m and then"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time"):
        budget_seconds(text)
