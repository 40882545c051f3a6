"""Numbers in addresses."""

LARGEST = 2**53
"""Whole numbers below it are the same in every browser and fit every database."""


def whole_number(text: str | None) -> int | None:
    """0 or more in plain digits; None for all else: other scripts' digits, and digits without end."""
    if not text or len(text) > 16 or not (text.isascii() and text.isdigit()):
        return None
    number = int(text)
    return number if number < LARGEST else None
